//! Credentials in requests, with OAuth 2 access tokens (RFC 6749) from client credentials or a refresh token.

use super::exchange::Exchange;
use crate::error::{ToolsError, refused};
use crate::outbound::{HttpRequest, HttpResponse};
use crate::skills::SkillCall;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Identity, Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use steward_core::credential::CredentialKind;
use steward_core::ports::OpenedCredential;
use steward_core::{CredentialId, Timestamp};
use url::form_urlencoded::Serializer;

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

fn required_field<'a>(opened: &'a OpenedCredential, name: &str) -> Result<&'a str, ToolsError> {
    field(opened, name).ok_or_else(|| {
        refused!("the credential {} has no field `{name}`; an operator can add it", opened.credential.name)
    })
}

pub(super) fn header(text: &str) -> Result<HeaderValue, ToolsError> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        ToolsError::refused("the credential holds a line break or another control character; an operator must mend it")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[derive(Default)]
pub(in crate::skills) struct Authorizer {
    oauth: Oauth,
}

impl Authorizer {
    /// Sends `request` with the call's credential; adds nothing if the skill places it by a template (`placed`).
    pub async fn send(
        &self,
        mut request: HttpRequest,
        job: &SkillCall<'_>,
        placed: bool,
        exchange: &Exchange<'_>,
    ) -> Result<HttpResponse, ToolsError> {
        let Some(opened) = job.secret.filter(|_| !placed) else {
            return exchange.send(request).await;
        };
        match opened.credential.kind {
            CredentialKind::ApiKey => {
                let key = required_field(opened, "key")?;
                match field(opened, "header") {
                    Some(name) => {
                        let name: HeaderName = name.trim().parse().map_err(|_| {
                            ToolsError::refused(
                                "the credential's `header` is no name of a header; an operator must mend it",
                            )
                        })?;
                        request.headers.insert(name, header(key)?);
                    }
                    None => bearer(&mut request, key)?,
                }
            }
            CredentialKind::Token => bearer(&mut request, required_field(opened, "token")?)?,
            CredentialKind::Password => {
                let user = required_field(opened, "username")?;
                let pair = format!("{user}:{}", required_field(opened, "password")?);
                let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
                request.headers.insert(AUTHORIZATION, header(&basic)?);
            }
            CredentialKind::Certificate => request.identity = Some(identity(opened)?),
            CredentialKind::Oauth2 => return self.with_oauth(request, opened, exchange).await,
            kind @ (CredentialKind::SshKey | CredentialKind::Database) => {
                return Err(refused!(
                    "a credential of the kind {} can't be shown to a web server; name another one in the skill",
                    kind.as_str()
                ));
            }
        }
        exchange.send(request).await
    }

    async fn with_oauth(
        &self,
        request: HttpRequest,
        opened: &OpenedCredential,
        exchange: &Exchange<'_>,
    ) -> Result<HttpResponse, ToolsError> {
        let token = self.oauth.token(opened, exchange, None).await?;
        let answer = exchange.send(with_bearer(&request, &token)?).await?;
        if answer.status != StatusCode::UNAUTHORIZED || !Oauth::can_renew(opened) {
            return Ok(answer);
        }
        let token = self.oauth.token(opened, exchange, Some(&token)).await?;
        exchange.send(with_bearer(&request, &token)?).await
    }
}

fn with_bearer(request: &HttpRequest, token: &SecretString) -> Result<HttpRequest, ToolsError> {
    let mut request = request.clone();
    bearer(&mut request, token.expose_secret())?;
    Ok(request)
}

fn bearer(request: &mut HttpRequest, token: &str) -> Result<(), ToolsError> {
    let value = header(&format!("Bearer {token}"))?;
    request.headers.insert(AUTHORIZATION, value);
    Ok(())
}

fn identity(opened: &OpenedCredential) -> Result<Identity, ToolsError> {
    let (certificate, key) = (required_field(opened, "certificate")?, required_field(opened, "private_key")?);
    let pem = format!("{}\n{}\n", certificate.trim_end(), key.trim_end());
    // The cause may quote the input.
    Identity::from_pem(pem.as_bytes()).map_err(|_| {
        refused!("the certificate or private key of {} can't be read; both must be PEM", opened.credential.name)
    })
}

/// A token is replaced this long before it expires.
const RENEW_BEFORE: Duration = Duration::from_secs(30);
/// Lifetime of a token that names none, seconds.
const DEFAULT_LIFETIME: u64 = 300;
const MAX_CACHED_TOKENS: usize = 1000;

struct CachedToken {
    /// A token of a credential that was changed since is not used.
    changed_at: Timestamp,
    access: SecretString,
    /// A refresh token that came with the access token, and may replace the credential's.
    refresh: Option<SecretString>,
    until: Instant,
}

#[derive(Default)]
struct Oauth {
    held: Mutex<BTreeMap<CredentialId, CachedToken>>,
}

impl Oauth {
    pub fn can_renew(opened: &OpenedCredential) -> bool {
        field(opened, "token_url").is_some()
            && (field(opened, "refresh_token").is_some() || field(opened, "client_secret").is_some())
    }

    /// A token for this credential, other than `refused`.
    pub async fn token(
        &self,
        opened: &OpenedCredential,
        exchange: &Exchange<'_>,
        refused: Option<&SecretString>,
    ) -> Result<SecretString, ToolsError> {
        let bad = |token: &SecretString| refused.is_some_and(|bad| bad.expose_secret() == token.expose_secret());
        let (held, refresh) = self.held(opened);
        let given = opened.fields.get("access_token").cloned();
        let known = held.or_else(|| given.filter(|_| refused.is_none()));
        if let Some(token) = known.filter(|token| !bad(token)) {
            register_secret(exchange, &token);
            return Ok(token);
        }
        if !Self::can_renew(opened) {
            return Err(refused!(
                "the credential {} has no access token and nothing to get one with; an operator must add a client_secret or a refresh_token",
                opened.credential.name
            ));
        }
        let answer = request_token(opened, refresh.as_ref(), exchange).await?;
        self.keep(opened, &answer, exchange)
    }

    fn held(&self, opened: &OpenedCredential) -> (Option<SecretString>, Option<SecretString>) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let one = held.get(&opened.credential.id);
        let one = one.filter(|one| one.changed_at == opened.credential.changed_at);
        let fresh = one.filter(|one| Instant::now() + RENEW_BEFORE < one.until);
        (fresh.map(|one| one.access.clone()), one.and_then(|one| one.refresh.clone()))
    }

    fn keep(
        &self,
        opened: &OpenedCredential,
        answer: &HttpResponse,
        exchange: &Exchange<'_>,
    ) -> Result<SecretString, ToolsError> {
        let body: Value = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
        let secret = |name: &str| body[name].as_str().map(SecretString::from);
        let access = secret("access_token").filter(|_| answer.status.is_success());
        let Some(access) = access else {
            let why = [&body["error"], &body["error_description"]]
                .into_iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(": ");
            return Err(refused!(
                "no access token for {}: the server answered {} {why}; an operator must renew the credential",
                opened.credential.name,
                answer.status.as_u16()
            ));
        };
        let refresh = secret("refresh_token");
        for token in [Some(&access), refresh.as_ref()].into_iter().flatten() {
            register_secret(exchange, token);
        }
        let life = body["expires_in"].as_u64().unwrap_or(DEFAULT_LIFETIME).min(86_400 * 365);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= MAX_CACHED_TOKENS {
            held.clear();
        }
        held.insert(
            opened.credential.id,
            CachedToken {
                changed_at: opened.credential.changed_at,
                access: access.clone(),
                refresh,
                until: Instant::now() + Duration::from_secs(life),
            },
        );
        Ok(access)
    }
}

fn register_secret(exchange: &Exchange<'_>, token: &SecretString) {
    exchange.context.learned("access_token", token.clone());
}

fn grant(opened: &OpenedCredential, refresh: Option<&SecretString>) -> String {
    let refresh = refresh.map(ExposeSecret::expose_secret);
    let mut pairs = match refresh.or(field(opened, "refresh_token")) {
        Some(token) => vec![("grant_type", "refresh_token"), ("refresh_token", token)],
        None => vec![("grant_type", "client_credentials")],
    };
    pairs.extend(field(opened, "scope").map(|scope| ("scope", scope)));
    with(String::new(), &pairs)
}

fn with(form: String, pairs: &[(&str, &str)]) -> String {
    Serializer::new(form).extend_pairs(pairs).finish()
}

async fn request_token(
    opened: &OpenedCredential,
    refresh: Option<&SecretString>,
    exchange: &Exchange<'_>,
) -> Result<HttpResponse, ToolsError> {
    let url = field(opened, "token_url").unwrap_or("");
    let url = url::Url::parse(url)
        .map_err(|_| ToolsError::refused("the credential's `token_url` is no URL; an operator must mend it"))?;
    let id = field(opened, "client_id").unwrap_or("");
    let secret = field(opened, "client_secret");
    let mut request = HttpRequest::get(url);
    request.method = Method::POST;
    let media = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers.insert(CONTENT_TYPE, media);
    let json = HeaderValue::from_static("application/json");
    request.headers.insert(ACCEPT, json);
    let mut in_body = request.clone();
    let mut fields = grant(opened, refresh);
    match secret {
        Some(secret) => {
            let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encode(id), encode(secret));
            exchange.context.learned("client_secret", pair.clone().into());
            let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
            request.headers.insert(AUTHORIZATION, header(&basic)?);
        }
        None => fields = with(fields, &[("client_id", id)]),
    }
    request.body = fields.clone().into_bytes();
    let answer = exchange.send(request).await?;
    // Some servers accept the client's secret only in the body.
    let Some(secret) = secret.filter(|_| matches!(answer.status.as_u16(), 400 | 401)) else {
        return Ok(answer);
    };
    let fields = with(fields, &[("client_id", id), ("client_secret", secret)]);
    in_body.body = fields.into_bytes();
    exchange.send(in_body).await
}
