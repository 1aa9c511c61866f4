//! Commands and their answers.

use super::answer::{Answer, literal};
use super::name::quote;
use crate::error::ToolsError;
use crate::mail::link::Wire;
use std::fmt::Write as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

/// Bytes that a server may send in one session.
const MOST: usize = 24 << 20;
/// Longest line without its literals.
const LINE: usize = 1 << 20;

pub(super) enum Piece {
    Words(String),
    /// A string, quoted or as a literal.
    Text(String),
}

pub(in crate::mail) struct Session {
    stream: BufReader<Box<dyn Wire>>,
    tags: u32,
    left: usize,
    server: String,
}

impl Session {
    pub(super) fn new(stream: Box<dyn Wire>, server: String) -> Self {
        Self { stream: BufReader::new(stream), tags: 0, left: MOST, server }
    }

    pub(super) fn into_stream(self) -> Box<dyn Wire> {
        self.stream.into_inner()
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn broken(&self, why: &str) -> ToolsError {
        ToolsError::Refused(format!("the mail server {} gives no proper answer ({why}); try again later", self.server))
    }

    async fn line(&mut self) -> Result<Vec<u8>, ToolsError> {
        let most = LINE.min(self.left);
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

    pub(super) async fn answer(&mut self) -> Result<Answer, ToolsError> {
        let mut answer = Answer::default();
        loop {
            let line = self.line().await?;
            let length = literal(&line);
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

    /// Waits for the server's word to go on.
    pub(super) async fn go_on(&mut self, tag: &str) -> Result<(), ToolsError> {
        loop {
            let text = self.answer().await?.text();
            if text.starts_with('+') {
                return Ok(());
            }
            if let Some(said) = text.strip_prefix(tag) {
                return Err(ToolsError::Refused(format!("the mail server {} refuses: {}", self.server, said.trim())));
            }
        }
    }

    pub(super) fn tag(&mut self) -> String {
        self.tags += 1;
        format!("a{}", self.tags)
    }

    /// Sends a command; its untagged answers, or what the server said against it.
    pub(super) async fn command(&mut self, pieces: Vec<Piece>) -> Result<Result<Vec<Answer>, String>, ToolsError> {
        let tag = self.tag();
        let mut text = tag.clone();
        for piece in pieces {
            text.push(' ');
            match piece {
                Piece::Words(words) => text.push_str(&words),
                Piece::Text(value) => {
                    if let Some(quoted) = quote(&value) {
                        text.push_str(&quoted);
                        continue;
                    }
                    let _ = write!(text, "{{{}}}\r\n", value.len());
                    self.write(&text).await?;
                    self.go_on(&tag).await?;
                    text = value;
                }
            }
        }
        text.push_str("\r\n");
        self.write(&text).await?;
        self.finish(&tag).await
    }

    /// Reads up to the end of the command of this tag.
    pub(super) async fn finish(&mut self, tag: &str) -> Result<Result<Vec<Answer>, String>, ToolsError> {
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

    pub(in crate::mail) async fn leave(mut self) {
        let tag = self.tag();
        let _ = self.write(&format!("{tag} LOGOUT\r\n")).await;
        let _ = self.stream.get_mut().shutdown().await;
    }
}
