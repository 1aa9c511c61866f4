#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// As written, without surrounding punctuation.
    pub text: &'a str,
    pub lower: String,
    /// Byte offset in the request.
    pub start: usize,
    /// Offset of the byte after it.
    pub end: usize,
}

const OPENING: &[char] = &['(', '[', '{', '"', '\'', '`', '“', '‘', '„', '«', '<', '¿', '¡'];
const CLOSING: &[char] = &[')', ']', '}', '"', '\'', '`', '”', '’', '“', '»', '>', '.', ',', ';', ':', '!', '?', '…'];

/// Splits `request` at white space, without the punctuation around words.
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

/// Normalises for phrase matching: lower case, single spaces, no punctuation around words.
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

/// Whether the words of `phrase` occur together in `plain` (see [`plain`]).
pub fn has_phrase(plain: &str, phrase: &str) -> bool {
    find_phrase(plain, phrase).is_some()
}

/// Position of `phrase` in `plain`, at word boundaries.
pub fn find_phrase(plain: &str, phrase: &str) -> Option<usize> {
    let boundary = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    plain
        .match_indices(phrase)
        .map(|(at, _)| at)
        .find(|&at| boundary(plain[..at].chars().next_back()) && boundary(plain[at + phrase.len()..].chars().next()))
}

pub fn any_phrase<'p>(plain: &str, phrases: &'p [String]) -> Option<&'p str> {
    phrases.iter().map(String::as_str).find(|phrase| has_phrase(plain, phrase))
}

#[cfg(test)]
mod tests {
    use super::{has_phrase, plain, words};

    #[test]
    fn words_lose_their_punctuation_only() {
        let found: Vec<_> = words("Read (notes/a.md), 'x y' now?").into_iter().map(|w| w.text).collect();
        assert_eq!(found, ["Read", "notes/a.md", "x", "y", "now"]);
        assert!(has_phrase(&plain("How many, LINES?"), "how many lines"));
        assert!(!has_phrase("baseline", "line"));
    }
}
