//! Logins of people, and what they leave in the vault.

use super::error::McpError;
use super::hub::McpHub;
use super::oauth::{Begun, Client, Guarded, LoggedIn, LoginRequest, LoginStatus, word};
use super::open::allowed;
use super::secret;
use secrecy::ExposeSecret as _;
use steward_core::UserId;
use steward_core::credential::{CredentialKind, CredentialUse};
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::ports::{CredentialChange, NewCredential};
use steward_core::skill::CredentialWanted;

/// What a browser brings back from a login server.
#[derive(Debug, Clone, Copy)]
pub enum LoginAnswer<'a> {
    Code {
        code: &'a str,
        /// Who says so (RFC 9207).
        issuer: Option<&'a str>,
    },
    /// They did not, or something is wrong.
    Refused { error: &'a str },
}

impl McpHub {
    /// Begins a login at a server's login server (authorization code with PKCE; a client is registered unless the
    /// server's credential names one).
    pub async fn begin_login(&self, request: LoginRequest) -> Result<Begun, McpError> {
        let server = self.ports.servers.mcp_server(request.tenant, request.server).await?;
        let McpTransport::Http { url, allow } = &server.transport else {
            return Err(McpError::Invalid(format!(
                "`{}` is a local program; it takes no login, but a credential in `secret_variable`",
                server.name
            )));
        };
        let known = self.known_client(&server, &request).await?;
        let guarded = Guarded { allow: allowed(allow)? };
        let now = self.ports.clock.now();
        self.logins.begin(url, guarded, known, request, now).await
    }

    /// The client of the server's own credential, or of an earlier login.
    async fn known_client(&self, server: &McpServer, request: &LoginRequest) -> Result<Option<Client>, McpError> {
        let Some(name) = server.credential.as_ref().and_then(|wanted| wanted.name.as_deref()) else {
            return Ok(None);
        };
        // A client that was registered for an earlier login may not know this address to come back to.
        if name == secret::login_name(server, None) {
            return Ok(None);
        }
        let vault = self.ports.vault.as_ref();
        let Some(found) = secret::by_name(vault, request.tenant, name).await? else {
            return Ok(None);
        };
        if found.kind != CredentialKind::Oauth2 {
            return Ok(None);
        }
        let used = CredentialUse {
            credential: found.id,
            run: None,
            agent: None,
            tool: "mcp".to_owned(),
            at: self.ports.clock.now(),
        };
        let opened = vault.open(request.tenant, found.id, used).await?;
        Ok(opened.fields.get("client_id").map(|id| Client {
            id: id.expose_secret().to_owned(),
            secret: opened.fields.get("client_secret").cloned(),
        }))
    }

    /// How a login of `user` went; `None` if it isn't known, or no more.
    pub fn login_status(&self, user: UserId, id: &str) -> Option<LoginStatus> {
        self.logins.status(user, id, self.ports.clock.now())
    }

    /// Finishes a login with what the browser brought back, and keeps the tokens in the vault. Whoever brings the
    /// `state` was sent by the login server; it is good for one time. Returns the server.
    pub async fn complete_login(&self, state: &str, answer: LoginAnswer<'_>) -> Result<McpServer, McpError> {
        let now = self.ports.clock.now();
        let waiting = self.logins.take(state, now)?;
        let user = waiting.request.user;
        let done = match answer {
            LoginAnswer::Code { code, issuer } => match waiting.complete(state, code, issuer, now).await {
                Ok(done) => self.keep(done).await,
                Err(error) => Err(error),
            },
            LoginAnswer::Refused { error } => {
                Err(McpError::Invalid(format!("the login server refused ({}); begin the login anew", word(error))))
            }
        };
        let status = match &done {
            Ok(_) => LoginStatus::Done,
            Err(error) => LoginStatus::Failed(error.to_string()),
        };
        self.logins.end(user, state, status, now);
        done
    }

    async fn keep(&self, done: LoggedIn) -> Result<McpServer, McpError> {
        let user = done.request.user;
        let (tenant, id) = (done.request.tenant, done.request.server);
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        let owner = server.per_user.then_some(user);
        let name = secret::login_name(&server, owner);
        let vault = self.ports.vault.as_ref();
        if let Some(before) = secret::by_name(vault, tenant, &name).await? {
            let change = CredentialChange { fields: done.fields, ..CredentialChange::default() };
            vault.change(tenant, before.id, change).await?;
        } else {
            let new = NewCredential {
                name: name.clone(),
                kind: CredentialKind::Oauth2,
                description: format!("Login at the MCP server {}", server.name),
                fields: done.fields,
                roles: Vec::new(),
                discoverable: false,
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
