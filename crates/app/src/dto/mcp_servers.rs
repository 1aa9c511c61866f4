use serde::{Deserialize, Serialize};
use serde_json::Value;
use steward_core::mcp::{self, McpTransport};
use steward_core::skill::CredentialWanted;
use steward_core::{AgentId, McpServerId, Timestamp};
use utoipa::ToSchema;

/// A server as it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct McpServerInput {
    /// Its name, unique; its tools are called `<name>_<tool>`.
    #[schema(min_length = 1, max_length = 32, pattern = "^[a-z0-9_]+$")]
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// The credential that it gets.
    pub credential: Option<CredentialWanted>,
    /// Whether each user needs a token of their own.
    #[serde(default)]
    pub per_user: bool,
    /// Whether its tools can be called.
    #[serde(default = "super::yes")]
    pub enabled: bool,
}

/// A tool of a server.
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the tool")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct McpTool {
    /// Its name there.
    pub name: String,
    /// Its description as last seen.
    pub description: String,
    /// JSON Schema of its arguments as last seen.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Whether the server says that it only looks.
    pub read_only: bool,
    /// What it is pinned by if it is accepted as it is now.
    pub hash: String,
    /// Whether it may be called: accepted, and the same since.
    pub callable: bool,
    /// Why it can't be used as it is now; the server's other tools can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// Whether it changed since it was accepted.
    pub changed: bool,
    /// What changed, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Whether somebody took their acceptance back, and nobody has accepted it since.
    pub withdrawn: bool,
    /// Whether the server no longer has it.
    pub gone: bool,
    /// Who accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<String>,
    /// When, ms since 1970 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct McpServer {
    /// Its id.
    pub id: McpServerId,
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// The credential that it gets.
    #[schema(required)]
    pub credential: Option<CredentialWanted>,
    /// Whether each user needs a token of their own.
    pub per_user: bool,
    /// Whether its tools can be called.
    pub enabled: bool,
    /// Its tools as last seen.
    pub tools: Vec<McpTool>,
    /// When it was last asked, ms since 1970 UTC.
    #[schema(required)]
    pub checked_at: Option<Timestamp>,
    /// Why it could not be asked.
    #[schema(required)]
    pub error: Option<String>,
}

/// A login that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct McpLogin {
    /// Where they log in.
    pub url: String,
    /// Names the login: ask `GET /api/mcp/logins/{login}` how it went.
    pub login: String,
}

/// Where a login stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpLoginStatus {
    /// It waits for the person.
    Waiting,
    /// The tokens are in the vault.
    Done,
    /// It did not work.
    Failed,
}

/// How a login went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct McpLoginState {
    /// Where it stands.
    pub status: McpLoginStatus,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<String>,
}

/// Which content of a tool is accepted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptTool {
    /// The tool.
    pub tool: String,
    /// The hash that was looked at.
    pub hash: String,
}

/// Whose acceptance is taken back.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawTool {
    /// The tool.
    pub tool: String,
}

/// Tools that become skills.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachTools {
    /// Accepted tools.
    pub tools: Vec<String>,
    /// The agent that gets them; none: only the skills are made.
    pub agent: Option<AgentId>,
}

impl McpServerInput {
    /// The server of this id with these settings; what is known of its tools is as `before`.
    pub fn with_id(self, id: McpServerId, before: Option<mcp::McpServer>) -> mcp::McpServer {
        let Self { name, transport, credential, per_user, enabled } = self;
        let (tools, checked_at, error) =
            before.map(|before| (before.tools, before.checked_at, before.error)).unwrap_or_default();
        mcp::McpServer { id, name, transport, credential, per_user, enabled, tools, checked_at, error }
    }
}

impl From<mcp::McpTool> for McpTool {
    fn from(tool: mcp::McpTool) -> Self {
        let hash = tool.hash();
        let changed = tool.accepted.as_ref().is_some_and(|one| one.hash != hash);
        Self {
            callable: tool.may_be_called(),
            diff: steward_tools::mcp::tool_diff(&tool),
            hash,
            changed,
            accepted_by: tool.accepted.as_ref().map(|one| one.by.clone()),
            accepted_at: tool.accepted.as_ref().map(|one| one.at),
            unusable: tool.unusable,
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters,
            read_only: tool.read_only,
            withdrawn: tool.withdrawn,
            gone: tool.gone,
        }
    }
}

impl From<mcp::McpServer> for McpServer {
    fn from(server: mcp::McpServer) -> Self {
        let mcp::McpServer { id, name, transport, credential, per_user, enabled, tools, checked_at, error } = server;
        let tools = tools.into_iter().map(McpTool::from).collect();
        Self { id, name, transport, credential, per_user, enabled, tools, checked_at, error }
    }
}
