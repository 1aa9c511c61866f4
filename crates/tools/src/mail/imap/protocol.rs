use crate::error::{ToolsError, refused};
use crate::mail::connection::MailStream;
use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::UTF_16BE;
use std::fmt::Write as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

/// Bytes that a server may send in one session.
const SESSION_BYTES: usize = 24 << 20;
/// Longest line without its literals.
const LINE_BYTES: usize = 1 << 20;

pub(super) enum CommandPart {
    Raw(String),
    /// A string, quoted or as a literal.
    Text(String),
}

pub(in crate::mail) struct ImapSession {
    stream: BufReader<Box<dyn MailStream>>,
    tags: u32,
    left: usize,
    server: String,
}

impl ImapSession {
    pub(super) fn new(stream: Box<dyn MailStream>, server: String) -> Self {
        Self { stream: BufReader::new(stream), tags: 0, left: SESSION_BYTES, server }
    }

    pub(super) fn into_stream(self) -> Box<dyn MailStream> {
        self.stream.into_inner()
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn broken(&self, why: &str) -> ToolsError {
        refused!("the mail server {} gives no proper answer ({why}); try again later", self.server)
    }

    async fn line(&mut self) -> Result<Vec<u8>, ToolsError> {
        let most = LINE_BYTES.min(self.left);
        let mut line = Vec::new();
        let mut bounded = (&mut self.stream).take(u64::try_from(most).unwrap_or(u64::MAX));
        let read = bounded.read_until(b'\n', &mut line).await;
        read.map_err(|error| self.broken(&error.to_string()))?;
        self.left -= line.len();
        match line.last() {
            Some(b'\n') => Ok(line),
            Some(_) if line.len() >= most => Err(self.broken("it sends too much")),
            _ => Err(self.broken("it closed the connection")),
        }
    }

    pub(super) async fn answer(&mut self) -> Result<Response, ToolsError> {
        let mut answer = Response::default();
        loop {
            let line = self.line().await?;
            let length = literal_length(&line);
            answer.lines.push(line);
            let Some(length) = length else {
                return Ok(answer);
            };
            if length > self.left {
                return Err(self.broken("it sends too much"));
            }
            self.left -= length;
            let mut bytes = vec![0; length];
            let read = self.stream.read_exact(&mut bytes).await;
            read.map_err(|error| self.broken(&error.to_string()))?;
            answer.literals.push(bytes);
        }
    }

    pub(super) async fn write(&mut self, text: &str) -> Result<(), ToolsError> {
        let stream = self.stream.get_mut();
        let sent = async {
            stream.write_all(text.as_bytes()).await?;
            stream.flush().await
        };
        sent.await.map_err(|error| self.broken(&error.to_string()))
    }

    pub(super) async fn wait_for_continuation(&mut self, tag: &str) -> Result<(), ToolsError> {
        loop {
            let text = self.answer().await?.text();
            if text.starts_with('+') {
                return Ok(());
            }
            if let Some(said) = text.strip_prefix(tag) {
                return Err(refused!("the mail server {} refuses: {}", self.server, said.trim()));
            }
        }
    }

    pub(super) fn tag(&mut self) -> String {
        self.tags += 1;
        format!("a{}", self.tags)
    }

    /// Sends a command. Returns its untagged responses, or the server's refusal.
    pub(super) async fn command(
        &mut self,
        pieces: Vec<CommandPart>,
    ) -> Result<Result<Vec<Response>, String>, ToolsError> {
        let tag = self.tag();
        let mut text = tag.clone();
        for piece in pieces {
            text.push(' ');
            match piece {
                CommandPart::Raw(words) => text.push_str(&words),
                CommandPart::Text(value) => {
                    if let Some(quoted) = quoted_string(&value) {
                        text.push_str(&quoted);
                        continue;
                    }
                    let _ = write!(text, "{{{}}}\r\n", value.len());
                    self.write(&text).await?;
                    self.wait_for_continuation(&tag).await?;
                    text = value;
                }
            }
        }
        text.push_str("\r\n");
        self.write(&text).await?;
        self.finish(&tag).await
    }

    /// Reads up to the end of the command with this tag.
    pub(super) async fn finish(&mut self, tag: &str) -> Result<Result<Vec<Response>, String>, ToolsError> {
        let mut answers = Vec::new();
        loop {
            let answer = self.answer().await?;
            let text = answer.text();
            let Some(said) = text.strip_prefix(tag).and_then(|rest| rest.strip_prefix(' ')) else {
                answers.push(answer);
                continue;
            };
            let (word, said) = said.split_once(' ').unwrap_or((said, ""));
            return Ok(match word.to_uppercase().as_str() {
                "OK" => Ok(answers),
                _ => Err(said.trim().to_owned()),
            });
        }
    }

    pub(in crate::mail) async fn logout(mut self) {
        let tag = self.tag();
        let _ = self.write(&format!("{tag} LOGOUT\r\n")).await;
        let _ = self.stream.get_mut().shutdown().await;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word: `FETCH`, `12`, `BODY[HEADER]`, `\Seen`.
    Word(String),
    Text(Vec<u8>),
    /// `(`
    Open,
    Close,
}

impl Token {
    pub fn word(&self) -> Option<String> {
        match self {
            Self::Word(word) => Some(word.to_uppercase()),
            _ => None,
        }
    }

    /// Whether it is this word, which is given in upper case.
    pub fn is(&self, word: &str) -> bool {
        self.word().is_some_and(|own| own == word)
    }

    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Word(word) => word.parse().ok(),
            _ => None,
        }
    }
}

/// A response: lines with the literals that follow all of them but the last.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub lines: Vec<Vec<u8>>,
    pub literals: Vec<Vec<u8>>,
}

impl Response {
    pub fn text(&self) -> String {
        let first = self.lines.first().map(Vec::as_slice).unwrap_or_default();
        String::from_utf8_lossy(first).trim_end().to_owned()
    }

    /// Its tokens; what can't be read is left out.
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
                let end = word_length(rest);
                tokens.push(Token::Word(String::from_utf8_lossy(&rest[..end]).into_owned()));
                rest = &rest[end..];
            }
        }
    }
}

fn quoted(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut out = Vec::new();
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => out.push(*rest.next().unwrap_or(byte)),
            byte => out.push(*byte),
        }
    }
    (out, rest.as_slice())
}

/// Length of a word; square brackets and their content belong to it.
fn word_length(text: &[u8]) -> usize {
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

pub(super) fn literal_length(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n"))?;
    let inner = line.strip_suffix(b"}")?;
    let from = inner.iter().rposition(|byte| *byte == b'{')? + 1;
    std::str::from_utf8(&inner[from..]).ok()?.parse().ok()
}

const MODIFIED_UTF7: GeneralPurpose = GeneralPurpose::new(
    &IMAP_MUTF7,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(super) fn encode_mailbox(name: &str) -> String {
    let mut out = String::new();
    let mut wide: Vec<u8> = Vec::new();
    let flush = |wide: &mut Vec<u8>, out: &mut String| {
        if !wide.is_empty() {
            out.push('&');
            MODIFIED_UTF7.encode_string(&*wide, out);
            out.push('-');
        }
        wide.clear();
    };
    for letter in name.chars() {
        if matches!(letter, ' '..='~') {
            flush(&mut wide, &mut out);
            out.push(letter);
            if letter == '&' {
                out.push('-');
            }
        } else {
            let mut units = [0; 2];
            let units = letter.encode_utf16(&mut units);
            wide.extend(units.iter().flat_map(|unit| unit.to_be_bytes()));
        }
    }
    flush(&mut wide, &mut out);
    out
}

/// The name in Unicode; what can't be decoded stays as it is.
pub(super) fn decode_mailbox(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((head, tail)) = rest.split_once('&') {
        out.push_str(head);
        let Some((coded, after)) = tail.split_once('-') else {
            out.push('&');
            rest = tail;
            continue;
        };
        let bytes = MODIFIED_UTF7.decode(coded).ok();
        match bytes.as_deref().and_then(|wide| UTF_16BE.decode_without_bom_handling_and_without_replacement(wide)) {
            Some(_) if coded.is_empty() => out.push('&'),
            Some(text) => out.push_str(&text),
            None => {
                out.push('&');
                out.push_str(coded);
                out.push('-');
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A quoted string; `None` if only a literal can hold the text.
pub(super) fn quoted_string(text: &str) -> Option<String> {
    if text.len() > 1000 || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Response, Token, decode_mailbox, encode_mailbox, literal_length, quoted_string};
    use proptest::prelude::*;

    #[test]
    fn fetched_data_is_taken_apart() {
        let answer = Response {
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
        assert_eq!(literal_length(b"* x {12}\r\n"), Some(12));
        assert_eq!(literal_length(b"* x {12} \r\n"), None);
        assert_eq!(literal_length(b"{99999999999999999999999}\r\n"), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fail(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let answer = Response { lines: vec![line.clone()], literals: Vec::new() };
            answer.tokens();
            literal_length(&line);
        }
    }

    #[test]
    fn names_over_the_wire() {
        for (name, wire) in
            [("INBOX", "INBOX"), ("Entwürfe", "Entw&APw-rfe"), ("A & B", "A &- B"), ("台北", "&U,BTFw-")]
        {
            assert_eq!(encode_mailbox(name), wire);
            assert_eq!(decode_mailbox(wire), name);
        }
        assert_eq!(decode_mailbox("a&b"), "a&b");
        assert_eq!(quoted_string("a\"\\b").unwrap(), "\"a\\\"\\\\b\"");
        assert_eq!(quoted_string("ü"), None);
        assert_eq!(quoted_string("a\r\nb"), None);
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in "\\PC{0,40}") {
            let wire = encode_mailbox(&name);
            prop_assert!(wire.is_ascii());
            prop_assert_eq!(decode_mailbox(&wire), name);
        }

        #[test]
        fn no_name_makes_it_fail(name in "[&a-zA-Z0-9+,-]{0,40}") {
            decode_mailbox(&name);
        }
    }
}
