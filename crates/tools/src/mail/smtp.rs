//! SMTP: everything up to the message itself, which can be broken off; then the message, which can't.

use super::config::{MailAccount, MailServer, Security};
use super::{Login, connection};
use crate::error::{ToolsError, refused};
use crate::outbound::HostPort;
use crate::text::one_line;
use lettre::Address;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use secrecy::ExposeSecret as _;
use std::time::Duration;
use steward_core::provenance::Consulted;

/// Mechanisms that send the password; the connection is protected, or local.
const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];

const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct SmtpSession {
    connection: AsyncSmtpConnection,
    server: String,
}

/// Whatever the server says from now on is noted in `consulted`.
pub(super) async fn connect(
    account: &MailAccount,
    server: &MailServer,
    login: Option<&Login>,
    allow: &[HostPort],
    consulted: &Consulted,
) -> Result<SmtpSession, ToolsError> {
    consulted.outside(&format!("mail server {server}"));
    let hello = ClientId::default();
    let failed =
        |what: &'static str| move |error: Error| refused!("the mail server {server} {what}: {}", error_text(&error));
    let mut connection = if server.security == Security::Tls {
        let place = (server.host.as_str(), server.port);
        let tls = Some(tls_parameters(account, server)?);
        AsyncSmtpConnection::connect_tokio1(place, Some(connection::CONNECT), &hello, tls, None)
            .await
            .map_err(failed("can't be reached over TLS (check its name, port and certificate)"))?
    } else {
        let stream = Box::new(connection::connect_tcp(server, allow).await?);
        let connected = AsyncSmtpConnection::connect_with_transport(stream, &hello).await;
        connected.map_err(failed("gives no proper answer"))?
    };
    if server.security == Security::StartTls {
        if !connection.can_starttls() {
            return Err(refused!("the mail server {server} offers no STARTTLS; use smtps://, or another port"));
        }
        let upgraded = connection.starttls(tls_parameters(account, server)?, &hello).await;
        upgraded.map_err(failed("can't be spoken to safely"))?;
    }
    if let Some(login) = login {
        let secret = login.password.expose_secret().to_owned();
        let credentials = Credentials::new(login.user.clone(), secret);
        let entered = connection.auth(&MECHANISMS, &credentials).await;
        entered.map_err(|error| {
            refused!(
                "the mail server {server} does not let the account {} in ({}); check its credential",
                account.name,
                error_text(&error)
            )
        })?;
    }
    Ok(SmtpSession { connection, server: server.to_string() })
}

fn tls_parameters(account: &MailAccount, server: &MailServer) -> Result<TlsParameters, ToolsError> {
    let bad = |error: Error| refused!("TLS with {server}: {}", error_text(&error));
    let mut parameters = TlsParameters::builder(server.host.clone());
    for authority in connection::extra_roots(account.ca.as_deref())? {
        let known = Certificate::from_der(authority.to_vec()).map_err(bad)?;
        parameters = parameters.add_root_certificate(known);
    }
    parameters.build_rustls().map_err(bad)
}

fn error_text(error: &Error) -> String {
    one_line(&error.to_string())
}

impl SmtpSession {
    /// Sends the sender and the recipients. If one is refused, nothing is sent to the others.
    pub async fn name_recipients(&mut self, from: &Address, to: &[Address]) -> Result<(), ToolsError> {
        let server = &self.server;
        let refuses = |what: String| {
            move |error: Error| {
                refused!("the mail server {server} refuses {what} ({}); nothing was sent", error_text(&error))
            }
        };
        let sender = self.connection.command(Mail::new(Some(from.clone()), Vec::new())).await;
        sender.map_err(refuses(format!("the sender {from}")))?;
        for one in to {
            let taken = self.connection.command(Rcpt::new(one.clone(), Vec::new())).await;
            taken.map_err(refuses(format!("the recipient {one}")))?;
        }
        self.connection.command(Data).await.map_err(refuses("the message".to_owned()))?;
        Ok(())
    }

    /// Sends the message. What the server replies to it is left out: its words are not ours.
    pub async fn deliver(mut self, message: &str) -> Result<(), ToolsError> {
        match self.connection.message(message.as_bytes()).await {
            Ok(_) => {
                // The message is accepted; the answer to QUIT doesn't matter.
                tokio::spawn(self.quit());
                Ok(())
            }
            Err(error) if error.status().is_some() => Err(refused!(
                "the mail server {} refuses the message ({}); nothing was sent",
                self.server,
                error_text(&error)
            )),
            Err(error) => Err(refused!(
                "the connection to {} broke off while the message was handed over ({}): it may or may not have been sent; look into the sent mail, or ask the recipient, before trying again",
                self.server,
                error_text(&error)
            )),
        }
    }

    pub async fn quit(mut self) {
        let _ = tokio::time::timeout(QUIT_TIMEOUT, self.connection.abort()).await;
    }
}
