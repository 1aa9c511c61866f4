//! What can be read from a text without knowing its language: words, quotations, numbers, and possible arguments.

mod nearest;
mod spans;
mod stem;

pub use nearest::{nearest, nearest_name};
pub use spans::{Spans, constrained};
pub use stem::{distance, parts, same_word, stem};

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

/// Whether a terminal or a reader obeys a character instead of showing it: control characters, those that end a line or
/// turn the direction of writing.
pub fn steers_output(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted<'a> {
    pub text: &'a str,
    /// First byte, including the mark.
    pub start: usize,
    /// Byte after the closing mark.
    pub end: usize,
    /// Whether the marks are backticks, as for code, a command or a name.
    pub code: bool,
}

const PAIRS: &[(char, &[char])] = &[
    ('"', &['"']),
    ('`', &['`']),
    ('“', &['”', '“']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('\'', &['\'']),
    ('‘', &['’']),
];

/// All quoted pieces in order, not nested. An apostrophe inside a word is no mark.
pub fn quoted(request: &str) -> Vec<Quoted<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(next) = first(request, from) {
        from = next.end;
        found.push(next);
    }
    found
}

fn first(request: &str, from: usize) -> Option<Quoted<'_>> {
    for (at, open) in request[from..].char_indices() {
        let start = from + at;
        let Some((_, closers)) = PAIRS.iter().find(|(mark, _)| *mark == open) else {
            continue;
        };
        let before = request[..start].chars().next_back();
        if before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let inside = start + open.len_utf8();
        let close = request[inside..].char_indices().find(|(offset, c)| {
            let after = request[inside + offset + c.len_utf8()..].chars().next();
            *offset > 0 && closers.contains(c) && after.is_none_or(|c| !c.is_alphanumeric())
        });
        if let Some((offset, mark)) = close {
            let text = &request[inside..inside + offset];
            return Some(Quoted { text, start, end: inside + offset + mark.len_utf8(), code: open == '`' });
        }
    }
    None
}

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
    use super::{digits, has_phrase, plain, quoted, words};

    #[test]
    fn words_lose_their_punctuation_only() {
        let found: Vec<_> = words("Read (notes/a.md), 'x y' now?").into_iter().map(|w| w.text).collect();
        assert_eq!(found, ["Read", "notes/a.md", "x", "y", "now"]);
        assert!(has_phrase(&plain("How many, LINES?"), "how many lines"));
        assert!(!has_phrase("baseline", "line"));
    }

    #[test]
    fn finds_marks_and_leaves_apostrophes() {
        let texts = |request| quoted(request).into_iter().map(|q| q.text).collect::<Vec<_>>();
        assert_eq!(texts("Write 'backup done' to x"), ["backup done"]);
        assert_eq!(texts("don't say \"it's me\" or `ls -l`."), ["it's me", "ls -l"]);
        assert_eq!(texts("„guten Tag“ und «bonjour»"), ["guten Tag", "bonjour"]);
        assert!(texts("the dogs' and cats").is_empty());
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
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
