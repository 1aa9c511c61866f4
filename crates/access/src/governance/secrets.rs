//! Passwords, keys and tokens.

use regex::Regex;
use serde::Deserialize;

use super::finding::{Confidence, DetectorError, Finding, PiiKind};
use super::lexicon::Meaning;
use super::patterns::{self, anchored};
use super::scan::{is_word, skip_spaces, word_end};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    /// What stands for a secret in examples; in small letters.
    placeholders: Vec<String>,
    /// Words between a name and its value: "password is …".
    copulas: Vec<String>,
    known: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    begins: Vec<String>,
    pattern: String,
}

#[derive(Debug)]
struct Known {
    /// The first two bytes.
    pair: usize,
    begins: String,
    pattern: Regex,
}

#[derive(Debug)]
pub struct Secrets {
    placeholders: Vec<String>,
    copulas: Vec<String>,
    /// In the order of their pairs.
    known: Vec<Known>,
    /// Pairs of bytes that a known form begins with.
    openings: Box<[u64]>,
}

/// Bytes of a value that tell whether it is a secret; its end is looked for only once it is one, and reading goes on there.
/// With more than this bound at each place, a text of nothing but beginnings costs its length squared.
const JUDGED: usize = 80;
/// Bytes in which a known form shows: the head of a web token is the longest.
const LONGEST_FORM: usize = 512;
/// Bytes after `://` within which the name and the password of an address stand.
const LONGEST_LOGIN: usize = 256;
/// Bytes before a login within which the program that is called with it stands.
const COMMAND_REACH: usize = 400;
/// Bytes of a private key with its lines.
const LONGEST_KEY: usize = 128 << 10;

impl Secrets {
    pub fn read(data: &str) -> Result<Self, DetectorError> {
        let data: Data = patterns::read("secrets", data)?;
        let mut secrets = Self {
            placeholders: data.placeholders,
            copulas: data.copulas,
            known: Vec::new(),
            openings: vec![0; 1 << 10].into(),
        };
        for entry in data.known {
            let pattern = anchored("secrets", &entry.name, &entry.pattern)?;
            for begins in entry.begins {
                let short = || DetectorError::Data("secrets", format!("{}: a longer beginning", entry.name));
                let pair = pair(begins.as_bytes()).ok_or_else(short)?;
                secrets.openings[pair >> 6] |= 1 << (pair & 63);
                secrets.known.push(Known { pair, begins, pattern: pattern.clone() });
            }
        }
        secrets.known.sort_by_key(|known| known.pair);
        Ok(secrets)
    }

    /// A secret of a known form that begins with the word at `at`.
    pub fn known(&self, text: &str, at: usize) -> Option<Finding> {
        let pair = pair(&text.as_bytes()[at..])?;
        if self.openings[pair >> 6] >> (pair & 63) & 1 == 0 {
            return None;
        }
        let rest = &text[at..floor(text, at + LONGEST_FORM)];
        if rest.starts_with("BEGIN ") && text[..at].ends_with("-----") {
            return private_key(text, at);
        }
        let first = self.known.partition_point(|known| known.pair < pair);
        let of_pair = self.known[first..].iter().take_while(|known| known.pair == pair);
        of_pair.filter(|known| rest.starts_with(&known.begins)).find_map(|known| {
            let mut end = at + known.pattern.find(rest)?.end();
            if end == at + rest.len() {
                // A token may be longer than what is looked at to recognise one.
                let more = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=');
                end += text.as_bytes()[end..].iter().take_while(|byte| more(byte)).count();
            }
            Some(Finding::new(PiiKind::Secret, at..end, Confidence::Certain))
        })
    }

    /// An address with a password, whose `://` is at `at`.
    pub fn address(&self, text: &str, at: usize) -> Option<Finding> {
        let bytes = text.as_bytes();
        let scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
        let start = at - bytes[..at].iter().rev().take_while(scheme).count();
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '`' | ')' | '|');
        let rest = &text[at + 3..floor(text, at + 3 + LONGEST_LOGIN)];
        // What stands after the next `://` is looked at there.
        let rest = rest.find("://").map_or(rest, |next| &rest[..next + 2]);
        let length = rest.find(ends).unwrap_or(rest.len());
        let authority = rest[..length].find(['/', '?', '#']).filter(|end| rest[..*end].contains('@')).unwrap_or(length);
        let (login, _) = rest[..authority].rsplit_once('@')?;
        let (_, password) = login.split_once(':')?;
        let template = login.contains(['[', '{', '<']);
        let is_one = start < at && !password.is_empty() && !template && !self.stands_for_one(password);
        is_one.then(|| {
            let rest = &text[at + 3..];
            let whole = &rest[..rest.find(ends).unwrap_or(rest.len())];
            let end = at + 3 + whole.trim_end_matches(['.', ',', ';', ']', '}']).len();
            Finding::new(PiiKind::Secret, start..end, Confidence::Certain)
        })
    }

    /// The value after a name such as "password" or "api key" that ends at `end`.
    pub fn assigned<'t>(&self, text: &'t str, end: usize, meaning: Meaning) -> Option<Finding> {
        let password = meaning.any(Meaning::PASSWORD);
        let direct = self.value_start(text, end).map(|(start, sign)| (start, sign, false));
        let (start, sign, far) = match direct {
            Some(place) => place,
            None if password => match self.value_after_words(text, end) {
                Some(place) => place,
                None => return self.bare_password(text, end),
            },
            None => return None,
        };
        let bytes = text.as_bytes();
        let quote = bytes.get(start.wrapping_sub(1)).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        let rest = &text[start..floor(text, start + JUDGED)];
        let ends = |c: char| match quote {
            Some(quote) => c == char::from(quote) || matches!(c, '\n' | '\\'),
            None => {
                c.is_whitespace()
                    || matches!(c, '"' | '\'' | '`' | ';' | '<' | '|' | '»' | '”' | '“' | '&' | '\\')
                    || (c == ',' && matches!(sign, Sign::Equals | Sign::SpacedEquals))
            }
        };
        let trim = |value: &'t str| match quote {
            Some(_) => value,
            None => value.trim_end_matches(['.', ',', ')', ']', '}', ':']),
        };
        let value = trim(&rest[..rest.find(ends).unwrap_or(rest.len())]);
        let code = rest[value.len()..].starts_with('(')
            || quote.is_none() && is_code(value)
            || value.starts_with([',', ')', ']', ';', '}', '/']);
        if value.len() < 4 || code || value.contains("://") || self.stands_for_one(value) {
            return None;
        }
        let traits = Traits::of(value);
        let is_one = if far {
            value.len() > 5 && traits.digits > 0 && traits.unlike_a_word()
        } else if password {
            let pin = quote.is_none() && traits.digits == value.len() && value.len() < 9;
            match sign {
                Sign::Colon | Sign::Word if pin => true,
                // "PASSWORD=WORD" in the help of a program
                Sign::Equals if quote.is_none() && traits.upper == value.len() => false,
                Sign::Equals => value.len() >= 5 || traits.sorts() > 1,
                Sign::SpacedEquals => quote.is_some() || traits.sorts() > 1 && traits.unlike_a_word(),
                Sign::Colon | Sign::Word => {
                    let words = traits.digits + traits.upper == 0 && value.bytes().all(is_in_names);
                    quote.is_some() && !value.contains(' ') || traits.sorts() > 1 && traits.unlike_a_word() && !words
                }
            }
        } else {
            let pair = value.trim_end_matches('=').contains('=');
            value.len() >= 12 && !value.contains(' ') && !pair && traits.random()
        };
        is_one.then(|| {
            let rest = &text[start..];
            let whole = trim(&rest[..rest.find(ends).unwrap_or(rest.len())]);
            Finding::new(PiiKind::Secret, start..start + whole.len(), Confidence::Likely)
        })
    }

    /// "-u deploy:Xk29fkeoWq", whose `:` is at `at`.
    pub fn login(&self, text: &str, at: usize) -> Option<Finding> {
        let name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | '\\');
        let before = &text[floor(text, at.saturating_sub(COMMAND_REACH))..at];
        let head = before.trim_end_matches(name).trim_end_matches(['"', '\'']);
        if head.len() == before.len() || !(head.ends_with(" -u ") || head.ends_with(" --user ")) {
            return None;
        }
        let rest = &text[at + 1..floor(text, at + 1 + JUDGED)];
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
        let length = rest.find(ends).unwrap_or(rest.len());
        let value = &rest[..length];
        let line = &head[head.rfind(['\n', ';', '|', '&']).unwrap_or(0)..];
        let asks = || line.contains("curl") || rest[length..].trim_start_matches(['"', '\'', ' ']).starts_with("http");
        let number = value.bytes().all(|byte| byte.is_ascii_digit());
        let is_one = length > 3 && !number && asks() && !self.stands_for_one(value);
        is_one.then(|| {
            let end = text[at + 1..].find(ends).map_or(text.len(), |length| at + 1 + length);
            Finding::new(PiiKind::Secret, at + 1..end, Confidence::Likely)
        })
    }

    /// Of a cell under "password".
    pub fn is_password(&self, value: &str) -> bool {
        let traits = Traits::of(value);
        value.len() > 5 && !value.contains(' ') && traits.unlike_a_word() && !self.stands_for_one(value)
    }

    /// A token from `at` on that nothing but the words before it tells from other texts.
    pub fn token(&self, text: &str, at: usize) -> Option<Finding> {
        let bytes = text.as_bytes();
        if at > 0 && matches!(bytes[at - 1], b'/' | b'.' | b'-' | b'_' | b'@') {
            return None;
        }
        let sign =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~');
        let run = |most: usize| {
            let end = at + bytes[at..].iter().take(most).take_while(|byte| sign(**byte)).count();
            text.get(at..end).map(|run| run.trim_end_matches(['.', '-']))
        };
        let value = run(JUDGED)?;
        let long = value.len() >= 20 || value.len() >= 16 && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !(long && Traits::of(value).random() && !self.stands_for_one(value)) {
            return None;
        }
        let end = at + run(usize::MAX)?.len();
        (!is_word(text, end)).then(|| Finding::new(PiiKind::Secret, at..end, Confidence::Likely))
    }

    /// "the password you gave me, Sunflower#41": letters, digits and a sign that words don't have, all in one.
    pub fn odd_word(&self, text: &str, at: usize) -> Option<Finding> {
        let opens = text[..at].ends_with([' ', '"', '\'', '`', '(', '\n', '\t']);
        let value = &text[at..floor(text, at + JUDGED)];
        let value =
            &value[..value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`')).unwrap_or(value.len())];
        let value = value.trim_end_matches(['.', ',', ';', ':', ')', '?']);
        let traits = Traits::of(value);
        let odd = value.bytes().any(|byte| matches!(byte, b'!' | b'#' | b'$' | b'%' | b'&' | b'*' | b'^' | b'~'));
        let plain = value.contains(['/', '=', '(', '[', '{', '<', ':', '\\']);
        let is_one = opens && odd && !plain && (8..65).contains(&value.len());
        let is_one = is_one && traits.digits > 0 && traits.lower + traits.upper > 2 && !self.stands_for_one(value);
        is_one.then(|| Finding::new(PiiKind::Secret, at..at + value.len(), Confidence::Likely))
    }

    /// "password Edelweiss_12": capital and small letters with digits, as in few words.
    fn bare_password<'t>(&self, text: &'t str, end: usize) -> Option<Finding> {
        let start = skip_spaces(text, end);
        let start = start + usize::from(matches!(text.as_bytes().get(start), Some(b'"' | b'\'')));
        if start == end {
            return None;
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';');
        let trim = |value: &'t str| value.trim_end_matches(['.', ')', ':']);
        let value = &text[start..floor(text, start + JUDGED)];
        let value = trim(&value[..value.find(ends).unwrap_or(value.len())]);
        let traits = Traits::of(value);
        let mixed = traits.upper > 0 || traits.changes > 3;
        let is_one = value.len() > 5 && traits.lower > 0 && mixed && traits.digits > 0;
        let is_one = is_one && !is_code(value) && !self.stands_for_one(value);
        is_one.then(|| {
            let rest = &text[start..];
            let whole = trim(&rest[..rest.find(ends).unwrap_or(rest.len())]);
            Finding::new(PiiKind::Secret, start..start + whole.len(), Confidence::Likely)
        })
    }

    /// Where it begins if a few words stand between: "password for the guests is …".
    fn value_after_words(&self, text: &str, end: usize) -> Option<(usize, Sign, bool)> {
        let mut end = end;
        for _ in 0..5 {
            let start = skip_spaces(text, end);
            let next = word_end(text, start);
            if start == end || next == start {
                return None;
            }
            if let Some((at, sign @ (Sign::Colon | Sign::Word))) = self.value_start(text, next) {
                return Some((at, sign, true));
            }
            end = next;
        }
        None
    }

    /// Where the value begins after `=`, `:`, `=>` or a word such as "is".
    fn value_start(&self, text: &str, end: usize) -> Option<(usize, Sign)> {
        let bytes = text.as_bytes();
        let mut at = end;
        while matches!(bytes.get(at), Some(b'"' | b'\'' | b'`' | b']' | b'*')) {
            at += 1;
        }
        at += usize::from(bytes.get(at) == Some(&b')'));
        let spaced = skip_spaces(text, at);
        let apart = spaced > at;
        at = spaced;
        let sign = match bytes.get(at)? {
            b'=' if apart => Sign::SpacedEquals,
            b'=' => Sign::Equals,
            b':' if bytes.get(at + 1) == Some(&b':') => return None,
            b':' => Sign::Colon,
            b'-' if text[at..].starts_with("- ") => return None,
            // "<password>…"
            b'>' if !apart => Sign::Equals,
            _ => {
                let copula = self.copulas.iter().find(|copula| {
                    text[at..].starts_with(copula.as_str()) && !is_word(text, at + copula.len()) && at > end
                })?;
                at += copula.len();
                at = skip_spaces(text, at + usize::from(bytes.get(at) == Some(&b':')));
                at += usize::from(matches!(bytes.get(at), Some(b'"' | b'\'' | b'`')));
                return Some((at, Sign::Word));
            }
        };
        at += 1;
        while matches!(bytes.get(at), Some(b'=' | b'>' | b'*')) {
            at += 1;
        }
        at = skip_spaces(text, at);
        at += usize::from(matches!(bytes.get(at), Some(b'"' | b'\'' | b'`')));
        for scheme in ["Bearer ", "Basic ", "Token ", "token "] {
            at += if text[at..].starts_with(scheme) { scheme.len() } else { 0 };
        }
        Some((at, sign))
    }

    /// Variables, templates, and words such as "changeme".
    fn stands_for_one(&self, value: &str) -> bool {
        let small = value.to_lowercase();
        let first = value.chars().next().unwrap_or(' ');
        let dull = value.chars().all(|c| c == first || matches!(c, '.' | '-'));
        let template = matches!(first, '<' | '$' | '{' | '%' | '[' | '(' | '*' | '@')
            && (value.len() < 2
                || matches!(first, '<' | '*' | '[' | '(')
                || value.starts_with("${")
                || value.starts_with("$(")
                || value.starts_with("{{")
                || value.ends_with('%')
                || value.starts_with('{')
                || value[1..].bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'));
        let variable = [
            "process.env",
            "os.environ",
            "env.",
            "ENV[",
            "getenv",
            "secrets.",
            "vars.",
            "config.",
            "settings.",
            "self.",
            "this.",
            "var.",
        ]
        .iter()
        .any(|begin| value.starts_with(begin));
        dull || template
            || variable
            || self.placeholders.contains(&small)
            || small.contains("xxxx")
            || small.contains("****")
            || small.contains("your")
            || small.contains("example")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equals,
    /// As in many programs, where a name follows.
    SpacedEquals,
    Colon,
    Word,
}

/// Whether this is a call or an element of a list: `read(`, `names[`.
fn is_code(value: &str) -> bool {
    let name =
        value.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':'))).unwrap_or(value.len());
    name > 0
        && value[name..].starts_with(['(', '['])
        && value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// What a value is made of.
#[derive(Debug, Default)]
struct Traits {
    lower: usize,
    upper: usize,
    digits: usize,
    others: usize,
    /// Changes between sorts.
    changes: usize,
    distinct: usize,
    length: usize,
    hex: bool,
}

impl Traits {
    fn of(value: &str) -> Self {
        let mut traits = Self { hex: true, ..Self::default() };
        let (mut seen, mut before) = ([false; 256], 0);
        for byte in value.bytes() {
            let sort = match byte {
                b'a'..=b'z' => 1,
                b'A'..=b'Z' => 2,
                b'0'..=b'9' => 3,
                _ => 4,
            };
            match sort {
                1 => traits.lower += 1,
                2 => traits.upper += 1,
                3 => traits.digits += 1,
                _ => traits.others += 1,
            }
            traits.changes += usize::from(before != 0 && sort != before);
            before = sort;
            traits.distinct += usize::from(!std::mem::replace(&mut seen[usize::from(byte)], true));
            traits.hex &= byte.is_ascii_hexdigit();
            traits.length += 1;
        }
        traits
    }

    fn sorts(&self) -> usize {
        [self.lower, self.upper, self.digits, self.others].iter().filter(|count| **count > 0).count()
    }

    /// Not as words are written: more than a capital letter first and signs at the end.
    fn unlike_a_word(&self) -> bool {
        self.digits > 0 && self.lower + self.upper > 0
            || self.upper > 1 && self.lower > 0 && self.changes > 4
            || self.others > 0 && self.changes > 2
    }

    /// Drawn by a machine: digits and letters mixed all along.
    fn random(&self) -> bool {
        let mixed = self.digits > 0 && self.lower + self.upper > 0;
        let dense = self.changes * 5 >= self.length || (self.hex && self.length >= 24);
        (mixed || (self.lower > 0 && self.upper > 3)) && dense && self.distinct >= self.length.min(20) / 2
    }
}

/// Of names of fields and files: `pw_uid:pw_gid`.
const fn is_in_names(byte: u8) -> bool {
    byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/')
}

fn private_key(text: &str, at: usize) -> Option<Finding> {
    let head = &text[at..floor(text, at + 60)];
    let label = &head[..head.find("-----")?];
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let body = at + label.len() + 5;
    let closing = format!("-----END {}-----", label.strip_prefix("BEGIN ").unwrap_or_default());
    let rest = &text[body..floor(text, body + LONGEST_KEY)];
    // No key has the beginning of another in it, and each text is searched once.
    let rest = rest.find("-----BEGIN ").map_or(rest, |next| &rest[..next]);
    let end = rest.find(&closing).map_or_else(
        || {
            body + text[body..]
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=\r\n \\.".contains(byte))
                .count()
        },
        |length| body + length + closing.len(),
    );
    Some(Finding::new(PiiKind::Secret, at - 5..end, Confidence::Certain))
}

fn pair(bytes: &[u8]) -> Option<usize> {
    Some(usize::from(*bytes.first()?) << 8 | usize::from(*bytes.get(1)?))
}

/// The last boundary of characters up to `at`.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
