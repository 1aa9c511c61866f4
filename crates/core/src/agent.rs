use crate::budget::Preset;
use crate::policy::Policy;
use crate::routing::Routing;
use crate::{AgentId, ConnectionId, CredentialId, SkillId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An agent as configured. A run keeps the copy it started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its name, unique; also the model name on the OpenAI-compatible API.
    pub name: String,
    /// Its standing instructions.
    pub instructions: String,
    /// Names of its tools; empty: all there are.
    #[serde(default)]
    #[schema(required)]
    pub tools: Vec<String>,
    /// The connection it prefers; null: the default.
    #[serde(default)]
    #[schema(required)]
    pub connection: Option<ConnectionId>,
    /// Which connections its requests go to besides.
    #[serde(default)]
    #[schema(required)]
    pub routing: Routing,
    /// Whether and how it plans while it works.
    #[serde(default)]
    #[schema(required)]
    pub deep: Deep,
    /// What it may do unasked.
    #[serde(default)]
    #[schema(required)]
    pub policy: Policy,
    /// What a run of it may spend.
    #[serde(default)]
    #[schema(required)]
    pub budget: Preset,
    /// Sampling settings.
    #[serde(default)]
    #[schema(required)]
    pub tuning: Tuning,
    /// Ids of its skills, in the order in which they were attached.
    #[serde(default)]
    #[schema(required)]
    pub skills: Vec<SkillId>,
    /// Credentials by the name of the skill or of the kind that they serve.
    #[serde(default)]
    #[schema(required)]
    pub credentials: BTreeMap<String, CredentialId>,
    /// What it keeps for itself.
    #[serde(default)]
    #[schema(required)]
    pub own_data: OwnData,
    /// Whether documents that its users upload from now on are linked to it.
    #[serde(default)]
    #[schema(required)]
    pub auto_link_uploads: bool,
    /// Whatever people keep beside it.
    #[serde(default)]
    #[schema(required, value_type = Object)]
    pub metadata: serde_json::Map<String, serde_json::Value>,
}

/// Settings of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
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

impl Default for Tuning {
    fn default() -> Self {
        Self { temperature: 0.2, max_tokens: 4096, timeout_ms: 300_000 }
    }
}

/// Whether and how an agent plans while it works; null: as the installation is set (`DEEP_AGENT_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Deep {
    /// Whether it plans.
    pub enabled: Option<bool>,
    /// Most steps of a plan.
    #[schema(minimum = 1, maximum = 20)]
    pub max_steps: Option<u8>,
    /// How much a plan says.
    pub style: Option<PlanStyle>,
}

/// How much a deep plan says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStyle {
    /// With dependencies and risk checks.
    #[default]
    Structured,
    /// One line a step.
    Concise,
}

/// What an agent keeps for itself. Each switch gives it the tool, and the section of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OwnData {
    /// Whether it has `save_memory` and `## Your Memory`; null: `save_memory` is a tool like any other, and what is
    /// remembered stands before each request.
    pub memory: Option<bool>,
    /// Whether it has a private database, `db_query` and `## Your Database`.
    pub database: bool,
    /// Whether it keeps a documentation of its tables with `update_db_schema`.
    pub documentation: bool,
    /// Whether all of its users share what it keeps: memory, notes, reminders and database. Then only who may edit the
    /// agent has it keep something. Otherwise it keeps each user's apart, and shows them to nobody else.
    pub shared: bool,
}

impl OwnData {
    pub fn has_database_section(self) -> bool {
        self.documentation || self.database
    }

    /// Whose that is which it keeps in a run of `user`; `None`: nobody's, so it keeps nothing.
    pub fn kept_for(self, user: Option<UserId>) -> Option<KeptFor> {
        if self.shared { Some(KeptFor::Everybody) } else { user.map(KeptFor::User) }
    }
}

/// Whose that is which an agent keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptFor {
    /// That of all who use the agent.
    Everybody,
    /// This user's alone.
    User(UserId),
}
