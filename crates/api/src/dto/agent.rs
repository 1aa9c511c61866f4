//! Agents and tools.

use super::names::{Decision, Effect, MessageRole, Preset, Risk};
use super::routing::{Deep, Routing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use steward_core::{AgentId, ConnectionId, CredentialId, SkillId, agent, policy, tool};
use utoipa::ToSchema;
use uuid::Uuid;

/// What an agent may do unasked, by risk class; `tools` goes before the classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    /// For tools that only look.
    pub read: Decision,
    /// For changes that can be restored.
    pub write: Decision,
    /// For what leaves the house.
    pub external: Decision,
    /// For changes that can't be restored.
    pub destructive: Decision,
    /// Tool name to decision.
    #[serde(default)]
    pub tools: BTreeMap<String, Decision>,
}

/// Settings of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tuning {
    /// 0 is deterministic.
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: f32,
    /// Longest reply, tokens.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub max_tokens: u32,
    /// Longest wait for a whole reply, milliseconds.
    #[schema(minimum = 1000, maximum = 3_600_000)]
    pub timeout_ms: u64,
}

/// An agent as it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentInput {
    /// Its name, unique; also the model name on the OpenAI-compatible API.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// Its standing instructions.
    #[schema(max_length = 100_000)]
    pub instructions: String,
    /// Names of its tools; empty: all there are.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The connection it prefers; null: the default.
    #[serde(default)]
    pub connection: Option<Uuid>,
    /// Which connections its requests go to besides.
    #[serde(default)]
    pub routing: Routing,
    /// Whether and how it plans while it works.
    #[serde(default)]
    pub deep: Deep,
    /// What it may do unasked.
    pub policy: Policy,
    /// What a run of it may spend.
    pub budget: Preset,
    /// Sampling settings.
    pub tuning: Tuning,
    /// Ids of its skills; left out: those it has.
    #[serde(default)]
    pub skills: Option<Vec<Uuid>>,
    /// Credentials by the name of the skill or of the kind that they serve; left out: those it has.
    #[serde(default)]
    pub credentials: Option<BTreeMap<String, Uuid>>,
    /// Whatever people keep beside it; left out: what is there.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Option<Map<String, Value>>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Agent {
    /// Its id.
    pub id: Uuid,
    /// Its name, unique; also the model name on the OpenAI-compatible API.
    pub name: String,
    /// Its standing instructions.
    pub instructions: String,
    /// Names of its tools; empty: all there are.
    pub tools: Vec<String>,
    /// The connection it prefers; null: the default.
    #[schema(required)]
    pub connection: Option<Uuid>,
    /// Which connections its requests go to besides.
    pub routing: Routing,
    /// Whether and how it plans while it works.
    pub deep: Deep,
    /// What it may do unasked.
    pub policy: Policy,
    /// What a run of it may spend.
    pub budget: Preset,
    /// Sampling settings.
    pub tuning: Tuning,
    /// Ids of its skills.
    pub skills: Vec<Uuid>,
    /// Credentials by the name of the skill or of the kind that they serve.
    pub credentials: BTreeMap<String, Uuid>,
    /// Whatever people keep beside it.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
}

/// A tool as a model and a policy see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Tool {
    /// Name as called.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// How much harm it can do.
    pub risk: Risk,
    /// What a crash in mid-call means.
    pub effect: Effect,
}

/// What the prompt of an agent would be.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviewRequest {
    /// The agent, saved or not.
    pub agent: AgentInput,
    /// A request to preview with.
    #[serde(default)]
    #[schema(max_length = 200_000)]
    pub input: Option<String>,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PromptMessage {
    /// Who it is from.
    pub role: MessageRole,
    /// Its text.
    pub text: String,
}

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PromptSection {
    /// What it is.
    pub name: String,
    /// Its estimated size.
    pub tokens: u64,
}

/// A prompt before it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PromptPreview {
    /// What would be sent.
    pub messages: Vec<PromptMessage>,
    /// Where the tokens go.
    pub sections: Vec<PromptSection>,
    /// Estimated size.
    pub tokens: u64,
    /// The model's window, tokens.
    pub window: u32,
    /// Tokens kept free for the reply.
    pub reserved: u32,
    /// Whether it fits.
    pub fits: bool,
    /// Tools offered.
    pub tools: Vec<String>,
    /// Name of the model.
    pub model: String,
}

impl From<policy::Policy> for Policy {
    fn from(policy: policy::Policy) -> Self {
        Self {
            read: policy.read.into(),
            write: policy.write.into(),
            external: policy.external.into(),
            destructive: policy.destructive.into(),
            tools: policy.tools.into_iter().map(|(name, decision)| (name, decision.into())).collect(),
        }
    }
}

impl From<Policy> for policy::Policy {
    fn from(policy: Policy) -> Self {
        Self {
            read: policy.read.into(),
            write: policy.write.into(),
            external: policy.external.into(),
            destructive: policy.destructive.into(),
            tools: policy.tools.into_iter().map(|(name, decision)| (name, decision.into())).collect(),
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        agent::Tuning::default().into()
    }
}

impl From<agent::Tuning> for Tuning {
    fn from(tuning: agent::Tuning) -> Self {
        Self { temperature: tuning.temperature, max_tokens: tuning.max_tokens, timeout_ms: tuning.timeout_ms }
    }
}

impl From<Tuning> for agent::Tuning {
    fn from(tuning: Tuning) -> Self {
        Self { temperature: tuning.temperature, max_tokens: tuning.max_tokens, timeout_ms: tuning.timeout_ms }
    }
}

impl AgentInput {
    /// The agent of this id with these settings; what is left out of skills, credentials and metadata is as
    /// `before`.
    pub fn with_id(self, id: AgentId, before: Option<&agent::Agent>) -> agent::Agent {
        let skills = self.skills.map(|ids| ids.into_iter().map(SkillId).collect());
        let credentials = self.credentials.map(|named| {
            let named = named.into_iter();
            named.map(|(name, id)| (name, CredentialId(id))).collect()
        });
        agent::Agent {
            id,
            name: self.name.trim().to_owned(),
            instructions: self.instructions,
            tools: self.tools,
            connection: self.connection.map(ConnectionId),
            policy: self.policy.into(),
            budget: self.budget.into(),
            tuning: self.tuning.into(),
            deep: self.deep.into(),
            routing: self.routing.into(),
            skills: skills.or_else(|| before.map(|agent| agent.skills.clone())).unwrap_or_default(),
            credentials: credentials.or_else(|| before.map(|agent| agent.credentials.clone())).unwrap_or_default(),
            metadata: self.metadata.or_else(|| before.map(|agent| agent.metadata.clone())).unwrap_or_default(),
        }
    }
}

impl From<agent::Agent> for Agent {
    fn from(agent: agent::Agent) -> Self {
        Self {
            id: agent.id.0,
            name: agent.name,
            instructions: agent.instructions,
            tools: agent.tools,
            connection: agent.connection.map(|id| id.0),
            routing: agent.routing.into(),
            deep: agent.deep.into(),
            policy: agent.policy.into(),
            budget: agent.budget.into(),
            tuning: agent.tuning.into(),
            skills: agent.skills.into_iter().map(|id| id.0).collect(),
            credentials: agent.credentials.into_iter().map(|(name, id)| (name, id.0)).collect(),
            metadata: agent.metadata,
        }
    }
}

impl From<tool::ToolSpec> for Tool {
    fn from(spec: tool::ToolSpec) -> Self {
        Self {
            name: spec.name,
            description: spec.description,
            parameters: std::sync::Arc::unwrap_or_clone(spec.parameters),
            risk: spec.risk.into(),
            effect: spec.effect.into(),
        }
    }
}

impl From<steward_engine::PromptPreview> for PromptPreview {
    fn from(preview: steward_engine::PromptPreview) -> Self {
        Self {
            messages: preview
                .messages
                .into_iter()
                .map(|message| PromptMessage { role: message.role.into(), text: message.text })
                .collect(),
            sections: preview
                .sections
                .into_iter()
                .map(|section| PromptSection { name: section.name, tokens: section.tokens })
                .collect(),
            tokens: preview.tokens,
            window: preview.window,
            reserved: preview.reserved,
            fits: preview.fits,
            tools: preview.tools,
            model: preview.model,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Agent, AgentInput};
    use serde_json::json;
    use steward_core::{AgentId, agent};
    use uuid::Uuid;

    fn input() -> serde_json::Value {
        json!({
            "name": " writer ", "instructions": "Write.", "tools": ["write"], "connection": null,
            "policy": {"read": "allow", "write": "ask", "external": "ask", "destructive": "deny", "tools": {"write": "allow"}},
            "routing": {}, "deep": {}, "budget": "executor",
            "tuning": {"temperature": 0.5, "max_tokens": 100, "timeout_ms": 5000},
        })
    }

    #[test]
    fn an_agent_survives_the_way_in_and_out() {
        let given: AgentInput = serde_json::from_value(input()).unwrap();
        let core: agent::Agent = given.with_id(AgentId(Uuid::from_u128(7)), None);
        assert_eq!(core.name, "writer");
        // The core's own JSON is the contract's, so what goes out is what is stored.
        let mut stored = json!(core);
        // What is not set is left out there, and said here.
        for (field, value) in [
            ("/routing/task_routing", json!({})),
            ("/routing/fallback_chain", json!([])),
            ("/routing/hedge_after_ms", json!(null)),
            ("/deep/enabled", json!(null)),
            ("/deep/max_steps", json!(null)),
            ("/deep/style", json!(null)),
        ] {
            let (parent, name) = field.rsplit_once('/').unwrap();
            stored.pointer_mut(parent).unwrap()[name] = value;
        }
        assert_eq!(json!(Agent::from(core)), stored);
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for (pointer, field) in
            [("", "colour"), ("/policy", "reed"), ("/tuning", "top_q"), ("/routing", "chain"), ("/deep", "depth")]
        {
            let mut body = input();
            body.pointer_mut(pointer).unwrap()[field] = json!(1);
            let error = serde_json::from_value::<AgentInput>(body).unwrap_err();
            assert!(error.to_string().contains(field), "{error}");
        }
    }
}
