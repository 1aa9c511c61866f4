//! Servers as people manage them, and the way of a call to its connection.

use super::connection::{Connection, Fault};
use super::content;
use super::error::McpError;
use super::oauth::{Begun, Client, Guarded, LoginRequest, Logins, Tokens, Wanted};
use super::open::{allowed, open};
use super::pin::{self, Listed};
use super::pool::{Key, Pool};
use super::secret::{self, Secret};
use super::skills;
use crate::handler::Context;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::{CredentialKind, CredentialUse};
use steward_core::mcp::{AcceptedTool, McpServer, McpTransport};
use steward_core::ports::{
    Clock, CredentialChange, Ids, McpServers, NewCredential, OpenedCredential, SkillFilter, Skills,
    ToolScope, Vault,
};
use steward_core::skill::{CredentialWanted, McpSpec, Skill, SkillKind};
use steward_core::tool::ToolOutput;
use steward_core::{AgentId, CredentialId, McpServerId, RunId, SkillId, TenantId, UserId, hash};
use steward_sandbox::process::{Helper, Sandbox};

/// What an operator decides.
#[derive(Debug, Clone)]
pub struct McpConfig {
    /// What starts and confines local servers.
    pub sandbox: Sandbox,
    /// Each local server has a folder below this one, and works there.
    pub folder: PathBuf,
    /// A connection that is not used for so long is closed.
    pub idle: Duration,
    /// How long a server may take to start and to answer the first time.
    pub start: Duration,
}

impl McpConfig {
    /// Ten minutes of idling, thirty seconds to start.
    pub fn new(helper: Helper, folder: impl Into<PathBuf>) -> Self {
        Self {
            sandbox: Sandbox::new(helper),
            folder: folder.into(),
            idle: Duration::from_mins(10),
            start: Duration::from_secs(30),
        }
    }
}

/// What it needs from the world.
#[derive(Clone)]
pub struct McpPorts {
    /// Servers.
    pub servers: Arc<dyn McpServers>,
    /// Skills that stand for their tools.
    pub skills: Arc<dyn Skills>,
    /// Their credentials.
    pub vault: Arc<dyn Vault>,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// Ids of new skills.
    pub ids: Arc<dyn Ids>,
}

/// MCP servers: connections, accepted tools, logins.
pub struct McpHub {
    ports: McpPorts,
    config: McpConfig,
    pool: Arc<Pool>,
    logins: Logins,
    tokens: Tokens,
}

/// Who reaches for a server, and what it is told of the secrets that are opened.
struct Who<'a> {
    tenant: TenantId,
    user: Option<UserId>,
    run: Option<RunId>,
    agent: Option<AgentId>,
    tool: &'a str,
    context: Option<&'a Context>,
    /// The skill's own credential, opened by the runtime.
    secret: Option<&'a OpenedCredential>,
}

impl<'a> Who<'a> {
    fn person(tenant: TenantId, user: Option<UserId>) -> Self {
        Self {
            tenant,
            user,
            run: None,
            agent: None,
            tool: "mcp",
            context: None,
            secret: None,
        }
    }

    fn caller(call: &Call<'a>, context: &'a Context) -> Self {
        let ToolScope {
            tenant,
            user,
            run,
            agent,
            ..
        } = &context.scope;
        Self {
            tenant: *tenant,
            user: *user,
            run: *run,
            agent: Some(*agent),
            tool: call.tool,
            context: Some(context),
            secret: call.secret,
        }
    }

    /// What was opened leaves with nothing of the call.
    fn learned(&self, label: &str, secret: &SecretString) {
        if let Some(context) = self.context {
            context.learned(label, secret.clone());
        }
    }
}

/// A call of a tool.
pub(super) struct Call<'a> {
    pub spec: &'a McpSpec,
    /// Name of the skill.
    pub tool: &'a str,
    pub arguments: Map<String, Value>,
    /// Whether it may be sent again after the server died over it.
    pub repeats: bool,
    pub secret: Option<&'a OpenedCredential>,
}

impl McpHub {
    /// Opens nothing yet.
    pub fn new(ports: McpPorts, config: McpConfig) -> Self {
        Self {
            ports,
            config,
            pool: Arc::default(),
            logins: Logins::default(),
            tokens: Tokens::default(),
        }
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.pool.len()
    }

    /// Closes the connections of a server, after it was changed or removed.
    pub fn close(&self, tenant: TenantId, server: McpServerId) {
        self.pool.close(tenant, server);
    }

    /// Whether a server's settings make sense; the error says what to do.
    pub fn validate(server: &McpServer) -> Result<(), McpError> {
        let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if server.name.is_empty() || server.name.len() > 32 || !server.name.chars().all(fit) {
            return Err(McpError::Invalid(format!(
                "`{}` can't be a server's name; use a-z, 0-9 and _, at most 32",
                server.name
            )));
        }
        match &server.transport {
            McpTransport::Stdio { command, read, .. } => {
                if command.first().is_none_or(String::is_empty) {
                    return Err(McpError::Invalid(
                        "`command` names the server's program first; it is empty".to_owned(),
                    ));
                }
                if let Some(path) = read.iter().find(|path| !path.starts_with('/')) {
                    return Err(McpError::Invalid(format!(
                        "`read` takes absolute paths; `{path}` is none"
                    )));
                }
                Ok(())
            }
            McpTransport::Http { url, allow } => {
                let fine = url::Url::parse(url)
                    .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
                if !fine {
                    return Err(McpError::Invalid(format!(
                        "`{url}` is no address of an MCP server; write it as https://example.org/mcp"
                    )));
                }
                allowed(allow).map(|_| ())
            }
        }
    }

    /// Where a server is, for people.
    pub async fn place(&self, tenant: TenantId, server: &str) -> Result<String, McpError> {
        let server = self.named(tenant, server).await?;
        Ok(match &server.transport {
            McpTransport::Stdio { command, .. } => command.join(" "),
            McpTransport::Http { url, .. } => url.clone(),
        })
    }

    async fn named(&self, tenant: TenantId, name: &str) -> Result<McpServer, McpError> {
        let found = self.ports.servers.mcp_server_by_name(tenant, name).await?;
        let server = found.ok_or_else(|| McpError::Unknown(name.to_owned()))?;
        if server.enabled {
            Ok(server)
        } else {
            Err(McpError::Disabled(server.name))
        }
    }

    /// Lists a server's tools and keeps what it says. A server that can't be asked keeps what was known, with the
    /// reason in `error`. `user` is whose token is used where each has one.
    pub async fn check(
        &self,
        tenant: TenantId,
        id: McpServerId,
        user: Option<UserId>,
    ) -> Result<McpServer, McpError> {
        let server = self.ports.servers.mcp_server(tenant, id).await?;
        let who = Who::person(tenant, user);
        let listed = self.listed(&server, &who).await;
        match listed {
            Ok(listed) => self.seen(tenant, id, &listed).await,
            Err(error) => {
                let mut server = self.ports.servers.mcp_server(tenant, id).await?;
                server.error = Some(error.to_string());
                server.checked_at = Some(self.ports.clock.now());
                self.ports.servers.save_mcp_server(tenant, &server).await?;
                Ok(server)
            }
        }
    }

    async fn listed(&self, server: &McpServer, who: &Who<'_>) -> Result<Arc<Vec<Listed>>, McpError> {
        let mut last = None;
        for anew in [false, true] {
            let (key, connection) = self.reach(server, who, anew).await?;
            let _busy = connection.begin();
            match connection.tools(true).await {
                Ok(tools) => return Ok(tools),
                Err(fault) => {
                    self.pool.remove(&key, &connection);
                    let (error, again) = Self::settle(server, "tools/list", fault, true);
                    if !again {
                        return Err(error);
                    }
                    last = Some(error);
                }
            }
        }
        Err(last.unwrap_or_else(|| McpError::Unknown(server.name.clone())))
    }

    /// Writes down what a server lists.
    async fn seen(
        &self,
        tenant: TenantId,
        id: McpServerId,
        listed: &[Listed],
    ) -> Result<McpServer, McpError> {
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        server.tools = pin::merged(&server.tools, listed);
        server.checked_at = Some(self.ports.clock.now());
        server.error = None;
        self.ports.servers.save_mcp_server(tenant, &server).await?;
        Ok(server)
    }

    /// What changed of a tool since it was accepted, as a unified diff; `None` if nothing did.
    pub async fn diff(
        &self,
        tenant: TenantId,
        id: McpServerId,
        tool: &str,
    ) -> Result<Option<String>, McpError> {
        let server = self.ports.servers.mcp_server(tenant, id).await?;
        let found = server.tools.iter().find(|one| one.name == tool);
        match found {
            Some(found) => Ok(pin::diff(found)),
            None => skills::callable(&server, tool).map(|_| None),
        }
    }

    /// Accepts a tool as a person saw it: `hash` is that of what they were shown. Skills that stand for it take
    /// over what was accepted.
    pub async fn accept(
        &self,
        tenant: TenantId,
        id: McpServerId,
        tool: &str,
        hash: &str,
        by: &str,
    ) -> Result<McpServer, McpError> {
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        let at = self.ports.clock.now();
        let Some(found) = server.tools.iter_mut().find(|one| one.name == tool && !one.gone) else {
            return Err(McpError::Invalid(format!(
                "the MCP server `{}` has no tool `{tool}`; check it first",
                server.name
            )));
        };
        if found.hash() != hash {
            return Err(McpError::Invalid(format!(
                "`{tool}` is not what you looked at any more; look at it again, then accept it"
            )));
        }
        found.accepted = Some(AcceptedTool {
            hash: hash.to_owned(),
            description: found.description.clone(),
            parameters: found.parameters.clone(),
            at,
            by: by.to_owned(),
        });
        self.ports.servers.save_mcp_server(tenant, &server).await?;
        let filter = SkillFilter {
            kind: Some(SkillKind::Mcp),
            ..SkillFilter::default()
        };
        let mut after: Option<String> = None;
        loop {
            let skills = &self.ports.skills;
            let page = skills.skills(tenant, &filter, after.as_deref(), 100).await?;
            after = page.items.last().map(|one| one.name.clone());
            for before in page.items {
                if skills::stands_for(&before, &server.name, tool) {
                    let id = before.id;
                    let skill = skills::skill(&server, tool, Some(before), id, at, by)?;
                    skills.save_skill(tenant, &skill).await?;
                }
            }
            if !page.more || after.is_none() {
                return Ok(server);
            }
        }
    }

    /// Takes an acceptance back: the tool can't be called any more.
    pub async fn withdraw(
        &self,
        tenant: TenantId,
        id: McpServerId,
        tool: &str,
    ) -> Result<McpServer, McpError> {
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        if let Some(found) = server.tools.iter_mut().find(|one| one.name == tool) {
            found.accepted = None;
        }
        server.tools.retain(|one| !one.gone || one.accepted.is_some());
        self.ports.servers.save_mcp_server(tenant, &server).await?;
        Ok(server)
    }

    /// Makes skills of accepted tools, `<server>_<tool>`, and gives them to `agent`, if one is named. Twice is the
    /// same as once; the risk class that a person chose stays.
    pub async fn attach(
        &self,
        tenant: TenantId,
        id: McpServerId,
        agent: Option<AgentId>,
        tools: &[String],
        by: &str,
    ) -> Result<Vec<Skill>, McpError> {
        let server = self.ports.servers.mcp_server(tenant, id).await?;
        let ports = &self.ports;
        let mut wanted = Vec::new();
        for tool in tools {
            let name = skills::name_of(&server, tool).unwrap_or_default();
            let before = ports.skills.skill_by_name(tenant, &name).await?;
            let fresh = before.as_ref().map_or_else(|| SkillId(ports.ids.next()), |one| one.id);
            wanted.push(skills::skill(&server, tool, before, fresh, ports.clock.now(), by)?);
        }
        let mut made = Vec::new();
        for skill in wanted {
            made.push(match agent {
                Some(agent) => ports.skills.create_and_attach(tenant, agent, &skill).await?.0,
                None => ports.skills.save_skill(tenant, &skill).await?,
            });
        }
        Ok(made)
    }

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
        let guarded = Guarded {
            allow: allowed(allow)?,
        };
        let now = self.ports.clock.now();
        self.logins.begin(url, guarded, known, request, now).await
    }

    /// The client of the server's own credential, or of an earlier login.
    async fn known_client(
        &self,
        server: &McpServer,
        request: &LoginRequest,
    ) -> Result<Option<Client>, McpError> {
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

    /// Finishes a login with what the browser brought back, and keeps the tokens in the vault. Returns the server.
    pub async fn complete_login(
        &self,
        user: UserId,
        state: &str,
        code: &str,
        issuer: Option<&str>,
    ) -> Result<McpServer, McpError> {
        let now = self.ports.clock.now();
        let done = self.logins.complete(user, state, code, issuer, now).await?;
        let (tenant, id) = (done.request.tenant, done.request.server);
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        let owner = server.per_user.then_some(user);
        let name = secret::login_name(&server, owner);
        let vault = self.ports.vault.as_ref();
        match secret::by_name(vault, tenant, &name).await? {
            Some(before) => {
                let change = CredentialChange {
                    fields: done.fields,
                    ..CredentialChange::default()
                };
                vault.change(tenant, before.id, change).await?;
            }
            None => {
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
        }
        if owner.is_none() {
            server.credential = Some(CredentialWanted {
                name: Some(name),
                kind: Some(CredentialKind::Oauth2),
                optional: false,
            });
            self.ports.servers.save_mcp_server(tenant, &server).await?;
        }
        self.pool.close(tenant, id);
        Ok(server)
    }

    /// Calls a tool, if it is what a person accepted.
    pub(super) async fn call(
        &self,
        call: Call<'_>,
        context: &Context,
    ) -> Result<ToolOutput, McpError> {
        let who = Who::caller(&call, context);
        let server = self.named(who.tenant, &call.spec.server).await?;
        let (tool, accepted) = skills::callable(&server, &call.spec.tool)?;
        // The run began with another acceptance of it.
        if accepted.hash != call.spec.hash {
            return Err(skills::changed(&server, tool));
        }
        let mut last = None;
        for anew in [false, true] {
            let (key, connection) = self.reach(&server, &who, anew).await?;
            let _busy = connection.begin();
            match self.once(&server, &connection, &call, context).await {
                Ok(output) => return Ok(output),
                Err(fault) => {
                    if !matches!(fault, Fault::Error(_)) {
                        self.pool.remove(&key, &connection);
                    }
                    let (error, again) = Self::settle(&server, &call.spec.tool, fault, call.repeats);
                    if !again || context.halted() {
                        return Err(error);
                    }
                    last = Some(error);
                }
            }
        }
        Err(last.unwrap_or_else(|| McpError::Unknown(server.name.clone())))
    }

    async fn once(
        &self,
        server: &McpServer,
        connection: &Connection,
        call: &Call<'_>,
        context: &Context,
    ) -> Result<ToolOutput, Fault> {
        let name = &call.spec.tool;
        let tools = connection.tools(false).await?;
        let same = tools
            .iter()
            .any(|one| one.name == *name && one.hash() == call.spec.hash);
        if !same {
            // Written down, so that a person sees the difference.
            let seen = self.seen(context.scope.tenant, server.id, &tools).await;
            let seen = seen.map_err(Fault::Error)?;
            let error = match seen.tools.iter().find(|one| one.name == *name) {
                Some(tool) => skills::changed(&seen, tool),
                None => McpError::NotAccepted {
                    server: server.name.clone(),
                    tool: name.clone(),
                },
            };
            tracing::warn!(server = server.name, tool = %name, "an MCP tool changed and is refused");
            return Err(Fault::Error(error));
        }
        let result = connection.call(name, call.arguments.clone(), context).await?;
        content::output(&server.name, result).map_err(Fault::Error)
    }

    /// What a fault means for the caller, and whether to try once more on a new connection.
    fn settle(server: &McpServer, tool: &str, fault: Fault, repeats: bool) -> (McpError, bool) {
        let name = server.name.clone();
        match fault {
            Fault::Error(error) => (error, false),
            Fault::Gone(reason) => (
                McpError::Unreachable {
                    server: name,
                    reason,
                },
                true,
            ),
            Fault::Login => (
                McpError::Login {
                    hint: super::open::login_hint(server, true),
                    server: name,
                },
                true,
            ),
            Fault::Broke(reason) => (
                McpError::Died {
                    server: name,
                    tool: tool.to_owned(),
                    reason,
                },
                repeats,
            ),
        }
    }

    /// The connection for `who`; with `anew`, a token that can be renewed is.
    async fn reach(
        &self,
        server: &McpServer,
        who: &Who<'_>,
        anew: bool,
    ) -> Result<(Key, Arc<Connection>), McpError> {
        let (secret, stamp) = self.secret(server, who, anew).await?;
        let settings = serde_json::to_value(&server.transport).unwrap_or_default();
        let key = Key {
            tenant: who.tenant,
            server: server.id,
            user: who.user.filter(|_| server.per_user),
            stamp: hash::of_json(&json!([settings, stamp])),
        };
        if let Some(secret) = &secret {
            who.learned(&secret.label, &secret.value);
        }
        let opening = open(&self.config, server, secret.as_ref());
        let connection = self.pool.get(key.clone(), self.config.idle, opening).await?;
        Ok((key, connection))
    }

    /// The server's secret, and what tells one secret from another.
    async fn secret(
        &self,
        server: &McpServer,
        who: &Who<'_>,
        anew: bool,
    ) -> Result<(Option<Secret>, Value), McpError> {
        let vault = self.ports.vault.as_ref();
        let now = self.ports.clock.now();
        let used = |credential: CredentialId| CredentialUse {
            credential,
            run: who.run,
            agent: who.agent,
            tool: who.tool.to_owned(),
            at: now,
        };
        let found;
        let opened = if let Some(own) = who.secret {
            own
        } else {
            let Some(credential) = secret::find(vault, who.tenant, server, who.user).await? else {
                return Ok((None, Value::Null));
            };
            found = vault.open(who.tenant, credential.id, used(credential.id)).await?;
            &found
        };
        let credential = &opened.credential;
        for (field, value) in &opened.fields {
            if !credential.kind.shows(field) && field != "access_until" {
                who.learned(&credential.name, value);
            }
        }
        if credential.kind != CredentialKind::Oauth2 {
            let stamp = json!([credential.id, credential.changed_at]);
            return Ok((Some(secret::of(opened)?), stamp));
        }
        let McpTransport::Http { url, allow } = &server.transport else {
            return Err(McpError::Invalid(format!(
                "`{}` is a local program; give it a token or an api_key",
                server.name
            )));
        };
        let guarded = Guarded {
            allow: allowed(allow)?,
        };
        let wanted = Wanted {
            tenant: who.tenant,
            server: &server.name,
            resource: Some(url),
            opened,
            used: used(credential.id),
            now,
            anew,
        };
        let token = self.tokens.token(vault, &guarded, &wanted).await?;
        let stamp = json!([credential.id, hash::sha256(token.expose_secret().as_bytes())]);
        let secret = Secret {
            label: credential.name.clone(),
            header: None,
            value: token,
        };
        Ok((Some(secret), stamp))
    }
}
