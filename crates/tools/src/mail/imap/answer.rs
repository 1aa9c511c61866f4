//! Answers of a server, taken apart.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word: `FETCH`, `12`, `BODY[HEADER]`, `\Seen`.
    Word(String),
    /// A quoted string or a literal.
    Text(Vec<u8>),
    /// `(`
    Open,
    Close,
}

impl Token {
    /// A word, upper case.
    pub fn word(&self) -> Option<String> {
        match self {
            Self::Word(word) => Some(word.to_uppercase()),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Word(word) => word.parse().ok(),
            _ => None,
        }
    }
}

/// An answer: lines with the literals that follow each of them but the last.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub lines: Vec<Vec<u8>>,
    pub literals: Vec<Vec<u8>>,
}

impl Answer {
    pub fn text(&self) -> String {
        let first = self.lines.first().map(Vec::as_slice).unwrap_or_default();
        String::from_utf8_lossy(first).trim_end().to_owned()
    }

    /// Its pieces. What can't be read is left out.
    pub fn tokens(&self) -> Vec<Token> {
        let mut tokens = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            let literal = self.literals.get(at);
            let line = match literal {
                // The announcement of the literal, `{123}`.
                Some(_) => &line[..line.iter().rposition(|b| *b == b'{').unwrap_or(line.len())],
                None => line,
            };
            split(line, &mut tokens);
            tokens.extend(literal.map(|bytes| Token::Text(bytes.clone())));
        }
        tokens
    }
}

fn split(line: &[u8], tokens: &mut Vec<Token>) {
    let mut rest = line;
    while let Some((first, tail)) = rest.split_first() {
        match first {
            b' ' | b'\r' | b'\n' | b'\t' => rest = tail,
            b'(' => {
                tokens.push(Token::Open);
                rest = tail;
            }
            b')' => {
                tokens.push(Token::Close);
                rest = tail;
            }
            b'"' => {
                let (text, after) = quoted(tail);
                tokens.push(Token::Text(text));
                rest = after;
            }
            _ => {
                let end = word(rest);
                tokens.push(Token::Word(String::from_utf8_lossy(&rest[..end]).into_owned()));
                rest = &rest[end..];
            }
        }
    }
}

fn quoted(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => return (out, &text[at + 1..]),
            b'\\' if at + 1 < text.len() => {
                out.push(text[at + 1]);
                at += 2;
            }
            byte => {
                out.push(byte);
                at += 1;
            }
        }
    }
    (out, &[])
}

/// Length of a word; what stands in square brackets belongs to it.
fn word(text: &[u8]) -> usize {
    let mut inside = false;
    let end = text.iter().position(|byte| {
        match byte {
            b'[' => inside = true,
            b']' => inside = false,
            b' ' | b'(' | b')' | b'"' | b'\r' | b'\n' if !inside => return true,
            _ => {}
        }
        false
    });
    end.unwrap_or(text.len()).max(1)
}

/// The length of the literal that a line announces at its end.
pub(super) fn literal(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n"))?;
    let inner = line.strip_suffix(b"}")?;
    let from = inner.iter().rposition(|byte| *byte == b'{')? + 1;
    std::str::from_utf8(&inner[from..]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Answer, Token, literal};
    use proptest::prelude::*;

    #[test]
    fn fetched_data_is_taken_apart() {
        let answer = Answer {
            lines: vec![
                b"* 3 FETCH (UID 7 FLAGS (\\Seen) BODY[HEADER.FIELDS (FROM TO)] {4}\r\n".to_vec(),
                b" X \"a \\\"b\\\"\")\r\n".to_vec(),
            ],
            literals: vec![b"abcd".to_vec()],
        };
        let word = |text: &str| Token::Word(text.to_owned());
        let text = |text: &str| Token::Text(text.as_bytes().to_vec());
        assert_eq!(
            answer.tokens(),
            [
                word("*"),
                word("3"),
                word("FETCH"),
                Token::Open,
                word("UID"),
                word("7"),
                word("FLAGS"),
                Token::Open,
                word("\\Seen"),
                Token::Close,
                word("BODY[HEADER.FIELDS (FROM TO)]"),
                text("abcd"),
                word("X"),
                text("a \"b\""),
                Token::Close,
            ]
        );
        assert_eq!(literal(b"* x {12}\r\n"), Some(12));
        assert_eq!(literal(b"* x {12} \r\n"), None);
        assert_eq!(literal(b"{99999999999999999999999}\r\n"), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fail(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let answer = Answer { lines: vec![line.clone()], literals: Vec::new() };
            answer.tokens();
            literal(&line);
        }
    }
}
