//! Looking into a mailbox.

use super::answer::{Answer, Token};
use super::name;
use super::session::{Piece, Session};
use crate::error::ToolsError;

/// The header lines that a list shows.
const FIELDS: &str = "BODY.PEEK[HEADER.FIELDS (FROM TO CC SUBJECT DATE MESSAGE-ID)]";
/// Mailboxes named where one is missing.
const NAMED: usize = 40;

/// A message as a list knows it.
#[derive(Debug, Clone, Default)]
pub(in crate::mail) struct Header {
    pub uid: u64,
    pub seen: bool,
    pub bytes: u64,
    /// Some of its header lines.
    pub head: Vec<u8>,
}

/// What a search looks for; each one narrows it.
#[derive(Debug, Clone, Default)]
pub(in crate::mail) struct Wanted {
    pub from: Option<String>,
    pub subject: Option<String>,
    pub text: Option<String>,
    /// `1-Nov-2026`
    pub since: Option<String>,
    pub before: Option<String>,
    pub unread: bool,
}

impl Wanted {
    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut text = |key: &str, value: &Option<String>| {
            if let Some(value) = value {
                pieces.push(Piece::Words(key.to_owned()));
                pieces.push(Piece::Text(value.clone()));
            }
        };
        text("FROM", &self.from);
        text("SUBJECT", &self.subject);
        text("TEXT", &self.text);
        for (key, day) in [("SINCE", &self.since), ("BEFORE", &self.before)] {
            if let Some(day) = day {
                pieces.push(Piece::Words(format!("{key} {day}")));
            }
        }
        if self.unread {
            pieces.push(Piece::Words("UNSEEN".to_owned()));
        }
        if pieces.is_empty() {
            pieces.push(Piece::Words("ALL".to_owned()));
        }
        pieces
    }

    fn is_ascii(&self) -> bool {
        let all = [&self.from, &self.subject, &self.text];
        all.into_iter().flatten().all(|text| text.is_ascii())
    }
}

fn words(text: impl Into<String>) -> Piece {
    Piece::Words(text.into())
}

impl Session {
    /// Opens a mailbox for looking only; how many messages it has.
    pub(in crate::mail) async fn examine(&mut self, mailbox: &str) -> Result<u64, ToolsError> {
        if mailbox.chars().any(char::is_control) {
            return Err(ToolsError::refused("the name of a mailbox is a single line"));
        }
        let wire = Piece::Text(name::encode(mailbox));
        match self.command(vec![words("EXAMINE"), wire]).await? {
            Ok(answers) => Ok(answers.iter().find_map(exists).unwrap_or(0)),
            Err(said) => {
                let known = self.mailboxes().await?;
                let known: Vec<String> = known.into_iter().take(NAMED).collect();
                Err(ToolsError::Refused(format!(
                    "the mailbox {mailbox} can't be opened ({said}); there are {}",
                    known.join(", ")
                )))
            }
        }
    }

    async fn mailboxes(&mut self) -> Result<Vec<String>, ToolsError> {
        let answers = self.command(vec![words("LIST \"\" \"*\"")]).await?;
        let answers = answers.map_err(|said| self.broken(&said))?;
        let names = answers.iter().filter_map(|answer| {
            let tokens = answer.tokens();
            let is_list = tokens.get(1).and_then(Token::word).as_deref() == Some("LIST");
            match tokens.last().filter(|_| is_list)? {
                Token::Word(name) => Some(name::decode(name)),
                Token::Text(bytes) => Some(name::decode(&String::from_utf8_lossy(bytes))),
                _ => None,
            }
        });
        Ok(names.collect())
    }

    /// Uids of the messages that fit, oldest first.
    pub(in crate::mail) async fn search(&mut self, wanted: &Wanted) -> Result<Vec<u64>, ToolsError> {
        let charset = if wanted.is_ascii() { "UID SEARCH" } else { "UID SEARCH CHARSET UTF-8" };
        let mut pieces = vec![words(charset)];
        pieces.extend(wanted.pieces());
        let answers = self.command(pieces).await?.map_err(|said| {
            ToolsError::Refused(format!(
                "the mail server {} can't search for that ({said}); search for something simpler",
                self.server()
            ))
        })?;
        let mut found: Vec<u64> = answers
            .iter()
            .map(Answer::tokens)
            .filter(|tokens| tokens.get(1).and_then(Token::word).as_deref() == Some("SEARCH"))
            .flat_map(|tokens| tokens.iter().skip(2).filter_map(Token::number).collect::<Vec<_>>())
            .collect();
        found.sort_unstable();
        Ok(found)
    }

    /// The last `count` of `exists` messages.
    pub(in crate::mail) async fn latest(&mut self, exists: u64, count: u64) -> Result<Vec<Header>, ToolsError> {
        if exists == 0 {
            return Ok(Vec::new());
        }
        let first = exists.saturating_sub(count) + 1;
        self.fetch(&format!("FETCH {first}:{exists}")).await
    }

    pub(in crate::mail) async fn headers(&mut self, uids: &[u64]) -> Result<Vec<Header>, ToolsError> {
        if uids.is_empty() {
            return Ok(Vec::new());
        }
        let set: Vec<String> = uids.iter().map(u64::to_string).collect();
        self.fetch(&format!("UID FETCH {}", set.join(","))).await
    }

    async fn fetch(&mut self, what: &str) -> Result<Vec<Header>, ToolsError> {
        let command = format!("{what} (UID FLAGS RFC822.SIZE {FIELDS})");
        let answers = self.command(vec![words(command)]).await?;
        let answers = answers.map_err(|said| self.broken(&said))?;
        let mut found: Vec<Header> = answers.iter().filter_map(header).collect();
        found.sort_by_key(|one| one.uid);
        found.dedup_by_key(|one| one.uid);
        Ok(found)
    }

    /// A message, its first `most` bytes; `None` if there is none of this uid.
    pub(in crate::mail) async fn message(&mut self, uid: u64, most: usize) -> Result<Option<Header>, ToolsError> {
        let command = format!("UID FETCH {uid} (UID FLAGS RFC822.SIZE BODY.PEEK[]<0.{most}>)");
        let answers = self.command(vec![words(command)]).await?;
        let answers = answers.map_err(|said| self.broken(&said))?;
        Ok(answers.iter().filter_map(header).find(|one| one.uid == uid))
    }
}

/// `* 23 EXISTS`
fn exists(answer: &Answer) -> Option<u64> {
    let tokens = answer.tokens();
    let is = tokens.get(2)?.word()? == "EXISTS";
    tokens.get(1).filter(|_| is)?.number()
}

/// `* 3 FETCH (UID 7 FLAGS (…) RFC822.SIZE 99 BODY[…] …)`
fn header(answer: &Answer) -> Option<Header> {
    let tokens = answer.tokens();
    if tokens.get(2)?.word()? != "FETCH" {
        return None;
    }
    let mut header = Header::default();
    let mut rest = tokens.get(4..)?.iter();
    while let Some(token) = rest.next() {
        let Some(key) = token.word() else { continue };
        match key.as_str() {
            "UID" => header.uid = rest.next()?.number()?,
            "RFC822.SIZE" => header.bytes = rest.next()?.number()?,
            "FLAGS" => {
                let flags = rest.by_ref().take_while(|token| **token != Token::Close);
                header.seen = flags.filter_map(Token::word).any(|flag| flag == "\\SEEN");
            }
            key if key.starts_with("BODY[") => {
                if let Token::Text(bytes) = rest.next()? {
                    header.head.clone_from(bytes);
                }
            }
            _ => {}
        }
    }
    (header.uid > 0).then_some(header)
}
