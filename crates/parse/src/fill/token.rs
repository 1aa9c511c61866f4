//! Words, numbers and marks of a request.

use super::lexicon::Lexicon;
use super::stem::stem;

/// Longest request that is looked at, tokens.
const MOST: usize = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Mark,
}

/// A piece of the request.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub from: usize,
    pub to: usize,
    pub text: String,
    pub lower: String,
    pub stem: String,
    pub kind: Kind,
    /// Begins with a capital.
    pub cap: bool,
    /// Begins a sentence.
    pub first: bool,
    /// Followed by `'s`.
    pub owner: bool,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        self.lower == text
    }

    /// A word that carries meaning.
    pub fn is_content(&self, words: &Lexicon) -> bool {
        self.kind == Kind::Word && !words.stop.contains(&self.lower)
    }

    /// Small words joined by dots: `shop.example.org`, `minutes.docx`.
    fn is_dotted(&self) -> bool {
        self.kind == Kind::Word
            && self.text.contains('.')
            && self.text.split('.').all(|part| !part.is_empty())
            && self.text.split('.').any(|part| part.len() > 1)
            && !self.text.contains("..")
    }

    /// A code that is a value by itself: an id, a path, an address, the name of a host.
    pub fn is_literal(&self) -> bool {
        self.kind == Kind::Word
            && (self.is_dotted()
                || self.text.contains(['/', '@', '_', '\\'])
                || (self.text.contains('-')
                    && self.text.chars().any(|c| c.is_ascii_digit())
                    && self.text.chars().any(char::is_alphabetic)))
    }

    /// Letters with digits or marks inside: a code, a path, an address.
    pub fn is_code(&self) -> bool {
        self.kind == Kind::Word
            && self
                .text
                .chars()
                .any(|c| c.is_ascii_digit() || matches!(c, '_' | '/' | '@' | '\\' | '#' | '+' | ':' | '^'))
            || self.is_dotted()
            || (self.kind == Kind::Word
                && self.text.len() >= 2
                && self.text.chars().any(|c| c.is_ascii_uppercase())
                && self.text.chars().all(|c| c.is_ascii_uppercase() || c == '-' || c == '.'))
    }
}

/// Cuts a text into tokens.
pub(super) fn tokens(text: &str, words: &Lexicon) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut first = true;
    while at < text.len() && out.len() < MOST {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { break };
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let before = text[..at].chars().next_back();
        let (len, kind) = if let Some(len) = rooted(rest, before) {
            (len, Kind::Word)
        } else if let Some(len) = number(rest, before) {
            after_number(rest, len, words)
        } else if c.is_alphanumeric() || matches!(c, '_' | '#' | '@') {
            (apart(rest, word(rest), words), Kind::Word)
        } else {
            (c.len_utf8(), Kind::Mark)
        };
        let mut shown = &rest[..len];
        let mut owner = false;
        if kind == Kind::Word
            && let Some(bare) = shown.strip_suffix("'s").or_else(|| shown.strip_suffix("’s"))
            && !words.stop.contains(&shown.to_lowercase())
        {
            shown = bare;
            owner = true;
        }
        let lower = shown.to_lowercase().replace('’', "'");
        out.push(Token {
            from: at,
            to: at + shown.len(),
            text: shown.to_owned(),
            stem: stem(&lower.replace('-', "")),
            cap: shown.chars().next().is_some_and(char::is_uppercase),
            first,
            owner,
            lower,
            kind,
        });
        at += len.max(1);
        first = match kind {
            // `Liverpool F.C. Include …`
            Kind::Word if shown.len() > 2 && shown.ends_with('.') => {
                let next = text[at..].split_whitespace().next().unwrap_or_default();
                let next = next.to_lowercase();
                words.verbs.contains(&next) || words.stop.contains(&next)
            }
            Kind::Mark => {
                matches!(c, '.' | '?' | '!' | ':' | '\n')
                    || (first && matches!(c, '"' | '\'' | '“' | '‘' | '`' | '-' | '*'))
            }
            _ => false,
        };
    }
    out
}

/// Length of a path that begins with its root.
fn rooted(rest: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|c| c.is_alphanumeric() || c == '.') {
        return None;
    }
    let body = ["../", "./", "~/", "/"].iter().find_map(|root| rest.strip_prefix(root))?;
    if !body.starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_') {
        return None;
    }
    let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let bare = rest[..len].trim_end_matches(['.', ',', '?', '!', ')', '\'', '"', ';', ':']);
    (bare.len() > 1).then_some(bare.len())
}

/// Length of a number at the start of a text.
fn number(rest: &str, before: Option<char>) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    if bytes[0] == b'-' {
        if before.is_some_and(|c| c.is_alphanumeric() || c == ')') {
            return None;
        }
        at = 1;
    }
    let begun = at;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == begun {
        // `.5`
        if bytes.get(at) != Some(&b'.') || before.is_some_and(char::is_alphanumeric) {
            return None;
        }
    } else if at - begun <= 3 {
        while bytes.get(at) == Some(&b',')
            && bytes.get(at + 1..at + 4).is_some_and(|three| three.iter().all(u8::is_ascii_digit))
            && !bytes.get(at + 4).is_some_and(u8::is_ascii_digit)
        {
            at += 4;
        }
    }
    if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
    }
    (at > begun && bytes[at - 1].is_ascii_digit()).then_some(at)
}

/// A number that goes on with letters is a number with a unit, or a code.
fn after_number(rest: &str, len: usize, words: &Lexicon) -> (usize, Kind) {
    let tail = &rest[len..];
    let letters: String = tail.chars().take_while(|c| c.is_alphabetic() || *c == '°').collect();
    if !letters.is_empty() {
        let lower = letters.to_lowercase();
        let ended = !tail[letters.len()..]
            .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '^' | '*' | '(' | '@'));
        let known = words.units.contains_key(&lower)
            || words.magnitudes.contains_key(&lower)
            || matches!(lower.as_str(), "st" | "nd" | "rd" | "th" | "am" | "pm" | "x" | "mi" | "d")
            || (lower.starts_with("km") || lower.starts_with("sq"));
        if ended && known && lower != "x" && lower != "d" {
            return (len, Kind::Number);
        }
        return (run(rest), Kind::Word);
    }
    let mut next = tail.chars();
    let joined = matches!(next.next(), Some('-' | '/' | ':' | '^' | '*' | '_' | '.'))
        && next.next().is_some_and(char::is_alphanumeric);
    if joined && !tail.starts_with('-') {
        return (run(rest), Kind::Word);
    }
    if joined {
        // `2010-2015`, `01-01-1980`, `555-1234`, but not `3-bedroom`.
        if tail[1..].starts_with(|c: char| c.is_ascii_digit() || c.is_uppercase()) {
            return (run(rest), Kind::Word);
        }
        return (len, Kind::Number);
    }
    (len, Kind::Number)
}

/// `twenty-sided` is a number with what it counts; `twenty-five` is one number.
fn apart(rest: &str, len: usize, words: &Lexicon) -> usize {
    match rest[..len].split_once('-') {
        Some((number, noun))
            if words.numbers.contains_key(&number.to_lowercase())
                && !words.numbers.contains_key(&noun.to_lowercase()) =>
        {
            number.len()
        }
        _ => len,
    }
}

/// Length of a code: letters, digits and marks between them.
fn run(rest: &str) -> usize {
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        if c.is_alphanumeric() || c == '_' {
            end = at + c.len_utf8();
        } else if !matches!(c, '-' | '/' | ':' | '.' | '^' | '*' | '@' | '\\' | '%') || at > end {
            break;
        }
    }
    end
}

/// Length of a word.
fn word(rest: &str) -> usize {
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() || matches!(c, '_' | '#' | '@') {
            end = at + c.len_utf8();
            continue;
        }
        let next = chars.peek().map(|(_, c)| *c);
        let so_far = &rest[..at];
        let goes_on = next.is_some_and(|c| c.is_alphanumeric() || c == '_');
        match c {
            '+' if so_far.len() <= 2 => end = at + 1,
            '.' if goes_on => {
                let month = words_month(so_far);
                let sentence =
                    so_far.len() > 2 && so_far.chars().all(char::is_lowercase) && next.is_some_and(char::is_uppercase);
                if month || sentence {
                    break;
                }
            }
            // `U.S.`
            '.' if so_far.contains('.') && so_far.split('.').all(|part| part.len() == 1) => {
                end = at + 1;
                break;
            }
            '-' | '\'' | '’' | '/' | ':' | '&' | '^' | '\\' if goes_on => {}
            ':' if rest[at..].starts_with("://") => {
                let len = rest[at..].find(char::is_whitespace).map_or(rest.len(), |end| at + end);
                let bare = rest[..len].trim_end_matches(['.', ',', '?', '!', ')', '\'', '"', ';']);
                return bare.len();
            }
            ':' if so_far.len() == 1 && matches!(next, Some('/' | '\\')) => {}
            '/' | '\\' if so_far.len() == 1 || so_far.contains(['/', '\\', ':']) => {}
            _ => break,
        }
    }
    end.max(rest.chars().next().map_or(1, char::len_utf8))
}

fn words_month(word: &str) -> bool {
    super::date::month(&word.to_lowercase()).is_some()
}
