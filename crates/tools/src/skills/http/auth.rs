//! Credentials in requests, with OAuth 2 access tokens (RFC 6749) from client credentials or a refresh token.

use super::exchange::Exchange;
use super::request::parse_allow_list;
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::outbound::{Client, HttpRequest, HttpResponse};
use crate::skills::SkillCall;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Identity, Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use steward_core::credential::CredentialKind;
use steward_core::locks::lock;
use steward_core::ports::OpenedCredential;
use steward_core::skill::Skill;
use steward_core::{CredentialId, Timestamp};
use url::form_urlencoded::{Serializer, byte_serialize};

/// A token is replaced this long before it expires.
const RENEW_BEFORE: Duration = Duration::from_secs(30);
/// Lifetime of a token that names none, seconds.
const DEFAULT_LIFETIME: u64 = 300;
const MAX_CACHED_TOKENS: usize = 1000;

/// Whether a template of the skill places the credential.
pub(super) fn places_credential<'a>(mut texts: impl Iterator<Item = &'a String>, body: Option<&Value>) -> bool {
    let holds = |text: &str| text.contains("{{credential.") || text.contains("{{ credential.");
    texts.any(|text| holds(text)) || body.is_some_and(|body| holds(&body.to_string()))
}

fn field<'a>(opened: &'a OpenedCredential, name: &str) -> Option<&'a str> {
    opened.fields.get(name).map(ExposeSecret::expose_secret)
}

fn required_field<'a>(opened: &'a OpenedCredential, name: &str) -> Result<&'a str, ToolsError> {
    field(opened, name).ok_or_else(|| {
        refused!("the credential {} has no field `{name}`; an operator can add it", opened.credential.name)
    })
}

fn header(text: &str) -> Result<HeaderValue, ToolsError> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        ToolsError::refused("the credential holds a line break or another control character; an operator must mend it")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn basic(user: &str, password: &str) -> Result<HeaderValue, ToolsError> {
    header(&format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
}

fn with_bearer(mut request: HttpRequest, token: &str) -> Result<HttpRequest, ToolsError> {
    request.headers.insert(AUTHORIZATION, header(&format!("Bearer {token}"))?);
    Ok(request)
}

struct CachedToken {
    /// A token of a credential that was changed since is not used.
    changed_at: Timestamp,
    access: SecretString,
    /// A refresh token that came with the access token, and may replace the credential's.
    refresh: Option<SecretString>,
    until: Instant,
}

pub(in crate::skills) struct AuthorizedClient {
    client: Client,
    tokens: Mutex<BTreeMap<CredentialId, CachedToken>>,
}

impl AuthorizedClient {
    pub fn new(client: Client) -> Self {
        Self { client, tokens: Mutex::default() }
    }

    /// For the requests of one call; `allow`: the further hosts of the skill.
    pub fn exchange<'a>(
        &self,
        skill: &'a Skill,
        context: &'a Context,
        allow: &[String],
        retries: u8,
    ) -> Result<Exchange<'a>, ToolsError> {
        Ok(Exchange { client: self.client.allowing(parse_allow_list(allow)?), skill, context, retries })
    }

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
                    None => request = with_bearer(request, key)?,
                }
            }
            CredentialKind::Token => request = with_bearer(request, required_field(opened, "token")?)?,
            CredentialKind::Password => {
                let pair = basic(required_field(opened, "username")?, required_field(opened, "password")?)?;
                request.headers.insert(AUTHORIZATION, pair);
            }
            CredentialKind::Certificate => request.identity = Some(identity(opened)?),
            CredentialKind::Oauth2 => return self.send_with_token(request, opened, exchange).await,
            kind @ (CredentialKind::SshKey | CredentialKind::Database) => {
                return Err(refused!(
                    "a credential of the kind {} can't be shown to a web server; name another one in the skill",
                    kind.as_str()
                ));
            }
        }
        exchange.send(request).await
    }

    async fn send_with_token(
        &self,
        request: HttpRequest,
        opened: &OpenedCredential,
        exchange: &Exchange<'_>,
    ) -> Result<HttpResponse, ToolsError> {
        let token = self.token(opened, exchange, None).await?;
        let answer = exchange.send(with_bearer(request.clone(), token.expose_secret())?).await?;
        if answer.status != StatusCode::UNAUTHORIZED || !can_renew(opened) {
            return Ok(answer);
        }
        let token = self.token(opened, exchange, Some(&token)).await?;
        exchange.send(with_bearer(request, token.expose_secret())?).await
    }

    /// A token for this credential, other than `refused`.
    async fn token(
        &self,
        opened: &OpenedCredential,
        exchange: &Exchange<'_>,
        refused: Option<&SecretString>,
    ) -> Result<SecretString, ToolsError> {
        let bad = |token: &SecretString| refused.is_some_and(|bad| bad.expose_secret() == token.expose_secret());
        let (cached, refresh) = self.cached(opened);
        let given = opened.fields.get("access_token").cloned();
        let known = cached.or_else(|| given.filter(|_| refused.is_none()));
        if let Some(token) = known.filter(|token| !bad(token)) {
            register_secret(exchange, &token);
            return Ok(token);
        }
        if !can_renew(opened) {
            return Err(refused!(
                "the credential {} has no access token and nothing to get one with; an operator must add a client_secret or a refresh_token",
                opened.credential.name
            ));
        }
        let answer = request_token(opened, refresh.as_ref(), exchange).await?;
        self.keep(opened, &answer, exchange)
    }

    /// The access token if it is fresh, and the refresh token.
    fn cached(&self, opened: &OpenedCredential) -> (Option<SecretString>, Option<SecretString>) {
        let tokens = lock(&self.tokens);
        let one = tokens.get(&opened.credential.id).filter(|one| one.changed_at == opened.credential.changed_at);
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
        let Some(access) = secret("access_token").filter(|_| answer.status.is_success()) else {
            let why = [&body["error"], &body["error_description"]].into_iter().filter_map(Value::as_str);
            return Err(refused!(
                "no access token for {}: the server answered {} {}; an operator must renew the credential",
                opened.credential.name,
                answer.status.as_u16(),
                why.collect::<Vec<_>>().join(": ")
            ));
        };
        let refresh = secret("refresh_token");
        for token in [Some(&access), refresh.as_ref()].into_iter().flatten() {
            register_secret(exchange, token);
        }
        let life = body["expires_in"].as_u64().unwrap_or(DEFAULT_LIFETIME).min(86_400 * 365);
        let until = Instant::now() + Duration::from_secs(life);
        let kept = CachedToken { changed_at: opened.credential.changed_at, access: access.clone(), refresh, until };
        let mut tokens = lock(&self.tokens);
        if tokens.len() >= MAX_CACHED_TOKENS {
            tokens.clear();
        }
        tokens.insert(opened.credential.id, kept);
        Ok(access)
    }
}

fn identity(opened: &OpenedCredential) -> Result<Identity, ToolsError> {
    let (certificate, key) = (required_field(opened, "certificate")?, required_field(opened, "private_key")?);
    let pem = format!("{}\n{}\n", certificate.trim_end(), key.trim_end());
    // The cause may quote the input.
    Identity::from_pem(pem.as_bytes()).map_err(|_| {
        refused!("the certificate or private key of {} can't be read; both must be PEM", opened.credential.name)
    })
}

fn can_renew(opened: &OpenedCredential) -> bool {
    field(opened, "token_url").is_some()
        && (field(opened, "refresh_token").is_some() || field(opened, "client_secret").is_some())
}

fn register_secret(exchange: &Exchange<'_>, token: &SecretString) {
    exchange.context.learned("access_token", token.clone());
}

async fn request_token(
    opened: &OpenedCredential,
    refresh: Option<&SecretString>,
    exchange: &Exchange<'_>,
) -> Result<HttpResponse, ToolsError> {
    let url = url::Url::parse(field(opened, "token_url").unwrap_or(""))
        .map_err(|_| ToolsError::refused("the credential's `token_url` is no URL; an operator must mend it"))?;
    let mut grant = match refresh.map(ExposeSecret::expose_secret).or(field(opened, "refresh_token")) {
        Some(token) => vec![("grant_type", "refresh_token"), ("refresh_token", token)],
        None => vec![("grant_type", "client_credentials")],
    };
    grant.extend(field(opened, "scope").map(|scope| ("scope", scope)));
    let form = |client: &[(&str, &str)]| {
        Serializer::new(String::new()).extend_pairs(&grant).extend_pairs(client).finish().into_bytes()
    };
    let mut request = HttpRequest::get(url);
    request.method = Method::POST;
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let mut in_body = request.clone();
    let id = field(opened, "client_id").unwrap_or("");
    let Some(secret) = field(opened, "client_secret") else {
        request.body = form(&[("client_id", id)]);
        return exchange.send(request).await;
    };
    let [encoded_id, encoded_secret] = [id, secret].map(|text| byte_serialize(text.as_bytes()).collect::<String>());
    exchange.context.learned("client_secret", format!("{encoded_id}:{encoded_secret}").into());
    request.headers.insert(AUTHORIZATION, basic(&encoded_id, &encoded_secret)?);
    request.body = form(&[]);
    let answer = exchange.send(request).await?;
    // Some servers accept the client's secret only in the body.
    if !matches!(answer.status.as_u16(), 400 | 401) {
        return Ok(answer);
    }
    in_body.body = form(&[("client_id", id), ("client_secret", secret)]);
    exchange.send(in_body).await
}
