/// Plain digits of a number such as `1,250`, `$3.50`, `7,5`, `1.250,50`, `17%`; `None` for `2024-01-01` or `1,2,3`.
pub fn digits(word: &str) -> Option<String> {
    let bare = word.trim_matches(|c| "$€£%#".contains(c));
    let negative = bare.starts_with('-');
    let bare = bare.strip_prefix('-').unwrap_or(bare);
    let decimal = with_point(bare);
    let bare = decimal.as_deref().unwrap_or(bare);
    let (whole, fraction) = match bare.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (bare, None),
    };
    let groups: Vec<&str> = whole.split(',').collect();
    let grouped = groups.len() == 1 || (groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    if !grouped || !groups.iter().all(|group| only_digits(group)) {
        return None;
    }
    if fraction.is_some_and(|fraction| !only_digits(fraction)) {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    let tail = fraction.map(|f| format!(".{f}")).unwrap_or_default();
    Some(format!("{sign}{}{tail}", groups.concat()))
}

/// `7,5` and `1.250,50` with a decimal point; `1,250` is over a thousand, `0,125` is not.
fn with_point(word: &str) -> Option<String> {
    let (whole, fraction) = word.split_once(',')?;
    let groups: Vec<&str> = whole.split('.').collect();
    let grouped = groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    let thousands = groups.len() == 1 && fraction.len() == 3 && whole != "0";
    let fits = only_digits(fraction) && groups.iter().all(|group| only_digits(group)) && (groups.len() == 1 || grouped);
    (fits && !thousands).then(|| format!("{}.{fraction}", groups.concat()))
}

fn only_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn as_people_write_them() {
        for (word, expect) in [
            ("1,250.5", Some("1250.5")),
            ("$3.50", Some("3.50")),
            ("17%", Some("17")),
            ("-4", Some("-4")),
            ("2024-01-01", None),
            ("7,5", Some("7.5")),
            ("1.250,50", Some("1250.50")),
            ("0,125", Some("0.125")),
            ("1,250", Some("1250")),
            ("1,2,3", None),
            ("", None),
        ] {
            assert_eq!(digits(word).as_deref(), expect, "{word}");
        }
    }
}
