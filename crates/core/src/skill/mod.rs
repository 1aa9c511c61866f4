//! Skills: configured units that are attached to agents and yield tools or prompt context.

mod request;
mod spec;
#[cfg(test)]
mod tests;

use crate::credential::CredentialKind;
use crate::policy::RiskClass;
use crate::tool::{EffectClass, ToolSpec};
use crate::{SkillId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::str::FromStr;

pub use request::request_of;
pub use spec::{
    AnsibleSpec, DelegationSpec, DockerSpec, GraphqlSpec, HttpSpec, HuggingfaceSpec, InternalSpec, McpSpec, Page,
    PythonSpec, ScrapeSpec, ShellSpec, SkillSpec, SqlSpec, SshSpec,
};

/// What carries a skill out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
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
    /// All, in the order in which they are shown.
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
        match self {
            Self::Internal => "internal",
            Self::Ssh => "ssh",
            Self::Http => "http",
            Self::Graphql => "graphql",
            Self::Python => "python",
            Self::Sql => "sql",
            Self::Shell => "shell",
            Self::Ansible => "ansible",
            Self::Docker => "docker",
            Self::Scrape => "scrape",
            Self::Huggingface => "huggingface",
            Self::AgentDelegation => "agent_delegation",
            Self::Mcp => "mcp",
        }
    }

    /// Whether its results hold what strangers may have written, whatever they say of themselves.
    pub fn reads_outside(self) -> bool {
        matches!(self, Self::Http | Self::Graphql | Self::Scrape | Self::Huggingface | Self::Mcp)
    }

    /// Risk and effect of a skill that names none: the safe side.
    pub fn defaults(self) -> (RiskClass, EffectClass) {
        match self {
            Self::Internal | Self::Python | Self::Sql | Self::Scrape => (RiskClass::Read, EffectClass::Read),
            Self::Http | Self::Graphql | Self::Huggingface | Self::Mcp => (RiskClass::External, EffectClass::Write),
            Self::AgentDelegation => (RiskClass::Read, EffectClass::Idempotent),
            Self::Ssh | Self::Shell | Self::Ansible | Self::Docker => (RiskClass::Destructive, EffectClass::Write),
        }
    }

    /// Kinds of credential that suit it, best first.
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

/// A skill, one version of it. Versions are never changed; a change makes the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// Its id, the same over all versions.
    pub id: SkillId,
    /// Its name, unique in its tenant; also the tool's name: `[a-z0-9_]{1,64}`.
    pub name: String,
    /// Counts from 1.
    pub version: u32,
    /// What it does, for the model and for people.
    pub description: String,
    /// Requests that it answers, in people's words, for the intent filter.
    #[serde(default)]
    pub utterances: Vec<String>,
    /// JSON Schema (object) of its inputs.
    pub parameters: Value,
    /// What carries it out, and how.
    #[serde(flatten)]
    pub spec: SkillSpec,
    /// What a policy decides on.
    pub risk: RiskClass,
    /// What a crash in mid-call means.
    pub effect: EffectClass,
    /// The credential it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<CredentialWanted>,
    /// The skill that takes its effect back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Compensation>,
    /// Limits.
    #[serde(default)]
    pub limits: SkillLimits,
    /// Whether it can be called.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Whether strangers may have written what it answers, such as the rows of a shop's orders: a run that has seen it
    /// asks before it changes anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
    /// The package it came in: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Category of the catalogue.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub category: String,
    /// When this version was made.
    pub at: Timestamp,
    /// Who made it.
    #[serde(default)]
    pub by: String,
}

fn yes() -> bool {
    true
}

/// Limits of a skill's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SkillLimits {
    /// Longest call, milliseconds.
    #[cfg_attr(feature = "schema", schema(minimum = 100, maximum = 3_600_000))]
    pub timeout_ms: u64,
    /// Longest result for a model, characters.
    #[cfg_attr(feature = "schema", schema(minimum = 100, maximum = 1_000_000))]
    pub result_chars: usize,
}

impl Default for SkillLimits {
    fn default() -> Self {
        Self { timeout_ms: 30_000, result_chars: 8_000 }
    }
}

/// Which credential a skill uses: by name, or the first of this kind that suits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CredentialWanted {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CredentialKind>,
    /// Whether the skill works without one.
    #[serde(default)]
    pub optional: bool,
}

/// The skill that takes an effect back, as deleting takes back creating.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Compensation {
    /// Name of the skill.
    pub skill: String,
    /// Its arguments; strings may hold `{{name}}` of this skill's arguments and `{{result.path}}` of
    /// its result's data.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub arguments: Value,
}

/// Which version of a skill a tool stands for. A run keeps the one it began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub agent: Option<String>,
    /// For a delegation: the template of the agent's request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub request: Option<String>,
}

/// What an internal skill adds to the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillPrompt {
    /// Name of the skill.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Skill {
    /// What carries it out.
    pub fn kind(&self) -> SkillKind {
        self.spec.kind()
    }

    /// Which version this is.
    pub fn reference(&self) -> SkillRef {
        SkillRef {
            id: self.id,
            version: self.version,
            kind: self.kind(),
            untrusted: self.untrusted,
            agent: match &self.spec {
                SkillSpec::AgentDelegation(spec) => Some(spec.agent.clone()),
                _ => None,
            },
            request: match &self.spec {
                SkillSpec::AgentDelegation(spec) => Some(spec.request.clone()),
                _ => None,
            },
        }
    }

    /// The tool that it yields; `None` for an internal or disabled one.
    pub fn tool(&self) -> Option<ToolSpec> {
        if !self.enabled || self.kind() == SkillKind::Internal {
            return None;
        }
        Some(ToolSpec {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: self.parameters.clone().into(),
            effect: self.effect,
            risk: self.risk,
            utterances: self.utterances.clone().into(),
            result_limit: self.limits.result_chars,
            skill: Some(self.reference()),
        })
    }
}
