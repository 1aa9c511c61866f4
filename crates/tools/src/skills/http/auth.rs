//! From a credential to what a request shows of it.

use super::exchange::Exchange;
use super::oauth::Oauth;
use crate::error::ToolsError;
use crate::skills::Job;
use crate::web::{Answer, Ask};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Identity, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::collections::BTreeMap;
use steward_core::credential::CredentialKind;
use steward_core::ports::OpenedCredential;

/// Whether the author of a skill has put the credential in a place of their own.
pub(in crate::skills) fn places_credential(
    headers: &BTreeMap<String, String>,
    form: &BTreeMap<String, String>,
    body: Option<&Value>,
) -> bool {
    let holds = |text: &str| text.contains("{{credential.") || text.contains("{{ credential.");
    headers.values().chain(form.values()).any(|text| holds(text)) || body.is_some_and(|body| holds(&body.to_string()))
}

pub(super) fn field<'a>(opened: &'a OpenedCredential, name: &str) -> Option<&'a str> {
    opened.fields.get(name).map(ExposeSecret::expose_secret)
}

fn needed<'a>(opened: &'a OpenedCredential, name: &str) -> Result<&'a str, ToolsError> {
    field(opened, name).ok_or_else(|| {
        ToolsError::Refused(format!(
            "the credential {} has no field `{name}`; an operator can add it",
            opened.credential.name
        ))
    })
}

/// A secret as the value of a header.
pub(super) fn header(text: &str) -> Result<HeaderValue, ToolsError> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        ToolsError::refused("the credential holds a line break or another control character; an operator must mend it")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Puts credentials into requests. Access tokens that were handed out are kept until they end.
#[derive(Default)]
pub(in crate::skills) struct Authorizer {
    oauth: Oauth,
}

impl Authorizer {
    /// Sends `ask` with the credential of the call. `placed`: the skill shows it in a place of its
    /// own, so nothing is added.
    pub async fn send(
        &self,
        mut ask: Ask,
        job: &Job<'_>,
        placed: bool,
        exchange: &Exchange<'_>,
    ) -> Result<Answer, ToolsError> {
        let Some(opened) = job.secret.filter(|_| !placed) else {
            return exchange.send(ask).await;
        };
        match opened.credential.kind {
            CredentialKind::ApiKey => {
                let key = needed(opened, "key")?;
                match field(opened, "header") {
                    Some(name) => {
                        let name: HeaderName = name.trim().parse().map_err(|_| {
                            ToolsError::refused(
                                "the credential's `header` is no name of a header; an operator must mend it",
                            )
                        })?;
                        ask.headers.insert(name, header(key)?);
                    }
                    None => bearer(&mut ask, key)?,
                }
            }
            CredentialKind::Token => bearer(&mut ask, needed(opened, "token")?)?,
            CredentialKind::Password => {
                let user = needed(opened, "username")?;
                let pair = format!("{user}:{}", needed(opened, "password")?);
                let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
                ask.headers.insert(AUTHORIZATION, header(&basic)?);
            }
            CredentialKind::Certificate => ask.identity = Some(identity(opened)?),
            CredentialKind::Oauth2 => return self.with_oauth(ask, opened, exchange).await,
            kind @ (CredentialKind::SshKey | CredentialKind::Database) => {
                return Err(ToolsError::Refused(format!(
                    "a credential of the kind {} can't be shown to a web server; name another one in the skill",
                    kind.as_str()
                )));
            }
        }
        exchange.send(ask).await
    }

    /// A token that the server does not take any more is replaced once.
    async fn with_oauth(
        &self,
        ask: Ask,
        opened: &OpenedCredential,
        exchange: &Exchange<'_>,
    ) -> Result<Answer, ToolsError> {
        let token = self.oauth.token(opened, exchange, None).await?;
        let answer = exchange.send(shown(&ask, &token)?).await?;
        if answer.status != StatusCode::UNAUTHORIZED || !Oauth::renews(opened) {
            return Ok(answer);
        }
        let token = self.oauth.token(opened, exchange, Some(&token)).await?;
        exchange.send(shown(&ask, &token)?).await
    }
}

fn shown(ask: &Ask, token: &SecretString) -> Result<Ask, ToolsError> {
    let mut ask = ask.clone();
    bearer(&mut ask, token.expose_secret())?;
    Ok(ask)
}

fn bearer(ask: &mut Ask, token: &str) -> Result<(), ToolsError> {
    let value = header(&format!("Bearer {token}"))?;
    ask.headers.insert(AUTHORIZATION, value);
    Ok(())
}

fn identity(opened: &OpenedCredential) -> Result<Identity, ToolsError> {
    let (certificate, key) = (needed(opened, "certificate")?, needed(opened, "private_key")?);
    let pem = format!("{}\n{}\n", certificate.trim_end(), key.trim_end());
    // The cause may quote the input.
    Identity::from_pem(pem.as_bytes()).map_err(|_| {
        ToolsError::Refused(format!(
            "the certificate or private key of {} can't be read; both must be PEM",
            opened.credential.name
        ))
    })
}
