//! What carries a skill out, and how a tool names the skill that it stands for.

use crate::SkillId;
use crate::credential::CredentialKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::str::FromStr;
use strum::IntoStaticStr;

/// What carries a skill out.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SkillKind {
    /// Enriches the prompt; never callable.
    Internal,
    /// A command on a server.
    #[serde(alias = "ssh_command")]
    Ssh,
    /// A request to an HTTP API.
    #[serde(alias = "http_call")]
    Http,
    /// A GraphQL operation.
    Graphql,
    /// A Python function in the sandbox.
    #[serde(alias = "python_inline")]
    Python,
    /// A statement on a database.
    #[serde(alias = "sql_query")]
    Sql,
    /// A program on this machine, in the sandbox.
    #[serde(alias = "shell_exec")]
    Shell,
    /// A playbook.
    Ansible,
    /// A container.
    Docker,
    /// A web page as text, links and tables.
    #[serde(alias = "scrapling")]
    Scrape,
    /// Inference on a HuggingFace endpoint.
    Huggingface,
    /// Another agent.
    AgentDelegation,
    /// A tool of an MCP server.
    Mcp,
}

impl SkillKind {
    /// In display order.
    pub const ALL: [Self; 13] = [
        Self::Internal,
        Self::Http,
        Self::Graphql,
        Self::Sql,
        Self::Ssh,
        Self::Shell,
        Self::Python,
        Self::Ansible,
        Self::Docker,
        Self::Scrape,
        Self::Huggingface,
        Self::AgentDelegation,
        Self::Mcp,
    ];

    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether its results may hold what strangers wrote, whatever the skill says of itself.
    pub fn reads_outside(self) -> bool {
        matches!(self, Self::Http | Self::Graphql | Self::Scrape | Self::Huggingface | Self::Mcp)
    }

    /// Whether it may reach another machine, whatever its risk and its configuration. Databases are the house's own, and
    /// programs on this machine run without the network.
    pub fn sends_out(self) -> bool {
        !matches!(self, Self::Internal | Self::Python | Self::Shell | Self::Sql | Self::AgentDelegation)
    }

    /// Suitable kinds of credential, best first.
    pub fn credentials(self) -> &'static [CredentialKind] {
        use CredentialKind as C;
        match self {
            Self::Internal | Self::Python | Self::AgentDelegation | Self::Shell => &[],
            Self::Ssh | Self::Ansible => &[C::SshKey, C::Password],
            Self::Http | Self::Graphql | Self::Scrape => &[C::ApiKey, C::Token, C::Oauth2, C::Password, C::Certificate],
            Self::Sql => &[C::Database, C::Password],
            Self::Docker => &[C::Password, C::Token],
            Self::Huggingface | Self::Mcp => &[C::Token, C::ApiKey, C::Oauth2],
        }
    }
}

impl FromStr for SkillKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_value(Value::String(text.trim().to_lowercase())).map_err(|_| {
            let known: Vec<_> = Self::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("`{text}` is no type of skill; the types are {}", known.join(", "))
        })
    }
}

/// Which version of a skill a tool stands for. A run keeps the one it began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SkillRef {
    /// The skill.
    pub id: SkillId,
    /// Its version.
    pub version: u32,
    /// What carries it out.
    pub kind: SkillKind,
    /// Whether strangers may have written what it answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
    /// For a delegation: the agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub agent: Option<String>,
    /// For a delegation: the template of the agent's request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub request: Option<String>,
}
