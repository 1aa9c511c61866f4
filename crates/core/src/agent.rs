//! Agents: instructions, tools, routing, policy under one name.

use crate::budget::Preset;
use crate::policy::Policy;
use crate::routing::Routing;
use crate::{AgentId, ConnectionId, CredentialId, SkillId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An agent as configured. A run keeps the copy it started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its name, unique in its tenant; also the model name on the OpenAI-compatible API.
    pub name: String,
    /// Its standing instructions.
    pub instructions: String,
    /// Names of its tools; empty: all that the installation has.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The connection it prefers; `None`: the system default.
    #[serde(default)]
    pub connection: Option<ConnectionId>,
    /// Which connections its requests go to besides.
    #[serde(default)]
    pub routing: Routing,
    /// Whether and how it plans while it works; what is not set is the installation's.
    #[serde(default)]
    pub deep: Deep,
    /// What it may do unasked.
    #[serde(default)]
    pub policy: Policy,
    /// What a run of it may spend.
    #[serde(default)]
    pub budget: Preset,
    /// Sampling settings; read at each run.
    #[serde(default)]
    pub tuning: Tuning,
    /// Its skills, in the order in which they were attached.
    #[serde(default)]
    pub skills: Vec<SkillId>,
    /// Credentials by the name of the skill or of the kind that they serve; tier one of the discovery.
    #[serde(default)]
    pub credentials: BTreeMap<String, CredentialId>,
    /// Whatever people keep beside it.
    #[serde(default)]
    pub metadata: serde_json::Map<String, serde_json::Value>,
}

/// Settings of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tuning {
    /// 0 is deterministic.
    pub temperature: f32,
    /// Longest reply, tokens.
    pub max_tokens: u32,
    /// Longest wait for a whole reply, milliseconds.
    pub timeout_ms: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { temperature: 0.2, max_tokens: 4096, timeout_ms: 300_000 }
    }
}

/// Deep planning of an agent. `None`: as the installation's `DEEP_AGENT_*` settings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Deep {
    /// Whether it plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Most steps of a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u8>,
    /// How much a plan says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<PlanStyle>,
}

/// How much a deep plan says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStyle {
    /// With dependencies and risk checks.
    #[default]
    Structured,
    /// One line a step.
    Concise,
}
