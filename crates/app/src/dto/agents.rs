use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use steward_core::agent::{Agent, Deep, OwnData, Tuning};
use steward_core::budget::Preset;
use steward_core::policy::{Policy, RiskClass};
use steward_core::routing::Routing;
use steward_core::tool::{EffectClass, ToolSpec};
use steward_core::{AgentId, ConnectionId, CredentialId, SkillId};
use utoipa::ToSchema;

/// An agent as it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentInput {
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
    pub connection: Option<ConnectionId>,
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
    pub skills: Option<Vec<SkillId>>,
    /// Credentials by the name of the skill or of the kind that they serve; left out: those it has.
    pub credentials: Option<BTreeMap<String, CredentialId>>,
    /// What it keeps for itself; left out: as it is.
    pub own_data: Option<OwnData>,
    /// Whether documents that its users upload from now on are linked to it; left out: as it is.
    pub auto_link_uploads: Option<bool>,
    /// Whatever people keep beside it; left out: what is there.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Option<Map<String, Value>>,
}

/// A tool as a model and a policy see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tool {
    /// Name as called.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// How much harm it can do.
    pub risk: RiskClass,
    /// What a crash in mid-call means.
    pub effect: EffectClass,
}

/// What the prompt of an agent would be.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewRequest {
    /// The agent, saved or not.
    pub agent: AgentInput,
    /// A request to preview with.
    #[schema(max_length = 200_000)]
    pub input: Option<String>,
}

impl AgentInput {
    /// What is left out of skills, credentials and metadata is as `before`.
    pub fn with_id(self, id: AgentId, before: Option<&Agent>) -> Agent {
        Agent {
            id,
            name: self.name.trim().to_owned(),
            instructions: self.instructions,
            tools: self.tools,
            connection: self.connection,
            policy: self.policy,
            budget: self.budget,
            tuning: self.tuning,
            deep: self.deep,
            routing: self.routing,
            skills: self.skills.or_else(|| before.map(|agent| agent.skills.clone())).unwrap_or_default(),
            credentials: self.credentials.or_else(|| before.map(|agent| agent.credentials.clone())).unwrap_or_default(),
            own_data: self.own_data.or_else(|| before.map(|agent| agent.own_data)).unwrap_or_default(),
            auto_link_uploads: self
                .auto_link_uploads
                .or_else(|| before.map(|agent| agent.auto_link_uploads))
                .unwrap_or_default(),
            metadata: self.metadata.or_else(|| before.map(|agent| agent.metadata.clone())).unwrap_or_default(),
        }
    }
}

impl From<ToolSpec> for Tool {
    fn from(spec: ToolSpec) -> Self {
        let ToolSpec { name, description, parameters, risk, effect, .. } = spec;
        Self { name, description, parameters: Arc::unwrap_or_clone(parameters), risk, effect }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::AgentInput;
    use serde_json::json;
    use steward_core::AgentId;
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
        let agent = given.with_id(AgentId(Uuid::from_u128(7)), None);
        assert_eq!(agent.name, "writer");
        // What was not set is said.
        let shown = json!(agent);
        for (field, value) in [
            ("/routing/task_routing", json!({})),
            ("/routing/fallback_chain", json!([])),
            ("/routing/hedge_after_ms", json!(null)),
            ("/deep", json!({"enabled": null, "max_steps": null, "style": null})),
            ("/policy", input()["policy"].clone()),
            ("/connection", json!(null)),
        ] {
            assert_eq!(shown.pointer(field), Some(&value), "{field}");
        }
        let back: AgentInput = serde_json::from_value({
            let mut shown = shown.clone();
            shown.as_object_mut().unwrap().remove("id");
            shown
        })
        .unwrap();
        assert_eq!(json!(back.with_id(agent.id, None)), shown);
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
