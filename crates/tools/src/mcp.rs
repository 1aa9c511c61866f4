//! MCP servers as a source of skills; only this module uses the protocol library. A tool is called only as a person
//! accepted it: its hash is compared before a connection's first call, after announced changes, and at intervals.

mod accepted_tools;
mod call;
mod connect;
mod connection;
mod credentials;
mod error;
mod failure;
mod login;
mod oauth_token;
mod pool;
mod program;
mod task_support;

pub use accepted_tools::tool_diff;
pub use call::McpExecutor;
pub use error::McpError;
pub use login::{LoginAnswer, LoginRequest, LoginStarted, LoginStatus};
pub use program::{ProgramPlaces, find_program_places};
pub use steward_sandbox::process::Helper;

use crate::error::refused;
use crate::files::blocking;
use crate::skills::{all_skills, parse_allow_list};
use connection::Connection;
use credentials::Caller;
use login::Logins;
use oauth_token::Tokens;
use pool::Pool;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use steward_core::mcp::{AcceptedTool, McpServer, McpTool, McpTransport};
use steward_core::ports::{Clock, Ids, McpServers, SkillFilter, Skills, Vault};
use steward_core::skill::{Skill, SkillKind};
use steward_core::{AgentId, McpServerId, SkillId, TenantId, UserId};
use steward_sandbox::host::HostPolicy;
use steward_sandbox::process::Sandbox;
use tokio::sync::{Mutex, MutexGuard};

pub struct McpHub {
    ports: McpPorts,
    config: McpConfig,
    pool: Arc<Pool>,
    logins: Logins,
    tokens: Tokens,
    /// Held while a server is read, changed and saved, or removed.
    changing: Mutex<()>,
}

impl McpHub {
    pub fn new(ports: McpPorts, config: McpConfig) -> Self {
        Self {
            ports,
            config,
            pool: Arc::default(),
            logins: Logins::default(),
            tokens: Tokens::default(),
            changing: Mutex::default(),
        }
    }

    pub fn servers(&self) -> &dyn McpServers {
        self.ports.servers.as_ref()
    }

    pub fn connections(&self) -> usize {
        self.pool.len()
    }

    /// Whoever reads a server to save it changed, or removes one, holds this meanwhile, so that no change on this node is
    /// lost.
    pub async fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Closes the connections of a server, after it was changed or removed.
    pub fn close(&self, tenant: TenantId, server: McpServerId) {
        self.pool.close(tenant, server);
    }

    /// Removes logins and folders of a user at servers where each has their own.
    pub async fn forget_user(&self, tenant: TenantId, user: UserId) -> Result<(), McpError> {
        self.pool.close_user(tenant, user);
        let vault = self.ports.vault.as_ref();
        for login in credentials::logins_of(vault, tenant, user).await? {
            vault.remove(tenant, login.id).await?;
        }
        let folder = self.config.folder.clone();
        let removed = blocking(move || {
            let removed = connect::remove_folders(&folder, user);
            removed.map_err(|error| refused!("the folders of a user at MCP servers can't be removed: {error}"))
        });
        removed.await.map_err(McpError::from)
    }

    pub fn validate(server: &McpServer) -> Result<(), McpError> {
        if !is_server_name(&server.name) {
            return Err(McpError::Invalid(format!(
                "`{}` can't be a server's name; use a-z, 0-9 and _, at most 32",
                server.name
            )));
        }
        match &server.transport {
            McpTransport::Stdio { command, secret_variable, env, secrets, read, write, .. } => {
                if command.first().is_none_or(String::is_empty) {
                    return Err(McpError::Invalid(
                        "`command` names the server's program first; it is empty".to_owned(),
                    ));
                }
                for (field, paths) in [("read", read), ("write", write)] {
                    if let Some(path) = paths.iter().find(|path| !path.starts_with('/')) {
                        return Err(McpError::Invalid(format!("`{field}` takes absolute paths; `{path}` is none")));
                    }
                }
                validate_variables(secret_variable.as_deref(), env, secrets)
            }
            McpTransport::Http { url, allow } => {
                let fine =
                    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
                if !fine {
                    return Err(McpError::Invalid(format!(
                        "`{url}` is no address of an MCP server; write it as https://example.org/mcp"
                    )));
                }
                parse_allow_list(allow)?;
                Ok(())
            }
        }
    }

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
        if server.enabled { Ok(server) } else { Err(McpError::Disabled(server.name)) }
    }

    /// If the server can't be reached, what was known is kept, with `error`. `user`: whose token, where each has one.
    pub async fn check(&self, tenant: TenantId, id: McpServerId, user: Option<UserId>) -> Result<McpServer, McpError> {
        let server = self.ports.servers.mcp_server(tenant, id).await?;
        let who = Caller::of_person(tenant, user, self.ports.clock.now());
        let list = |connection: Arc<Connection>| async move { connection.tools(true).await };
        let listed = self.over_connection(&server, &who, "tools/list", true, list).await;
        let listed = listed.as_ref().map_err(|error| who.scrub(&error.to_string()));
        self.record_listing(tenant, id, listed.map(|tools| tools.as_slice())).await
    }

    /// Keeps the tools of a server, or why they can't be told.
    async fn record_listing(
        &self,
        tenant: TenantId,
        id: McpServerId,
        listed: Result<&[McpTool], String>,
    ) -> Result<McpServer, McpError> {
        let _changing = self.changing().await;
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        server.checked_at = Some(self.ports.clock.now());
        server.error = match listed {
            Ok(listed) => {
                server.tools = accepted_tools::merge_listing(&server.tools, listed);
                None
            }
            Err(error) => Some(error),
        };
        self.ports.servers.save_mcp_server(tenant, &server).await?;
        Ok(server)
    }

    /// What changed of a tool since it was accepted, as a unified diff; `None` if nothing did.
    pub async fn diff(&self, tenant: TenantId, id: McpServerId, tool: &str) -> Result<Option<String>, McpError> {
        let server = self.ports.servers.mcp_server(tenant, id).await?;
        match server.tools.iter().find(|one| one.name == tool) {
            Some(found) => Ok(accepted_tools::tool_diff(found)),
            None => accepted_tools::callable(&server, tool).map(|_| None),
        }
    }

    /// Accepts a tool as a person saw it: `hash` is that of what they were shown. Skills that stand for it are updated.
    pub async fn accept(
        &self,
        tenant: TenantId,
        id: McpServerId,
        tool: &str,
        hash: &str,
        by: &str,
    ) -> Result<McpServer, McpError> {
        let _changing = self.changing().await;
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
        if let Some(why) = &found.unusable {
            return Err(McpError::Invalid(format!("`{tool}` can't be accepted: {why}")));
        }
        found.accepted = Some(AcceptedTool {
            hash: hash.to_owned(),
            description: found.description.clone(),
            parameters: found.parameters.clone(),
            at,
            by: by.to_owned(),
        });
        found.withdrawn = false;
        self.ports.servers.save_mcp_server(tenant, &server).await?;
        let filter = SkillFilter { kind: Some(SkillKind::Mcp), ..SkillFilter::default() };
        let skills = self.ports.skills.as_ref();
        for before in all_skills(skills, tenant, &filter).await? {
            if accepted_tools::is_skill_of_tool(&before, &server.name, tool) {
                let id = before.id;
                let skill = accepted_tools::skill_of(&server, tool, Some(before), id, at, by)?;
                skills.save_skill(tenant, &skill).await?;
            }
        }
        Ok(server)
    }

    /// Takes the acceptance of a tool back: it is refused from the next call on, until a person accepts it anew. Skills
    /// that stand for it stay as they are.
    pub async fn withdraw(&self, tenant: TenantId, id: McpServerId, tool: &str) -> Result<McpServer, McpError> {
        let _changing = self.changing().await;
        let mut server = self.ports.servers.mcp_server(tenant, id).await?;
        accepted_tools::withdraw(&mut server, tool)?;
        self.ports.servers.save_mcp_server(tenant, &server).await?;
        Ok(server)
    }

    /// Named `<server>_<tool>`; attached to `agent` if given. Repeating changes nothing; a person's risk class stays.
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
            let name = accepted_tools::name_of(&server, tool).unwrap_or_default();
            let before = ports.skills.skill_by_name(tenant, &name).await?;
            let fresh = before.as_ref().map_or_else(|| SkillId(ports.ids.next()), |one| one.id);
            wanted.push(accepted_tools::skill_of(&server, tool, before, fresh, ports.clock.now(), by)?);
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
}

const MAX_VARIABLES: usize = 100;
const MAX_SETTING_BYTES: usize = 32 << 10;

fn validate_variables(
    secret_variable: Option<&str>,
    env: &BTreeMap<String, String>,
    secrets: &BTreeMap<String, String>,
) -> Result<(), McpError> {
    let invalid = |why: String| Err(McpError::Invalid(why));
    if env.len() + secrets.len() > MAX_VARIABLES {
        return invalid(format!("`env` and `secrets` hold more than {MAX_VARIABLES} variables"));
    }
    for name in env.keys().chain(secrets.keys()).map(String::as_str).chain(secret_variable) {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || !plain || name.starts_with(|c: char| c.is_ascii_digit()) {
            return invalid(format!("`{name}` can't be a variable; use letters, digits and _, such as WIKI_TOKEN"));
        }
    }
    if let Some((name, _)) = env.iter().find(|(_, value)| value.len() > MAX_SETTING_BYTES || value.contains('\0')) {
        return invalid(format!("the value of `{name}` is too long, or holds what no variable can hold"));
    }
    let twice = secrets.keys().find(|name| env.contains_key(*name) || Some(name.as_str()) == secret_variable);
    let twice = twice.map(String::as_str).or(secret_variable.filter(|name| env.contains_key(*name)));
    match twice {
        Some(name) => invalid(format!("`{name}` is named twice; a variable is a plain setting or takes one secret")),
        None => Ok(()),
    }
}

fn is_server_name(name: &str) -> bool {
    (1..=32).contains(&name.len()) && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[derive(Debug, Clone)]
pub struct McpConfig {
    pub sandbox: Sandbox,
    /// Each local server has its working folder below this one.
    pub folder: PathBuf,
    /// What a local server may be given to read and to change.
    pub places: HostPolicy,
    /// A connection that is unused for so long is closed.
    pub idle: Duration,
    /// How long a server may take to start and to answer the first time.
    pub start: Duration,
}

impl McpConfig {
    /// Ten minutes until idle, thirty seconds to start.
    pub fn new(helper: Helper, folder: impl Into<PathBuf>, places: HostPolicy) -> Self {
        Self {
            sandbox: Sandbox::new(helper),
            folder: folder.into(),
            places,
            idle: Duration::from_mins(10),
            start: Duration::from_secs(30),
        }
    }
}

#[derive(Clone)]
pub struct McpPorts {
    pub servers: Arc<dyn McpServers>,
    pub skills: Arc<dyn Skills>,
    pub vault: Arc<dyn Vault>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}
