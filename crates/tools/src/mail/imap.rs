//! An IMAP client (RFC 3501) that only reads (EXAMINE, PEEK), with bounds on what a server may send.

mod protocol;

pub(super) use protocol::ImapSession;

use super::config::{MailAccount, MailServer, Security};
use super::{Login, connection};
use crate::error::{ToolsError, refused};
use crate::outbound::HostPort;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use connection::MailStream;
use jiff::civil::Date;
use protocol::{CommandPart, Response, Token};
use secrecy::{ExposeSecret as _, SecretString};
use steward_core::provenance::Consulted;

/// Whatever the server says from now on is noted in `consulted`.
pub(in crate::mail) async fn connect(
    account: &MailAccount,
    server: &MailServer,
    login: Option<&Login>,
    allow: &[HostPort],
    consulted: &Consulted,
) -> Result<ImapSession, ToolsError> {
    consulted.outside(&format!("mail server {server}"));
    let stream = connection::connect_tcp(server, allow).await?;
    let ca = account.ca.as_deref();
    let stream: Box<dyn MailStream> = match server.security {
        Security::Tls => connection::wrap_tls(stream, server, ca).await?,
        Security::Plain | Security::StartTls => Box::new(stream),
    };
    let mut session = ImapSession::new(stream, server.to_string());
    greeting(&mut session).await?;
    if server.security == Security::StartTls {
        session = start_tls(session, server, ca).await?;
    }
    if let Some(login) = login {
        authenticate(&mut session, account, login).await?;
    }
    Ok(session)
}

async fn greeting(session: &mut ImapSession) -> Result<(), ToolsError> {
    let text = session.answer().await?.text();
    let upper = text.to_uppercase();
    if upper.starts_with("* OK") || upper.starts_with("* PREAUTH") {
        return Ok(());
    }
    Err(session.broken(&text))
}

/// What the server sent before TLS is not trusted: it is dropped with the old session.
async fn start_tls(
    mut session: ImapSession,
    server: &MailServer,
    ca: Option<&[u8]>,
) -> Result<ImapSession, ToolsError> {
    let started = session.command(vec![raw("STARTTLS")]).await?;
    started.map_err(|said| {
        refused!("the mail server {server} offers no STARTTLS ({said}); use imaps://, or another port")
    })?;
    let stream = connection::wrap_tls(session.into_stream(), server, ca).await?;
    Ok(ImapSession::new(stream, server.to_string()))
}

async fn authenticate(session: &mut ImapSession, account: &MailAccount, login: &Login) -> Result<(), ToolsError> {
    let can: Vec<Token> = session.ask("CAPABILITY").await?.iter().flat_map(Response::tokens).collect();
    let has = |name: &str| can.iter().any(|token| token.is(name));
    let server = session.server().to_owned();
    let refused = |said: String| {
        let name = &account.name;
        refused!("the mail server {server} does not let the account {name} in ({said}); check its credential")
    };
    let entered = if has("AUTH=PLAIN") {
        let text = format!("\0{}\0{}", login.user, login.password.expose_secret());
        let coded = SecretString::from(BASE64_STANDARD.encode(text));
        let tag = session.tag();
        if has("SASL-IR") {
            let line = format!("{tag} AUTHENTICATE PLAIN {}\r\n", coded.expose_secret());
            session.write(&line).await?;
        } else {
            session.write(&format!("{tag} AUTHENTICATE PLAIN\r\n")).await?;
            session.wait_for_continuation(&tag).await?;
            session.write(&format!("{}\r\n", coded.expose_secret())).await?;
        }
        session.finish(&tag).await?
    } else if has("LOGINDISABLED") {
        return Err(refused("it takes no passwords on this connection".to_owned()));
    } else {
        let password = login.password.expose_secret().to_owned();
        session.command(vec![raw("LOGIN"), CommandPart::Text(login.user.clone()), CommandPart::Text(password)]).await?
    };
    entered.map(|_| ()).map_err(refused)
}

const FIELDS: &str = "BODY.PEEK[HEADER.FIELDS (FROM TO CC SUBJECT DATE MESSAGE-ID)]";
/// Mailboxes that are named where one is missing.
const MAX_NAMED_MAILBOXES: usize = 40;

#[derive(Debug, Clone, Default)]
pub(in crate::mail) struct Header {
    pub uid: u64,
    pub seen: bool,
    pub bytes: u64,
    /// The header fields, or the whole message.
    pub head: Vec<u8>,
}

/// Search criteria, all of which must fit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::mail) struct MailQuery {
    /// Keys of IMAP, such as `FROM`, and the text that must be there.
    pub texts: Vec<(&'static str, String)>,
    /// `SINCE` and `BEFORE`.
    pub days: Vec<(&'static str, Date)>,
    pub unread: bool,
}

impl MailQuery {
    fn command_parts(&self) -> Vec<CommandPart> {
        let is_ascii = self.texts.iter().all(|(_, text)| text.is_ascii());
        let mut parts = vec![raw(if is_ascii { "UID SEARCH" } else { "UID SEARCH CHARSET UTF-8" })];
        parts.extend(self.texts.iter().flat_map(|(key, text)| [raw(*key), CommandPart::Text(text.clone())]));
        parts.extend(self.days.iter().map(|(key, day)| raw(format!("{key} {}", day.strftime("%-d-%b-%Y")))));
        if self.unread {
            parts.push(raw("UNSEEN"));
        }
        parts
    }
}

fn raw(text: impl Into<String>) -> CommandPart {
    CommandPart::Raw(text.into())
}

impl ImapSession {
    /// Sends a command that a proper server doesn't refuse.
    async fn ask(&mut self, words: &str) -> Result<Vec<Response>, ToolsError> {
        let answers = self.command(vec![raw(words)]).await?;
        answers.map_err(|said| self.broken(&said))
    }

    /// Opens a mailbox read-only. Returns how many messages it has.
    pub(in crate::mail) async fn examine(&mut self, mailbox: &str) -> Result<u64, ToolsError> {
        if mailbox.chars().any(char::is_control) {
            return Err(ToolsError::refused("the name of a mailbox is a single line"));
        }
        let wire = CommandPart::Text(protocol::encode_mailbox(mailbox));
        match self.command(vec![raw("EXAMINE"), wire]).await? {
            Ok(answers) => Ok(answers.iter().find_map(exists_count).unwrap_or(0)),
            Err(said) => {
                let known = self.mailboxes().await?;
                let known: Vec<String> = known.into_iter().take(MAX_NAMED_MAILBOXES).collect();
                Err(refused!("the mailbox {mailbox} can't be opened ({said}); there are {}", known.join(", ")))
            }
        }
    }

    async fn mailboxes(&mut self) -> Result<Vec<String>, ToolsError> {
        let answers = self.ask("LIST \"\" \"*\"").await?;
        let names = answers.iter().filter_map(|answer| {
            let tokens = answer.tokens();
            let is_list = tokens.get(1)?.is("LIST");
            match tokens.last().filter(|_| is_list)? {
                Token::Word(name) => Some(protocol::decode_mailbox(name)),
                Token::Text(bytes) => Some(protocol::decode_mailbox(&String::from_utf8_lossy(bytes))),
                _ => None,
            }
        });
        Ok(names.collect())
    }

    /// Uids of the matching messages, oldest first.
    pub(in crate::mail) async fn search(&mut self, wanted: &MailQuery) -> Result<Vec<u64>, ToolsError> {
        let answers = self.command(wanted.command_parts()).await?.map_err(|said| {
            refused!("the mail server {} can't search for that ({said}); search for something simpler", self.server())
        })?;
        let mut found: Vec<u64> = answers
            .iter()
            .map(Response::tokens)
            .filter(|tokens| tokens.get(1).is_some_and(|token| token.is("SEARCH")))
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
        self.fetch(&format!("FETCH {first}:{exists}"), FIELDS).await
    }

    pub(in crate::mail) async fn headers(&mut self, uids: &[u64]) -> Result<Vec<Header>, ToolsError> {
        if uids.is_empty() {
            return Ok(Vec::new());
        }
        let set: Vec<String> = uids.iter().map(u64::to_string).collect();
        self.fetch(&format!("UID FETCH {}", set.join(",")), FIELDS).await
    }

    async fn fetch(&mut self, what: &str, body: &str) -> Result<Vec<Header>, ToolsError> {
        let answers = self.ask(&format!("{what} (UID FLAGS RFC822.SIZE {body})")).await?;
        let mut found: Vec<Header> = answers.iter().filter_map(header_of).collect();
        found.sort_by_key(|one| one.uid);
        found.dedup_by_key(|one| one.uid);
        Ok(found)
    }

    /// The first `most` bytes of a message; `None` if there is none with this uid.
    pub(in crate::mail) async fn message(&mut self, uid: u64, most: usize) -> Result<Option<Header>, ToolsError> {
        let found = self.fetch(&format!("UID FETCH {uid}"), &format!("BODY.PEEK[]<0.{most}>")).await?;
        Ok(found.into_iter().find(|one| one.uid == uid))
    }
}

/// `* 23 EXISTS`
fn exists_count(answer: &Response) -> Option<u64> {
    let tokens = answer.tokens();
    tokens.get(2).filter(|token| token.is("EXISTS"))?;
    tokens.get(1)?.number()
}

/// `* 3 FETCH (UID 7 FLAGS (…) RFC822.SIZE 99 BODY[…] …)`
fn header_of(answer: &Response) -> Option<Header> {
    let tokens = answer.tokens();
    tokens.get(2).filter(|token| token.is("FETCH"))?;
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
