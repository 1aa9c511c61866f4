use strsim::damerau_levenshtein;

/// What belongs to the name that was probably meant: the one with the fewest letters to change, if those are at most a third
/// of `wanted`, whatever their case.
pub fn nearest<'n, T>(wanted: &str, names: impl IntoIterator<Item = (&'n str, T)>) -> Option<T> {
    let wanted = wanted.to_lowercase();
    let length = wanted.chars().count();
    let allowed = (length / 3).max(1);
    let edits = |name: &str| {
        let name = name.to_lowercase();
        let near = name.chars().count().abs_diff(length) <= allowed;
        near.then(|| damerau_levenshtein(&wanted, &name)).filter(|edits| *edits <= allowed)
    };
    let found = names.into_iter().filter_map(|(name, of)| Some((edits(name)?, of)));
    found.min_by_key(|(edits, _)| *edits).map(|(_, of)| of)
}

/// The name that was probably meant.
pub fn nearest_name<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest(wanted, names.into_iter().map(|name| (name, name)))
}

#[cfg(test)]
mod tests {
    use super::nearest_name;

    #[test]
    fn a_name_is_near_with_a_third_of_its_letters() {
        let names = ["name", "instructions", "max_tokens", "top_p"];
        for (wanted, expect) in [
            ("instrctions", Some("instructions")),
            ("Instructoins", Some("instructions")),
            ("max_token", Some("max_tokens")),
            ("nmae", Some("name")),
            ("colour", None),
            ("", None),
            ("top_k", Some("top_p")),
        ] {
            assert_eq!(nearest_name(wanted, names), expect, "{wanted}");
        }
    }
}
