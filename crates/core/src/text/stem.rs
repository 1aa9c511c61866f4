//! Compares words: without endings, by their parts, and by edit distance.

pub use strsim::levenshtein as distance;

/// A word without its plural or possessive ending; good enough to compare nouns.
pub fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    let base = lower.strip_suffix("'s").or_else(|| lower.strip_suffix("’s")).unwrap_or(&lower);
    let cut = |suffix: &str, least: usize| base.strip_suffix(suffix).filter(|rest| rest.chars().count() >= least);
    if let Some(rest) = cut("ies", 2) {
        return format!("{rest}y");
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if base.ends_with(ending) {
            return base[..base.len() - 2].to_owned();
        }
    }
    for whole in ["ss", "us", "is"] {
        if base.ends_with(whole) {
            return base.to_owned();
        }
    }
    cut("s", 2).unwrap_or(base).to_owned()
}

/// Parts of a name: `seattle-weather`, `unit_price` and `UnitPrice` have two.
pub fn parts(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    let mut lower_before = false;
    for c in name.chars() {
        let breaks = !c.is_alphanumeric() || (c.is_uppercase() && lower_before);
        if breaks && !current.is_empty() {
            found.push(std::mem::take(&mut current));
        }
        if c.is_alphanumeric() {
            current.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase() || c.is_ascii_digit();
    }
    if !current.is_empty() {
        found.push(current);
    }
    found
}

/// Whether two words are forms of one: `user` and `users`, `price` and `priced`.
pub fn same_word(a: &str, b: &str) -> bool {
    let (a, b) = (stem(a), stem(b));
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    let longer = long.len() - short.len();
    let begins = short.len() >= 4 && longer <= 5 && long.starts_with(short.as_str());
    a == b || begins || (short.len() >= 8 && longer <= 1 && distance(short, long) <= 1)
}

#[cfg(test)]
mod tests {
    use super::{distance, parts, same_word, stem};

    #[test]
    fn stems_and_parts() {
        for (word, expect) in [
            ("customers", "customer"),
            ("cities", "city"),
            ("boxes", "box"),
            ("status", "status"),
            ("bus", "bus"),
            ("artist's", "artist"),
            ("sales", "sale"),
        ] {
            assert_eq!(stem(word), expect, "{word}");
        }
        assert_eq!(parts("unitPrice"), ["unit", "price"]);
        assert_eq!(parts("seattle-weather_2"), ["seattle", "weather", "2"]);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn forms_of_one_word() {
        for (a, b) in [("screws", "screw"), ("cost", "costs"), ("temperature", "temprature"), ("owner", "owners")] {
            assert!(same_word(a, b), "{a} {b}");
        }
        for (a, b) in [("age", "agenda"), ("name", "number"), ("cat", "category")] {
            assert!(!same_word(a, b), "{a} {b}");
        }
    }
}
