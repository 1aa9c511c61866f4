use super::connect::error_chain;
use super::error::McpError;
use super::oauth_token::{LoginHttp, granted_fields, plain_code};
use super::{McpHub, credentials};
use crate::credential::{self, CredentialUser};
use crate::skills::parse_allow_list;
use rmcp::transport::auth::{AuthorizationManager, AuthorizationRequest, AuthorizationSession};
use secrecy::{ExposeSecret as _, SecretString};
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
    /// Begins a login (authorization code with PKCE): finds the login server, registers a client unless the server's
    /// credential names one, and builds the address that a person opens.
    pub async fn begin_login(&self, request: LoginRequest) -> Result<LoginStarted, McpError> {
        let server = self.ports.servers.mcp_server(request.tenant, request.server).await?;
        let McpTransport::Http { url, allow } = &server.transport else {
            return Err(McpError::Invalid(format!(
                "`{}` is a local program; it takes no login, but a credential in `secret_variable`",
                server.name
            )));
        };
        let known = self.known_client(&server, &request).await?;
        let guarded = LoginHttp { allow: parse_allow_list(allow)? };
        let now = self.ports.clock.now();
        let failed =
            |error: &dyn std::error::Error| McpError::Invalid(format!("the login can't begin: {}", error_chain(error)));
        let manager = AuthorizationManager::new_with_oauth_http_client(url, Arc::new(guarded)).await;
        let mut manager = manager.map_err(|error| failed(&error))?;
        let found = manager.resolve_metadata().await.map_err(|error| failed(&error))?;
        if !found.source.is_discovered() {
            return Err(McpError::Invalid(
                "this server publishes no login server (RFC 9728, RFC 8414); give it a token or an api_key as its credential"
                    .to_owned(),
            ));
        }
        let token_url = found.metadata.token_endpoint.clone();
        manager.set_metadata(found.metadata);
        let mut scopes = request.scopes.clone();
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        let client = if let Some(known) = known {
            known
        } else {
            let wanted: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let registered = manager.register_client("Steward", &request.redirect_uri, &wanted);
            let registered = registered.await.map_err(|error| failed(&error))?;
            OAuthClient { id: registered.client_id, secret: registered.client_secret.map(Into::into) }
        };
        let mut asked = AuthorizationRequest::new(request.redirect_uri.clone())
            .with_scopes(scopes)
            .with_preregistered_client(client.id.clone());
        if let Some(secret) = &client.secret {
            asked = asked.with_client_secret(secret.expose_secret());
        }
        let session = AuthorizationSession::new(manager, asked).await;
        let session = session.map_err(|(_, error)| failed(&error))?;
        let url = session.get_authorization_url().to_owned();
        let Some(state) = query_value(&url, "state") else {
            return Err(McpError::Invalid("the login server's address holds no state".to_owned()));
        };
        let mut waiting = lock(&self.logins.waiting);
        waiting.retain(|_, one| now < one.until);
        if waiting.len() >= MAX_LOGINS {
            return Err(McpError::Invalid("too many logins are under way; finish one, or wait ten minutes".to_owned()));
        }
        let one = PendingLogin { request, session, client, token_url, until: now.plus(LOGIN_TIMEOUT) };
        waiting.insert(state.clone(), one);
        let id = login_id(&state);
        Ok(LoginStarted { url, state, id })
    }

    async fn known_client(&self, server: &McpServer, request: &LoginRequest) -> Result<Option<OAuthClient>, McpError> {
        let name = server.credential.as_ref().and_then(|wanted| wanted.name.as_deref());
        // A client registered for an earlier login may not know this redirect address.
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
        self.pool.close(tenant, id);
        Ok(server)
    }
}

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
    /// Scopes; empty: those that the server asks for.
    pub scopes: Vec<String>,
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
    until: Timestamp,
}

#[derive(Clone, Default)]
pub(in crate::mcp) struct OAuthClient {
    pub id: String,
    pub secret: Option<SecretString>,
}

/// Logins in progress, in memory: after a restart they must be begun again.
#[derive(Default)]
pub(in crate::mcp) struct Logins {
    waiting: Mutex<HashMap<String, PendingLogin>>,
    /// By login id, for as long as somebody may ask.
    ended: Mutex<HashMap<String, EndedLogin>>,
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
        let further = [
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
