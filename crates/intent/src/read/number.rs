use crate::lexicon::lexicon;
use steward_core::text::{self, Word};

const UNITS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen twenty";
const TENS: &str = "thirty forty fifty sixty seventy eighty ninety hundred";
const ORDINALS: &str = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth";

fn place(list: &str, word: &str) -> Option<usize> {
    list.split_whitespace().position(|known| known == word)
}

/// The value of one word: `1,250`, `$3.50`, `7,5`, `1.250,50`, `17%`, `twelve`. Not an ordinal, not `2024-01-01`.
pub fn value(word: &str) -> Option<f64> {
    digits(word)?.parse().ok()
}

pub fn digits(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    let tens = || place(TENS, &lower).map(|at| (at + 3) * 10);
    if let Some(number) = place(UNITS, &lower).or_else(tens) {
        return Some(number.to_string());
    }
    text::digits(word)
}

/// A number from one to twelve by its word in any of the languages.
pub fn small(word: &str) -> Option<u8> {
    let lists = &lexicon().time.small;
    let at = lists.iter().position(|list| list.iter().any(|known| known == word))?;
    u8::try_from(at + 1).ok()
}

/// `3rd`, `third` → 3.
pub fn ordinal(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    if let Some(at) = place(ORDINALS, &lower) {
        return u32::try_from(at).ok();
    }
    ["st", "nd", "rd", "th"].iter().find_map(|ending| lower.strip_suffix(ending)).and_then(|digits| digits.parse().ok())
}

/// The words that are numbers, with their values.
pub fn numbers<'w, 't>(words: &'w [Word<'t>]) -> impl Iterator<Item = (usize, &'w Word<'t>, f64)> {
    words.iter().enumerate().filter_map(|(at, word)| Some((at, word, value(word.text)?)))
}

#[cfg(test)]
mod tests {
    use super::{ordinal, value};

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
    }
}
