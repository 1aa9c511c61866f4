//! Settings by which a connection is chosen for a request, and the record of a choice.

mod classify;
mod hint;
mod lexicon;
mod task;

use crate::ConnectionId;
use crate::model::ModelErrorClass;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use classify::{Classified, classified, classify};
pub use hint::{Hint, Hinted, ToolHint, hint};
pub use task::Task;

/// Which connections an agent's requests go to, besides its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// Connections for certain kinds of requests (`code_gen`, `translate`…); they go before the agent's own.
    #[schema(value_type = BTreeMap<String, ConnectionId>)]
    pub task_routing: BTreeMap<Task, ConnectionId>,
    /// What is tried after the first choice, in order; the system default comes last by itself.
    #[schema(max_items = 20)]
    pub fallback_chain: Vec<ConnectionId>,
    /// How many connections are tried at most.
    #[schema(minimum = 1, maximum = 20)]
    pub max_fallback_attempts: u8,
    /// Whether the cheapest connection goes first whose exam grade suffices for the task.
    pub cost_aware: bool,
    /// After so many milliseconds without first content, the next connection is asked as well, and the first that
    /// answers is taken; null: never.
    #[schema(minimum = 50, maximum = 600_000)]
    pub hedge_after_ms: Option<u64>,
    /// Who goes first among connections with the same model name.
    pub balance: Balance,
}

impl Default for Routing {
    fn default() -> Self {
        Self {
            task_routing: BTreeMap::new(),
            fallback_chain: Vec::new(),
            max_fallback_attempts: 3,
            cost_aware: false,
            hedge_after_ms: None,
            balance: Balance::Fixed,
        }
    }
}

/// Choice among connections with the same model name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Balance {
    /// The one that was named.
    #[default]
    Fixed,
    /// By their weights.
    Weighted,
    /// The one that answered soonest of late.
    LeastLatency,
}

/// The connections that a request goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RouteTaken {
    /// What kind of request it is.
    pub task: Task,
    /// In the order in which they are tried.
    pub targets: Vec<ConnectionId>,
    /// Why this order, for a person.
    pub reason: String,
}

/// One connection that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Attempt {
    /// The connection.
    pub connection: ConnectionId,
    /// Why it did not answer; left out: it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub class: Option<ModelErrorClass>,
    /// In the endpoint's words or ours, cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Time it took to first content or to the failure, milliseconds.
    pub ms: u64,
}
