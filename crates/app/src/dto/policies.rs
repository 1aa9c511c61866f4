use crate::dto::named::NamedRef;
use serde::{Deserialize, Serialize};
use steward_core::policy::{Decision, Origin, RiskClass};
use steward_core::ports::Role;
use utoipa::ToSchema;

/// For which calls an installation wants more care than the agent's own policy. An empty list means all.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRuleInput {
    /// Its name, unique; shown wherever it decides.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// The classes of tools it is about.
    #[serde(default)]
    pub risks: Vec<RiskClass>,
    /// The agents, by id, or by the name that one has now.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Where the run came from.
    #[serde(default)]
    pub origins: Vec<Origin>,
    /// The role of the user who asked. A run without a user is among all of them.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// The least that happens: `ask` or `deny`.
    pub decision: Decision,
    /// Whether only somebody else than those who asked may approve such a call, each by itself. Whoever has put words into
    /// its run has asked: by the request, a message, feedback or an answer.
    #[serde(default)]
    pub four_eyes: bool,
}

/// The rules of an installation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRulesInput {
    /// That of the rules that were changed.
    pub version: u64,
    /// All that fit a call hold; the strictest decides.
    #[schema(max_items = 100)]
    pub rules: Vec<ToolRuleInput>,
}

/// A rule as it is kept.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolRuleView {
    /// Its name, unique; shown wherever it decides.
    pub name: String,
    /// The classes of tools it is about.
    pub risks: Vec<RiskClass>,
    /// The agents.
    pub agents: Vec<NamedRef>,
    /// Where the run came from.
    pub origins: Vec<Origin>,
    /// The role of the user who asked. A run without a user is among all of them.
    pub roles: Vec<Role>,
    /// The least that happens: `ask` or `deny`.
    pub decision: Decision,
    /// Whether only somebody else than those who asked may approve such a call, each by itself.
    pub four_eyes: bool,
}

/// The rules of an installation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolRulesView {
    /// Counts changes from 0; a change names the version it was made from.
    pub version: u64,
    /// All that fit a call hold; the strictest decides.
    pub rules: Vec<ToolRuleView>,
}
