//! An incremental JSON scanner. It reads a growing buffer from where it stopped, so that each byte is looked at once.
//! It allows trailing commas and raw control characters in strings; anything else that is no JSON is an error at
//! once, so that prose with a brace is not held back for long.

use crate::complexity_counter::count;
use std::ops::Range;

/// `serde_json` refuses more than 128.
const MAX_DEPTH: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// A value or the end of an array.
    Value,
    /// A value, after a colon or at the root.
    #[default]
    MustValue,
    /// A key or the end of an object.
    Key,
    Colon,
    /// A comma or an end.
    After,
    Str {
        start: usize,
        key: bool,
    },
    Scalar {
        start: usize,
    },
    Done,
    Failed,
}

/// Ranges are byte offsets into the buffer; strings have their quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    More,
    Open {
        array: bool,
        at: usize,
    },
    /// The offset after the bracket.
    Close(usize),
    Key(Range<usize>),
    Str(Range<usize>),
    Scalar(Range<usize>),
    /// The root value is complete.
    End,
    /// The rest is no JSON.
    Error,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Scanner {
    /// The next byte to look at; always on a character boundary.
    pub pos: usize,
    /// Open brackets; `true` for arrays.
    stack: Vec<bool>,
    state: State,
    comma: bool,
}

impl Scanner {
    pub fn new(pos: usize) -> Self {
        Self { pos, ..Self::default() }
    }

    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Where the content of an open string value starts.
    pub fn open_string(&self) -> Option<usize> {
        match self.state {
            State::Str { start, key: false } => Some(start + 1),
            _ => None,
        }
    }

    pub fn only_closers_missing(&self) -> bool {
        self.state == State::After && !self.comma && !self.stack.is_empty()
    }

    /// `buf` may only grow between calls.
    pub fn next(&mut self, buf: &str) -> Token {
        let from = self.pos;
        let token = self.step(buf);
        count(self.pos - from + 1);
        token
    }

    fn step(&mut self, buf: &str) -> Token {
        let bytes = buf.as_bytes();
        loop {
            match self.state {
                State::Done => return Token::End,
                State::Failed => return Token::Error,
                State::Str { start, key } => return self.string(buf, start, key),
                State::Scalar { start } => return self.scalar(bytes, start),
                _ => {}
            }
            let Some(&byte) = bytes.get(self.pos) else {
                return Token::More;
            };
            if byte.is_ascii_whitespace() {
                self.pos += 1;
                continue;
            }
            if let Some(token) = self.structure(byte) {
                return token;
            }
        }
    }

    /// Reads one structural byte. `None`: it opens a string or scalar, or is punctuation.
    fn structure(&mut self, byte: u8) -> Option<Token> {
        let at = self.pos;
        match (self.state, byte) {
            (State::Value | State::MustValue, b'{' | b'[') if self.stack.len() < MAX_DEPTH => {
                let array = byte == b'[';
                self.stack.push(array);
                self.state = if array { State::Value } else { State::Key };
                self.comma = false;
                self.pos += 1;
                return Some(Token::Open { array, at });
            }
            (State::Value | State::MustValue, b'"') => {
                self.state = State::Str { start: at, key: false };
            }
            (State::Value | State::MustValue, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                self.state = State::Scalar { start: at };
            }
            (State::Key, b'"') => {
                self.state = State::Str { start: at, key: true };
            }
            (State::Colon, b':') => self.state = State::MustValue,
            (State::After, b',') => {
                let array = self.stack.last() == Some(&true);
                self.state = if array { State::Value } else { State::Key };
                self.comma = true;
                self.pos += 1;
                return None;
            }
            (State::After | State::Key, b'}') if self.stack.last() == Some(&false) => return Some(self.close()),
            (State::After | State::Value, b']') if self.stack.last() == Some(&true) => return Some(self.close()),
            _ => {
                self.state = State::Failed;
                return Some(Token::Error);
            }
        }
        self.comma = false;
        self.pos += 1;
        None
    }

    fn close(&mut self) -> Token {
        self.stack.pop();
        self.pos += 1;
        self.comma = false;
        self.value_ended();
        Token::Close(self.pos)
    }

    fn value_ended(&mut self) {
        self.state = if self.stack.is_empty() { State::Done } else { State::After };
    }

    fn string(&mut self, buf: &str, start: usize, key: bool) -> Token {
        let bytes = buf.as_bytes();
        loop {
            let rest = &bytes[self.pos..];
            let Some(step) = rest.iter().position(|&b| b == b'"' || b == b'\\') else {
                self.pos = bytes.len();
                return Token::More;
            };
            self.pos += step;
            if bytes[self.pos] == b'"' {
                self.pos += 1;
                break;
            }
            // The escaped character may have several bytes.
            let Some(escaped) = buf[self.pos + 1..].chars().next() else {
                return Token::More;
            };
            self.pos += 1 + escaped.len_utf8();
        }
        let range = start..self.pos;
        if key {
            self.state = State::Colon;
            Token::Key(range)
        } else {
            self.value_ended();
            Token::Str(range)
        }
    }

    fn scalar(&mut self, bytes: &[u8], start: usize) -> Token {
        let rest = &bytes[self.pos..];
        let inside = |b: &u8| !(b.is_ascii_alphanumeric() || b"+-.".contains(b));
        if let Some(step) = rest.iter().position(inside) {
            self.pos += step;
            self.value_ended();
            Token::Scalar(start..self.pos)
        } else {
            self.pos = bytes.len();
            Token::More
        }
    }
}

/// Decodes the content of a string. Unknown escapes keep their character, lone surrogates become U+FFFD.
pub(crate) fn unescape(content: &str) -> String {
    unescape_part(content, true).0
}

/// Decodes as much of `content` as is certain and counts its bytes; an escape cut at the end waits unless `last`.
pub(crate) fn unescape_part(content: &str, last: bool) -> (String, usize) {
    let mut out = String::with_capacity(content.len());
    let mut pos = 0;
    while let Some(step) = content[pos..].find('\\') {
        out.push_str(&content[pos..pos + step]);
        pos += step;
        match escape(&content[pos..]) {
            Some((c, len)) => {
                out.push(c);
                pos += len;
            }
            None => return (out, if last { content.len() } else { pos }),
        }
    }
    out.push_str(&content[pos..]);
    (out, content.len())
}

/// The character of the escape that `text` starts with, and its bytes; `None` if it is cut.
fn escape(text: &str) -> Option<(char, usize)> {
    Some(match text[1..].chars().next()? {
        'n' => ('\n', 2),
        't' => ('\t', 2),
        'r' => ('\r', 2),
        'b' => ('\u{8}', 2),
        'f' => ('\u{c}', 2),
        'u' => return unicode(text),
        other => (other, 1 + other.len_utf8()),
    })
}

/// `text` starts with `\u`.
fn unicode(text: &str) -> Option<(char, usize)> {
    let alone = Some(('\u{FFFD}', 6));
    let high = match hex(text) {
        Hex::Unit(unit) => unit,
        Hex::Cut => return None,
        Hex::Wrong => return Some(('u', 2)),
    };
    if !(0xD800..0xDC00).contains(&high) {
        return char::from_u32(high).map_or(alone, |c| Some((c, 6)));
    }
    let rest = &text[6..];
    if rest.is_empty() || rest == "\\" {
        return None;
    }
    if !rest.starts_with("\\u") {
        return alone;
    }
    match hex(rest) {
        Hex::Cut => None,
        Hex::Unit(low) if (0xDC00..0xE000).contains(&low) => {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            Some((char::from_u32(code).unwrap_or('\u{FFFD}'), 12))
        }
        _ => alone,
    }
}

enum Hex {
    Unit(u32),
    Cut,
    Wrong,
}

fn hex(text: &str) -> Hex {
    let mut unit = 0;
    for i in 2..6 {
        let Some(&byte) = text.as_bytes().get(i) else {
            return Hex::Cut;
        };
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Hex::Wrong;
        };
        unit = unit * 16 + digit;
    }
    Hex::Unit(unit)
}
