//! From a connection to a session that is logged in.

use super::answer::Answer;
use super::session::{Piece, Session};
use crate::error::ToolsError;
use crate::mail::account::{MailAccount, MailServer, Security};
use crate::mail::desk::Login;
use crate::mail::link;
use crate::web::HostPort;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use secrecy::{ExposeSecret as _, SecretString};

/// Connects, protects the connection and logs in.
pub(in crate::mail) async fn connect(
    account: &MailAccount,
    server: &MailServer,
    login: Option<&Login>,
    allow: &[HostPort],
) -> Result<Session, ToolsError> {
    let stream = link::tcp(server, allow).await?;
    let ca = account.ca.as_deref();
    let mut session = match server.security {
        Security::Tls => {
            let mut session = Session::new(link::tls(stream, server, ca).await?, server.to_string());
            greeting(&mut session).await?;
            session
        }
        Security::Plain => {
            let mut session = Session::new(Box::new(stream), server.to_string());
            greeting(&mut session).await?;
            session
        }
        Security::StartTls => start_tls(stream, server, ca).await?,
    };
    if let Some(login) = login {
        enter(&mut session, account, login).await?;
    }
    Ok(session)
}

async fn greeting(session: &mut Session) -> Result<(), ToolsError> {
    let text = session.answer().await?.text();
    let upper = text.to_uppercase();
    if upper.starts_with("* OK") || upper.starts_with("* PREAUTH") {
        return Ok(());
    }
    Err(session.broken(&text))
}

/// Nothing that came before TLS is believed after it: what was read ahead is dropped with the old session.
async fn start_tls(
    stream: tokio::net::TcpStream,
    server: &MailServer,
    ca: Option<&[u8]>,
) -> Result<Session, ToolsError> {
    let mut session = Session::new(Box::new(stream), server.to_string());
    greeting(&mut session).await?;
    let started = session.command(vec![Piece::Words("STARTTLS".to_owned())]).await?;
    started.map_err(|said| {
        ToolsError::Refused(format!(
            "the mail server {server} offers no STARTTLS ({said}); use imaps://, or another port"
        ))
    })?;
    let stream = link::tls(session.into_stream(), server, ca).await?;
    Ok(Session::new(stream, server.to_string()))
}

async fn capabilities(session: &mut Session) -> Result<Vec<String>, ToolsError> {
    let answers = session.command(vec![Piece::Words("CAPABILITY".to_owned())]).await?;
    let answers = answers.map_err(|said| session.broken(&said))?;
    let words = answers.iter().flat_map(Answer::tokens);
    Ok(words.filter_map(|token| token.word()).collect())
}

async fn enter(session: &mut Session, account: &MailAccount, login: &Login) -> Result<(), ToolsError> {
    let can = capabilities(session).await?;
    let has = |name: &str| can.iter().any(|word| word == name);
    let refused = |session: &Session, said: &str| {
        ToolsError::Refused(format!(
            "the mail server {} does not let the account {} in ({said}); check its credential",
            session.server(),
            account.name
        ))
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
            session.go_on(&tag).await?;
            session.write(&format!("{}\r\n", coded.expose_secret())).await?;
        }
        session.finish(&tag).await?
    } else if has("LOGINDISABLED") {
        return Err(refused(session, "it takes no passwords on this connection"));
    } else {
        let password = login.password.expose_secret().to_owned();
        let pieces = vec![Piece::Words("LOGIN".to_owned()), Piece::Text(login.user.clone()), Piece::Text(password)];
        session.command(pieces).await?
    };
    entered.map(|_| ()).map_err(|said| refused(session, &said))
}
