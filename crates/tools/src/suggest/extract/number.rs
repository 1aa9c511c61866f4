//! Numbers in digits and in words.

use super::text::{Word, words};

const UNITS: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const ORDINALS: &[&str] =
    &["zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/// A number of a request and its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Its value.
    pub value: f64,
    /// As written, separators of thousands left out.
    pub digits: String,
    /// Index of its word.
    pub word: usize,
}

/// The value of one word: `1,250`, `$3.50`, `7,5`, `1.250,50`, `17%`, `twelve`. Not an ordinal, not `2024-01-01`.
pub fn value(word: &str) -> Option<f64> {
    digits(word)?.parse().ok()
}

/// The same as its plain digits.
pub fn digits(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    if let Some(at) = UNITS.iter().position(|unit| *unit == lower) {
        return Some(at.to_string());
    }
    if let Some(tens) =
        ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"].iter().position(|tens| *tens == lower)
    {
        return Some(((tens + 3) * 10).to_string());
    }
    if lower == "hundred" {
        return Some("100".to_owned());
    }
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
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !grouped || !groups.iter().all(|group| all_digits(group)) {
        return None;
    }
    if fraction.is_some_and(|fraction| !all_digits(fraction)) {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    let tail = fraction.map(|f| format!(".{f}")).unwrap_or_default();
    Some(format!("{sign}{}{tail}", groups.concat()))
}

/// `7,5` and `1.250,50` with a point for the comma; `1,250` is over a thousand, and `0,125` is not.
fn with_point(word: &str) -> Option<String> {
    let (whole, fraction) = word.split_once(',')?;
    let groups: Vec<&str> = whole.split('.').collect();
    let grouped = groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let thousands = groups.len() == 1 && fraction.len() == 3 && whole != "0";
    let fits = digits(fraction) && groups.iter().all(|group| digits(group)) && (groups.len() == 1 || grouped);
    (fits && !thousands).then(|| format!("{}.{fraction}", groups.concat()))
}

/// `3rd`, `third` → 3.
pub fn ordinal(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    if let Some(at) = ORDINALS.iter().position(|name| *name == lower) {
        return u32::try_from(at).ok();
    }
    ["st", "nd", "rd", "th"].iter().find_map(|ending| lower.strip_suffix(ending)).and_then(|digits| digits.parse().ok())
}

/// All numbers among `words`.
pub fn numbers(words: &[Word<'_>]) -> Vec<Number> {
    words
        .iter()
        .enumerate()
        .filter_map(|(index, word)| {
            let digits = digits(word.text)?;
            Some(Number { value: digits.parse().ok()?, digits, word: index })
        })
        .collect()
}

/// A small whole number just before one of the nouns, or just after the cue: "5 lines",
/// "first five lines".
pub fn count_before(request: &str, nouns: &[&str]) -> Option<u64> {
    let words = words(request);
    let at = words.iter().position(|word| nouns.contains(&word.lower.as_str()))?;
    words[..at].iter().rev().take(3).find_map(|word| {
        let digits = digits(word.text)?;
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::{count_before, ordinal, value};

    #[test]
    fn reads_numbers() {
        assert_eq!(value("1,250.5"), Some(1250.5));
        assert_eq!(value("$3.50"), Some(3.5));
        assert_eq!(value("17%"), Some(17.0));
        assert_eq!(value("twelve"), Some(12.0));
        assert_eq!(value("-4"), Some(-4.0));
        assert_eq!(value("2024-01-01"), None);
        assert_eq!(value("7,5"), Some(7.5));
        assert_eq!(value("1.250,50"), Some(1250.5));
        assert_eq!(value("0,125"), Some(0.125));
        assert_eq!(value("1,250"), Some(1250.0));
        assert_eq!(value("1,2,3"), None);
        assert_eq!(ordinal("3rd"), Some(3));
        assert_eq!(count_before("the first five lines of x", &["lines"]), Some(5));
    }
}
