//! OAuth access tokens: cached, refreshed, or granted to a client. Login servers too are behind the address guard.

use super::error::McpError;
use super::failure::error_chain;
use crate::credential::CredentialUser;
use crate::error::{ToolsError, refused};
use crate::outbound::{HostPort, PinnedClient};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::ports::{CredentialChange, OpenedCredential, Vault};
use steward_core::{CredentialId, Timestamp};
use url::{Url, form_urlencoded};

/// A token that expires sooner than this is renewed first.
const RENEW_BEFORE: Duration = Duration::from_secs(30);
/// Lifetime in memory of a token whose server names none.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(5);

/// Field of a credential that says how its login server takes the client's secret.
pub(super) const TOKEN_AUTH: &str = "token_auth";
pub(super) const IN_BODY: &str = "client_secret_post";

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    #[serde(default)]
    refresh_token: Option<String>,
    #[serde(default)]
    expires_in: Option<u64>,
}

struct Cached {
    token: SecretString,
    until: Timestamp,
    /// When the credential that it was made from was changed last.
    of: Timestamp,
}

#[derive(Clone, Copy)]
pub(in crate::mcp) struct TokenRequest<'a> {
    pub by: CredentialUser<'a>,
    pub server: &'a str,
    pub resource: &'a str,
    pub opened: &'a OpenedCredential,
    /// Whether the present token was refused, so that a new one is needed.
    pub anew: bool,
}

#[derive(Default)]
pub(in crate::mcp) struct Tokens {
    cached: Mutex<HashMap<CredentialId, Cached>>,
    /// One renewal at a time, since a refresh token is often valid for one use only.
    renewing: tokio::sync::Mutex<()>,
}

impl Tokens {
    pub async fn token(
        &self,
        vault: &dyn Vault,
        guarded: &LoginHttp,
        mut wanted: TokenRequest<'_>,
    ) -> Result<SecretString, McpError> {
        if let Some(token) = self.cached(&wanted) {
            return Ok(token);
        }
        let _one = self.renewing.lock().await;
        let CredentialUser { tenant, at, .. } = wanted.by;
        let credential = &wanted.opened.credential;
        let now = vault.credential(tenant, credential.id).await?;
        let newer;
        if now.changed_at != credential.changed_at {
            // Another call has renewed it meanwhile, which used up the refresh token.
            newer = vault.open(tenant, credential.id, wanted.by.uses(credential.id)).await?;
            wanted = TokenRequest { opened: &newer, anew: false, ..wanted };
        }
        if let Some(token) = self.cached(&wanted) {
            return Ok(token);
        }
        let OpenedCredential { credential, fields, .. } = wanted.opened;
        let refresh = fields.get("refresh_token");
        if refresh.is_none() && !fields.contains_key("client_secret") {
            return Err(login_error(&wanted, "its token has ended"));
        }
        let granted = request_token(guarded, &wanted, refresh).await?;
        let token = SecretString::from(granted.access_token.as_str());
        if refresh.is_some() {
            let new_refresh = granted.refresh_token.as_deref();
            let fields = granted_fields(&granted.access_token, new_refresh, granted.expires_in, at);
            vault.change(tenant, credential.id, CredentialChange { fields, ..CredentialChange::default() }).await?;
            return Ok(token);
        }
        let lasts = granted.expires_in.map_or(DEFAULT_LIFETIME, Duration::from_secs);
        let made = Cached { token: token.clone(), until: at.plus(lasts), of: credential.changed_at };
        let mut cached = lock(&self.cached);
        cached.insert(credential.id, made);
        Ok(token)
    }

    fn cached(&self, wanted: &TokenRequest<'_>) -> Option<SecretString> {
        if wanted.anew {
            return None;
        }
        let fresh = |until: Timestamp| wanted.by.at.plus(RENEW_BEFORE) < until;
        let fields = &wanted.opened.fields;
        if let Some(token) = fields.get("access_token") {
            let until = fields.get("access_until").and_then(|text| text.expose_secret().parse().ok()).map(Timestamp);
            return until.is_none_or(fresh).then(|| token.clone());
        }
        let credential = &wanted.opened.credential;
        let cached = lock(&self.cached);
        let known = cached.get(&credential.id)?;
        (known.of == credential.changed_at && fresh(known.until)).then(|| known.token.clone())
    }
}

pub(super) fn granted_fields(
    access: &str,
    refresh: Option<&str>,
    expires_in: Option<u64>,
    now: Timestamp,
) -> BTreeMap<String, SecretString> {
    let mut fields = BTreeMap::from([("access_token".to_owned(), SecretString::from(access))]);
    if let Some(refresh) = refresh {
        fields.insert("refresh_token".to_owned(), refresh.into());
    }
    let lasts = expires_in.map_or(DEFAULT_LIFETIME, Duration::from_secs);
    let until = if expires_in.is_some() || refresh.is_some() { now.plus(lasts) } else { Timestamp(i64::MAX) };
    fields.insert("access_until".to_owned(), until.0.to_string().into());
    fields
}

fn login_error(wanted: &TokenRequest<'_>, why: &str) -> McpError {
    McpError::Login {
        server: wanted.server.to_owned(),
        hint: format!("{why}; log in anew (steward mcp login {})", wanted.server),
        challenge: None,
    }
}

async fn request_token(
    guarded: &LoginHttp,
    wanted: &TokenRequest<'_>,
    refresh: Option<&SecretString>,
) -> Result<TokenResponse, McpError> {
    let field = |name: &str| wanted.opened.fields.get(name).map(SecretString::expose_secret);
    let name = &wanted.opened.credential.name;
    let (Some(url), Some(id)) = (field("token_url"), field("client_id")) else {
        return Err(McpError::Invalid(format!("the credential {name} lacks token_url or client_id; set them")));
    };
    let secret = field("client_secret").filter(|secret| !secret.is_empty());
    // By Basic authentication, as every server must take it, unless this one said that it takes the body only; then the other.
    let body_first = field(TOKEN_AUTH) == Some(IN_BODY);
    for basic in [!body_first, body_first] {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        let body = match secret {
            Some(secret) if basic => {
                headers.insert(AUTHORIZATION, basic_header(id, secret));
                request_form(wanted, refresh, &[])
            }
            Some(secret) => request_form(wanted, refresh, &[("client_id", id), ("client_secret", secret)]),
            None => request_form(wanted, refresh, &[("client_id", id)]),
        };
        let answer = guarded.send(Method::POST, url, headers, body).await?;
        if answer.status().is_success() {
            return serde_json::from_slice(answer.body())
                .map_err(|_| McpError::Invalid(format!("the token endpoint of {name} answered no token")));
        }
        let said = serde_json::from_slice::<Value>(answer.body()).unwrap_or_default();
        let unknown = answer.status() == StatusCode::UNAUTHORIZED || said["error"] == "invalid_client";
        if unknown && secret.is_some() && basic != body_first {
            continue;
        }
        let why = said["error"].as_str().map_or_else(|| answer.status().to_string(), plain_code);
        return Err(login_error(wanted, &format!("its login server refused ({why})")));
    }
    Err(login_error(wanted, "its login server refused the client"))
}

fn request_form(wanted: &TokenRequest<'_>, refresh: Option<&SecretString>, client: &[(&str, &str)]) -> Vec<u8> {
    let field = |name: &str| wanted.opened.fields.get(name).map(SecretString::expose_secret);
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", if refresh.is_some() { "refresh_token" } else { "client_credentials" });
    let refresh = refresh.map(SecretString::expose_secret);
    let resource = field("resource").or(Some(wanted.resource));
    for (key, value) in [("refresh_token", refresh), ("scope", field("scope")), ("resource", resource)] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            form.append_pair(key, value);
        }
    }
    form.extend_pairs(client).finish().into_bytes()
}

/// An error code of the protocol; nothing else of an answer is shown.
pub(in crate::mcp) fn plain_code(code: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    code.chars().filter(plain).take(40).collect()
}

fn basic_header(id: &str, secret: &str) -> HeaderValue {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let both = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
    let mut value =
        HeaderValue::try_from(format!("Basic {both}")).unwrap_or_else(|_| HeaderValue::from_static("Basic"));
    value.set_sensitive(true);
    value
}

const MAX_REDIRECTS: usize = 5;
const TIMEOUT: Duration = Duration::from_secs(20);
const BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(in crate::mcp) struct LoginHttp {
    pub allow: Vec<HostPort>,
}

impl LoginHttp {
    /// Sends one request without following redirects.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Vec<u8>>, ToolsError> {
        let work = async {
            let pinned = PinnedClient::connect(url, &self.allow).await?;
            if pinned.plaintext && !matches!(method, Method::GET | Method::HEAD) {
                return Err(refused!(
                    "secrets are not sent to {} over plain http; the login server must use https",
                    pinned.url
                ));
            }
            let failed = |error: reqwest::Error| {
                refused!(
                    "the login server {} gave no proper answer: {}",
                    pinned.url.host_str().unwrap_or("?"),
                    error_chain(&error.without_url())
                )
            };
            let request = pinned.client.request(method, pinned.url.clone());
            let mut answer = request.headers(headers).body(body).send().await.map_err(failed)?;
            let mut bytes = Vec::new();
            while let Some(chunk) = answer.chunk().await.map_err(failed)? {
                if bytes.len() + chunk.len() > BYTES {
                    return Err(ToolsError::refused("the login server's answer is too large"));
                }
                bytes.extend_from_slice(&chunk);
            }
            let mut response = Response::new(bytes);
            *response.status_mut() = answer.status();
            *response.headers_mut() = answer.headers().clone();
            Ok(response)
        };
        tokio::time::timeout(TIMEOUT, work)
            .await
            .unwrap_or_else(|_| Err(refused!("the login server gave no answer within {} s", TIMEOUT.as_secs())))
    }

    async fn follow(&self, request: OAuthHttpRequest) -> Result<Response<Vec<u8>>, ToolsError> {
        let (parts, body) = request.request.into_parts();
        let mut url = parts.uri.to_string();
        // A request with a secret is not redirected.
        let follows = parts.method == Method::GET && matches!(request.redirect_policy, OAuthHttpRedirectPolicy::Follow);
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.send(parts.method.clone(), &url, parts.headers.clone(), body.clone()).await?;
            let moved = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
            let location = answer.headers().get(LOCATION).filter(|_| follows && moved);
            let Some(location) = location.and_then(|value| value.to_str().ok()) else {
                return Ok(answer);
            };
            let next = Url::parse(&url).and_then(|from| from.join(location));
            let next = next.map_err(|_| ToolsError::refused("the login server redirects to no URL"))?;
            if url.starts_with("https:") && next.scheme() != "https" {
                return Err(ToolsError::refused("the login server redirects from https to plain http"));
            }
            url = next.into();
        }
        Err(ToolsError::refused("the login server redirects without end"))
    }
}

impl OAuthHttpClient for LoginHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { self.follow(request).await.map_err(Into::into) })
    }
}
