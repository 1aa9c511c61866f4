//! Skills: configured units attached to agents that yield tools or prompt context.

mod kind;
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

pub use kind::{SkillKind, SkillRef};
pub use request::request_of;
pub use spec::{
    AnsibleSpec, DelegationSpec, DockerSpec, GraphqlSpec, HttpSpec, HuggingfaceSpec, InternalSpec, McpSpec, Page,
    PythonSpec, ScrapeSpec, ShellSpec, SkillSpec, SqlSpec, SshSpec,
};

/// One version of a skill. Versions never change; a change makes a new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// The same for all versions.
    pub id: SkillId,
    /// Unique in its tenant; also the tool's name: `[a-z0-9_]{1,64}`.
    pub name: String,
    /// Counts from 1.
    pub version: u32,
    /// Shown to the model and to people.
    pub description: String,
    /// Example requests in people's words, for the intent filter.
    #[serde(default)]
    pub utterances: Vec<String>,
    /// JSON Schema (object) of its arguments.
    pub parameters: Value,
    #[serde(flatten)]
    pub spec: SkillSpec,
    pub risk: RiskClass,
    /// Decides what a crash in mid-call means.
    pub effect: EffectClass,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<CredentialWanted>,
    /// The skill that undoes its effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Compensation>,
    #[serde(default)]
    pub limits: SkillLimits,
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Whether strangers may have written its results: a run that has seen them asks before it changes anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub category: String,
    pub at: Timestamp,
    #[serde(default)]
    pub by: String,
}

fn yes() -> bool {
    true
}

/// Limits of a skill's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SkillLimits {
    /// Longest call, milliseconds.
    #[schema(minimum = 10, maximum = 3_600_000)]
    pub timeout_ms: u64,
    /// Longest result for a model, characters.
    #[schema(minimum = 100, maximum = 200_000)]
    pub result_chars: usize,
}

impl Default for SkillLimits {
    fn default() -> Self {
        Self { timeout_ms: 30_000, result_chars: 8_000 }
    }
}

/// Which credential a skill uses: by name, or the first of this kind that suits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Compensation {
    /// Name of the skill.
    pub skill: String,
    /// Its arguments; strings may hold `{{name}}` of this skill's arguments and `{{result.path}}` of
    /// its result's data.
    #[schema(value_type = Object)]
    pub arguments: Value,
}

/// What an internal skill adds to the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SkillPrompt {
    /// Name of the skill.
    pub name: String,
    /// The text.
    pub text: String,
}

impl SkillKind {
    /// Risk and effect of a skill that names none, on the safe side.
    pub fn defaults(self) -> (RiskClass, EffectClass) {
        match self {
            Self::Internal | Self::Python | Self::Sql | Self::Scrape => (RiskClass::Read, EffectClass::Read),
            Self::Http | Self::Graphql | Self::Huggingface | Self::Mcp => (RiskClass::External, EffectClass::Write),
            Self::AgentDelegation => (RiskClass::Read, EffectClass::Idempotent),
            Self::Ssh | Self::Shell | Self::Ansible | Self::Docker => (RiskClass::Destructive, EffectClass::Write),
        }
    }
}

impl Skill {
    pub fn kind(&self) -> SkillKind {
        self.spec.kind()
    }

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

    /// `None` for an internal or disabled skill.
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
            sends_out: false,
            utterances: self.utterances.clone().into(),
            result_limit: self.limits.result_chars,
            skill: Some(self.reference()),
        })
    }
}
