//! MCP servers. A tool is pinned by its hash: a changed one is refused until a person has seen what changed.

use crate::skill::CredentialWanted;
use crate::{McpServerId, Timestamp, hash};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpServer {
    pub id: McpServerId,
    /// Unique in its tenant, `[a-z0-9_]{1,32}`; tools are called `<name>_<tool>`.
    pub name: String,
    pub transport: McpTransport,
    /// The credential that it gets: an environment variable over stdio, a header over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<CredentialWanted>,
    /// Whether each user needs a token of their own.
    #[serde(default)]
    pub per_user: bool,
    pub enabled: bool,
    #[serde(default)]
    pub tools: Vec<McpTool>,
    pub checked_at: Option<Timestamp>,
    /// Why the last request failed; `None` if it did not.
    pub error: Option<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum McpTransport {
    /// A program of this machine, in the OS sandbox.
    Stdio {
        /// Program and arguments.
        command: Vec<String>,
        /// Name of the variable that takes the credential's secret.
        #[serde(default)]
        secret_variable: Option<String>,
        /// Plain settings in its environment; what is secret goes into `secrets`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// Variables that take a secret each, with the name of the credential that has it.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        secrets: BTreeMap<String, String>,
        /// Whether it may use the network.
        #[serde(default)]
        network: bool,
        /// Files and folders that it may read besides the system's programs, absolute: where it is
        /// installed.
        #[serde(default)]
        read: Vec<String>,
        /// Files and folders that it may change besides its own folder, absolute.
        #[serde(default)]
        write: Vec<String>,
    },
    /// Streamable HTTP.
    Http {
        /// Its endpoint.
        url: String,
        /// Private hosts and ports that it may be at, `host:port`.
        #[serde(default)]
        allow: Vec<String>,
    },
}

/// A tool of a server, as last seen; `parameters` is the JSON Schema of its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpTool {
    pub name: String,
    pub description: String,
    pub parameters: Value,
    /// Whether the server says that the tool only reads. This is a hint: a person chooses the risk class.
    #[serde(default)]
    pub read_only: bool,
    /// What a person accepted; `None` if nobody has yet.
    pub accepted: Option<AcceptedTool>,
    /// Whether a person took their acceptance back since.
    #[serde(default)]
    pub withdrawn: bool,
    #[serde(default)]
    pub gone: bool,
    /// Why nobody should accept it: its schema can't be used, or it is called in a way that isn't supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcceptedTool {
    /// Made by [`tool_hash`].
    pub hash: String,
    pub description: String,
    pub parameters: Value,
    pub at: Timestamp,
    pub by: String,
}

impl McpTool {
    pub fn hash(&self) -> String {
        tool_hash(&self.name, &self.description, &self.parameters)
    }

    /// Whether it was accepted and has not changed since.
    pub fn may_be_called(&self) -> bool {
        !self.gone && self.accepted.as_ref().is_some_and(|accepted| accepted.hash == self.hash())
    }
}

/// The hash that pins a tool: a change of any of these needs a new acceptance.
pub fn tool_hash(name: &str, description: &str, parameters: &Value) -> String {
    hash::of_json(&json!({"name": name, "description": description, "parameters": parameters}))
}
