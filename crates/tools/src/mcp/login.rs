use super::connect::{Secrets, open_connection};
use super::credentials::Caller;
use super::error::McpError;
use super::failure::error_chain;
use super::oauth_token::{IN_BODY, LoginHttp, TOKEN_AUTH, granted_fields, plain_code};
use super::{McpHub, credentials};
use crate::credential::{self, CredentialUser};
use crate::skills::parse_allow_list;
use http::{HeaderMap, Method};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationRequest, AuthorizationSession,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::locks::lock;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::ports::{CredentialChange, NewCredential};
use steward_core::skill::CredentialWanted;
use steward_core::{McpServerId, TenantId, Timestamp, UserId, hash};
use url::Url;

#[derive(Debug, Clone, Copy)]
pub enum LoginAnswer<'a> {
    Code {
        code: &'a str,
        /// Issuer of the code (RFC 9207).
        issuer: Option<&'a str>,
    },
    /// The person did not agree, or something is wrong.
    Refused { error: &'a str },
}

impl McpHub {
    /// Begins a login (authorization code with PKCE): finds the login server, as the server named it when it refused a request;
    /// registers a client unless the server's credential names one or the login server looks clients up; and builds the
    /// address that a person opens. What was granted before is asked for again.
    pub async fn begin_login(&self, request: LoginRequest) -> Result<LoginStarted, McpError> {
        let server = self.ports.servers.mcp_server(request.tenant, request.server).await?;
        let McpTransport::Http { url, allow } = &server.transport else {
            return Err(McpError::Invalid(format!(
                "`{}` is a local program; it takes no login, but a credential in `secret_variable`",
                server.name
            )));
        };
        let owner = server.per_user.then_some(request.user);
        let before = self.login_before(&server, request.tenant, owner).await?;
        let known = match given_client(&before) {
            Some(known) => Some(known),
            None => self.known_client(&server, &request).await?,
        };
        let guarded = LoginHttp { allow: parse_allow_list(allow)? };
        let now = self.ports.clock.now();
        let failed = |error: AuthError| login_failure(&error, &request.redirect_uri);
        let challenge = self.logins.challenges.get(request.tenant, server.id, owner);
        let challenge = match challenge {
            Some(known) => Some(known),
            None => self.ask_challenge(&server).await,
        };
        let manager = AuthorizationManager::new_with_oauth_http_client(url, Arc::new(guarded)).await;
        let mut manager = manager.map_err(failed)?;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(failed)?;
        if !found.source.is_discovered() {
            return Err(McpError::Invalid(
                "this server publishes no login server (RFC 9728, RFC 8414); give it a token or an api_key as its credential"
                    .to_owned(),
            ));
        }
        let token_url = found.metadata.token_endpoint.clone();
        let issuer = found.metadata.issuer.clone();
        let in_body = takes_secret_in_body_only(&found.metadata);
        let looks_up = found.metadata.additional_fields.get("client_id_metadata_document_supported");
        let looks_up = looks_up == Some(&Value::Bool(true));
        manager.set_metadata(found.metadata);
        let mut scopes = manager.select_initial_scopes(&[]).await;
        // Rights belong to one login server.
        if text_of(&before, ISSUER) == issuer {
            let granted = text_of(&before, "scope").unwrap_or_default();
            for scope in granted.split_whitespace() {
                if !scopes.iter().any(|asked| asked == scope) {
                    scopes.push(scope.to_owned());
                }
            }
        }
        let client_url = request.client_url.as_deref().filter(|_| looks_up);
        let client = if let Some(known) = known {
            known
        } else if let Some(url) = client_url
            && is_published(url).await
        {
            OAuthClient { id: url.to_owned(), ..OAuthClient::default() }
        } else {
            let wanted: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let registered = manager.register_client("Steward", &request.redirect_uri, &wanted);
            let registered = registered.await.map_err(failed)?;
            OAuthClient {
                id: registered.client_id,
                secret: registered.client_secret.map(Into::into),
                ..OAuthClient::default()
            }
        };
        let mut asked = AuthorizationRequest::new(request.redirect_uri.clone())
            .with_scopes(scopes.clone())
            .with_preregistered_client(client.id.clone());
        if let Some(secret) = &client.secret {
            asked = asked.with_client_secret(secret.expose_secret());
        }
        let session = AuthorizationSession::new(manager, asked).await;
        let session = session.map_err(|(_, error)| failed(error))?;
        let url = session.get_authorization_url().to_owned();
        let Some(state) = query_value(&url, "state") else {
            return Err(McpError::Invalid("the login server's address holds no state".to_owned()));
        };
        let mut waiting = lock(&self.logins.waiting);
        waiting.retain(|_, one| now < one.until);
        if waiting.len() >= MAX_LOGINS {
            return Err(McpError::Invalid("too many logins are under way; finish one, or wait ten minutes".to_owned()));
        }
        let until = now.plus(LOGIN_TIMEOUT);
        let one = PendingLogin { request, session, client, token_url, issuer, in_body, scopes, until };
        waiting.insert(state.clone(), one);
        let id = login_id(&state);
        Ok(LoginStarted { url, state, id })
    }

    /// What the server asks for when it gets no token: its `WWW-Authenticate`.
    async fn ask_challenge(&self, server: &McpServer) -> Option<String> {
        match Box::pin(open_connection(&self.config, server, None, &Secrets::default())).await {
            Err(McpError::Login { challenge, .. }) => challenge,
            Err(McpError::Scope { challenge, .. }) => Some(challenge),
            _ => None,
        }
    }

    /// Keeps what a server said that it wants, for the next login there.
    pub(super) fn note_challenge(&self, server: &McpServer, who: &Caller<'_>, error: &McpError) {
        let (McpError::Login { challenge: Some(challenge), .. } | McpError::Scope { challenge, .. }) = error else {
            return;
        };
        self.logins.challenges.note(who.by.tenant, server.id, who.owner(server), challenge);
    }

    /// The fields of the login that is kept for the server, or for this user there.
    async fn login_before(
        &self,
        server: &McpServer,
        tenant: TenantId,
        owner: Option<UserId>,
    ) -> Result<BTreeMap<String, SecretString>, McpError> {
        let vault = self.ports.vault.as_ref();
        let found = credential::by_name(vault, tenant, &credentials::login_name(server, owner)).await?;
        let Some(found) = found.filter(|found| found.kind == CredentialKind::Oauth2) else {
            return Ok(BTreeMap::new());
        };
        let by = CredentialUser { tenant, run: None, agent: None, at: self.ports.clock.now(), tool: "mcp" };
        Ok(vault.open(tenant, found.id, by.uses(found.id)).await?.fields)
    }

    async fn known_client(&self, server: &McpServer, request: &LoginRequest) -> Result<Option<OAuthClient>, McpError> {
        let name = server.credential.as_ref().and_then(|wanted| wanted.name.as_deref());
        // A client that registered itself for an earlier login may not know this redirect address.
        let Some(name) = name.filter(|name| *name != credentials::login_name(server, None)) else {
            return Ok(None);
        };
        let (vault, tenant) = (self.ports.vault.as_ref(), request.tenant);
        let found = credential::by_name(vault, tenant, name).await?;
        let Some(found) = found.filter(|found| found.kind == CredentialKind::Oauth2) else {
            return Ok(None);
        };
        let by = CredentialUser { tenant, run: None, agent: None, at: self.ports.clock.now(), tool: "mcp" };
        let opened = vault.open(tenant, found.id, by.uses(found.id)).await?;
        Ok(opened.fields.get("client_id").map(|id| OAuthClient {
            id: id.expose_secret().to_owned(),
            secret: opened.fields.get("client_secret").cloned(),
            given: true,
        }))
    }

    /// How a login of `user` went; `None` if it is unknown or forgotten.
    pub fn login_status(&self, user: UserId, id: &str) -> Option<LoginStatus> {
        let now = self.ports.clock.now();
        let is_this =
            |state: &str, one: &PendingLogin| one.request.user == user && now < one.until && login_id(state) == id;
        if lock(&self.logins.waiting).iter().any(|(state, one)| is_this(state, one)) {
            return Some(LoginStatus::Waiting);
        }
        let ended = lock(&self.logins.ended);
        Some(ended.get(id).filter(|one| one.user == user)?.status.clone())
    }

    /// Who began the login that waits for the answer with this `state`, and its id.
    pub fn awaited_login(&self, state: &str) -> Option<(UserId, String)> {
        lock(&self.logins.waiting).get(state).map(|one| (one.request.user, login_id(state)))
    }

    /// Stores the tokens in the vault; returns the server. Only the login server's redirect has `state`, valid once.
    pub async fn complete_login(&self, state: &str, answer: LoginAnswer<'_>) -> Result<McpServer, McpError> {
        let now = self.ports.clock.now();
        let waiting = self.logins.take(state, now)?;
        let request = waiting.request.clone();
        let done = match answer {
            LoginAnswer::Code { code, issuer } => match waiting.complete(state, code, issuer, now).await {
                Ok(fields) => self.keep(&request, fields).await,
                Err(error) => Err(error),
            },
            LoginAnswer::Refused { error } => Err(McpError::Invalid(format!(
                "the login server refused ({}); begin the login anew",
                plain_code(error)
            ))),
        };
        let status = match &done {
            Ok(_) => LoginStatus::Done,
            Err(error) => LoginStatus::Failed(error.to_string()),
        };
        self.logins.end(request.user, state, status, now);
        done
    }

    /// Keeps the fields of a credential of the kind `oauth2`.
    async fn keep(
        &self,
        request: &LoginRequest,
        fields: BTreeMap<String, SecretString>,
    ) -> Result<McpServer, McpError> {
        let (tenant, id) = (request.tenant, request.server);
        let _changing = self.changing().await;
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        let owner = server.per_user.then_some(request.user);
        let name = credentials::login_name(&server, owner);
        let hosts = credentials::hosts_of(&server);
        let vault = self.ports.vault.as_ref();
        if let Some(before) = credential::by_name(vault, tenant, &name).await? {
            let change = CredentialChange { fields, hosts: Some(hosts), ..CredentialChange::default() };
            vault.change(tenant, before.id, change).await?;
        } else {
            let new = NewCredential {
                name: name.clone(),
                kind: CredentialKind::Oauth2,
                description: format!("Login at the MCP server {}", server.name),
                fields,
                roles: Vec::new(),
                discoverable: false,
                hosts,
                expires_at: None,
            };
            vault.keep(tenant, new).await?;
        }
        if owner.is_none() {
            server.credential =
                Some(CredentialWanted { name: Some(name), kind: Some(CredentialKind::Oauth2), optional: false });
            self.ports.servers.save_mcp_server(tenant, &server).await?;
        }
        self.logins.challenges.forget(tenant, id, owner);
        self.pool.close(tenant, id);
        Ok(server)
    }
}

/// Fields of a kept login beside those of its kind: whose rights they are, and whether a person gave the client.
const ISSUER: &str = "issuer";
const GIVEN_CLIENT: &str = "given_client";

fn text_of(fields: &BTreeMap<String, SecretString>, name: &str) -> Option<String> {
    fields.get(name).map(|text| text.expose_secret().to_owned())
}

/// The client that a person registered for an earlier login here.
fn given_client(before: &BTreeMap<String, SecretString>) -> Option<OAuthClient> {
    before.get(GIVEN_CLIENT)?;
    let id = text_of(before, "client_id")?;
    Some(OAuthClient { id, secret: before.get("client_secret").cloned(), given: true })
}

fn takes_secret_in_body_only(metadata: &AuthorizationMetadata) -> bool {
    let methods = metadata.additional_fields.get("token_endpoint_auth_methods_supported").and_then(Value::as_array);
    methods.is_some_and(|methods| {
        let has = |name: &str| methods.iter().any(|method| method == name);
        has(IN_BODY) && !has("client_secret_basic")
    })
}

/// Whether a login server on the internet finds there who this client is.
async fn is_published(url: &str) -> bool {
    let public = LoginHttp { allow: Vec::new() };
    let Ok(answer) = public.send(Method::GET, url, HeaderMap::new(), Vec::new()).await else { return false };
    let said: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    answer.status().is_success() && said["client_id"] == url
}

fn login_failure(error: &AuthError, redirect_uri: &str) -> McpError {
    McpError::Invalid(match error {
        AuthError::RegistrationFailed(why) if why.contains("not supported") => format!(
            "the login can't begin: its login server registers no clients by itself; register Steward there with the redirect address {redirect_uri}, keep client_id, client_secret and token_url as an oauth2 credential, and name that in the server's settings"
        ),
        error => format!("the login can't begin: {}", error_chain(error)),
    })
}

type ChallengeKey = (TenantId, McpServerId, Option<UserId>);

/// What servers asked for in the `WWW-Authenticate` of their last refusal, in memory: a server says it again.
#[derive(Default)]
pub(in crate::mcp) struct Challenges(Mutex<HashMap<ChallengeKey, String>>);

impl Challenges {
    fn get(&self, tenant: TenantId, server: McpServerId, owner: Option<UserId>) -> Option<String> {
        lock(&self.0).get(&(tenant, server, owner)).cloned()
    }

    fn note(&self, tenant: TenantId, server: McpServerId, owner: Option<UserId>, challenge: &str) {
        let mut known = lock(&self.0);
        if known.len() >= MAX_CHALLENGES {
            known.clear();
        }
        known.insert((tenant, server, owner), challenge.to_owned());
    }

    fn forget(&self, tenant: TenantId, server: McpServerId, owner: Option<UserId>) {
        lock(&self.0).remove(&(tenant, server, owner));
    }
}

const MAX_CHALLENGES: usize = 1000;
const LOGIN_TIMEOUT: Duration = Duration::from_mins(10);
const MAX_LOGINS: usize = 256;

#[derive(Debug, Clone)]
pub struct LoginRequest {
    pub tenant: TenantId,
    pub server: McpServerId,
    /// Who logs in; where each user has a token of their own, it becomes theirs.
    pub user: UserId,
    /// Where the browser returns to: an address of this Steward.
    pub redirect_uri: String,
    /// Where this Steward says who it is as a client, for login servers that look it up (CIMD): an https address.
    pub client_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginStarted {
    pub url: String,
    /// The `state` that comes back with the code, in the browser that the login was begun in.
    pub state: String,
    /// Identifies the login when its status is asked for.
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginStatus {
    Waiting,
    Done,
    Failed(String),
}

struct EndedLogin {
    user: UserId,
    status: LoginStatus,
    until: Timestamp,
}

pub(in crate::mcp) struct PendingLogin {
    pub request: LoginRequest,
    session: AuthorizationSession,
    client: OAuthClient,
    token_url: String,
    issuer: Option<String>,
    /// Whether the login server takes the client's secret in the body only.
    in_body: bool,
    /// Those that are asked for.
    scopes: Vec<String>,
    until: Timestamp,
}

#[derive(Clone, Default)]
pub(in crate::mcp) struct OAuthClient {
    pub id: String,
    pub secret: Option<SecretString>,
    /// Whether a person registered it.
    pub given: bool,
}

/// Logins in progress, in memory: after a restart they must be begun again.
#[derive(Default)]
pub(in crate::mcp) struct Logins {
    waiting: Mutex<HashMap<String, PendingLogin>>,
    /// By login id, for as long as somebody may ask.
    ended: Mutex<HashMap<String, EndedLogin>>,
    pub challenges: Challenges,
}

/// Identifies a login without revealing its `state`.
fn login_id(state: &str) -> String {
    let mut id = hash::sha256(state.as_bytes());
    id.truncate(32);
    id
}

impl Logins {
    pub fn end(&self, user: UserId, state: &str, status: LoginStatus, now: Timestamp) {
        let mut ended = lock(&self.ended);
        ended.retain(|_, one| now < one.until);
        let id = login_id(state);
        if ended.len() < MAX_LOGINS || ended.contains_key(&id) {
            let until = now.plus(LOGIN_TIMEOUT);
            ended.insert(id, EndedLogin { user, status, until });
        }
    }

    /// Removes a login in order to finish it: its `state` is valid once.
    pub fn take(&self, state: &str, now: Timestamp) -> Result<PendingLogin, McpError> {
        let mut waiting = lock(&self.waiting);
        let one = waiting.remove(state).filter(|one| now < one.until).ok_or_else(|| {
            McpError::Invalid(
                "this login is not under way: it took too long, or was finished before; begin it anew".to_owned(),
            )
        })?;
        // Whoever asks until it has ended is told that it waits.
        self.end(one.request.user, state, LoginStatus::Waiting, now);
        Ok(one)
    }
}

impl PendingLogin {
    /// The fields of a credential of the kind `oauth2`.
    pub async fn complete(
        self,
        state: &str,
        code: &str,
        issuer: Option<&str>,
        now: Timestamp,
    ) -> Result<BTreeMap<String, SecretString>, McpError> {
        let tokens = self
            .session
            .handle_callback_with_issuer(code, state, issuer)
            .await
            .map_err(|error| McpError::Invalid(format!("the login failed: {}", error_chain(&error))))?;
        let tokens = serde_json::to_value(&tokens).unwrap_or_default();
        let text = |name: &str| tokens[name].as_str();
        let Some(access) = text("access_token") else {
            return Err(McpError::Invalid("the login server gave no token".to_owned()));
        };
        let mut fields = granted_fields(access, text("refresh_token"), tokens["expires_in"].as_u64(), now);
        // A server that doesn't say what it granted has granted what was asked for.
        let scope = text("scope").map_or_else(|| self.scopes.join(" "), str::to_owned);
        let further = [
            ("scope", Some(scope).filter(|scope| !scope.is_empty()).map(SecretString::from)),
            (ISSUER, self.issuer.map(SecretString::from)),
            (GIVEN_CLIENT, self.client.given.then(|| "yes".into())),
            (TOKEN_AUTH, self.in_body.then(|| IN_BODY.into())),
            ("client_id", Some(self.client.id.into())),
            ("token_url", Some(self.token_url.into())),
            ("client_secret", self.client.secret),
            ("resource", query_value(&self.session.auth_url, "resource").map(SecretString::from)),
        ];
        fields.extend(further.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Ok(fields)
    }
}

fn query_value(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let pair = url.query_pairs().find(|(key, _)| key == name)?;
    Some(pair.1.into_owned())
}
