//! Words of a request, their places, their stems.

/// A word of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// As written, without surrounding punctuation.
    pub text: &'a str,
    /// In lower case.
    pub lower: String,
    /// First byte in the request.
    pub start: usize,
    /// Byte after its last.
    pub end: usize,
}

const OPENING: &[char] = &['(', '[', '{', '"', '\'', '`', '“', '‘', '„', '«', '<', '¿', '¡'];
const CLOSING: &[char] = &[')', ']', '}', '"', '\'', '`', '”', '’', '“', '»', '>', '.', ',', ';', ':', '!', '?', '…'];

/// The words of `request`, split at white space, punctuation around them left out.
pub fn words(request: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in request.char_indices().chain([(request.len(), ' ')]) {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                found.extend(word(request, from, at));
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn word(request: &str, from: usize, to: usize) -> Option<Word<'_>> {
    let raw = request.get(from..to)?;
    let left = raw.trim_start_matches(OPENING);
    let start = to - left.len();
    let text = left.trim_end_matches(CLOSING);
    (!text.is_empty()).then(|| Word { text, lower: text.to_lowercase(), start, end: start + text.len() })
}

/// Lower case, one space between words, punctuation around words left out; for phrase matching.
pub fn plain(request: &str) -> String {
    let mut out = String::with_capacity(request.len());
    for word in words(request) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word.lower.replace('’', "'"));
    }
    out
}

/// Whether the words of `phrase` stand together in `plain` (see [`plain`]).
pub fn has_phrase(plain: &str, phrase: &str) -> bool {
    find_phrase(plain, phrase).is_some()
}

/// Where `phrase` stands in `plain`, at word boundaries.
pub fn find_phrase(plain: &str, phrase: &str) -> Option<usize> {
    let boundary = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    plain
        .match_indices(phrase)
        .map(|(at, _)| at)
        .find(|&at| boundary(plain[..at].chars().next_back()) && boundary(plain[at + phrase.len()..].chars().next()))
}

/// The first of `phrases` that occurs, or none.
pub fn any_phrase<'p>(plain: &str, phrases: &'p [String]) -> Option<&'p str> {
    phrases.iter().map(String::as_str).find(|phrase| has_phrase(plain, phrase))
}

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

/// Edits between two short texts (insertions, deletions, substitutions).
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, has_phrase, parts, plain, stem, words};

    #[test]
    fn words_lose_their_punctuation_only() {
        let found: Vec<_> = words("Read (notes/a.md), 'x y' now?").into_iter().map(|w| w.text).collect();
        assert_eq!(found, ["Read", "notes/a.md", "x", "y", "now"]);
        assert!(has_phrase(&plain("How many, LINES?"), "how many lines"));
        assert!(!has_phrase("baseline", "line"));
    }

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
}
