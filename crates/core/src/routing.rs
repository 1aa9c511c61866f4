//! Which connection answers a request: settings, and what a choice looked like.

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

/// An agent's routing besides its primary connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Routing {
    /// Connections for certain tasks; they go before the agent's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub task_routing: BTreeMap<Task, ConnectionId>,
    /// What is tried after the first choice, in order; the system default comes last by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_chain: Vec<ConnectionId>,
    /// How many connections are tried at most.
    pub max_fallback_attempts: u8,
    /// Whether the cheapest connection goes first whose exam grade suffices for the task.
    pub cost_aware: bool,
    /// After so many milliseconds without first content, the next connection is asked as well, and
    /// the first that answers is taken. `None`: never.
    #[serde(skip_serializing_if = "Option::is_none")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteTaken {
    /// What kind of request it is.
    pub task: Task,
    /// In the order in which they are tried.
    pub targets: Vec<ConnectionId>,
    /// Why this order, for a person.
    pub reason: String,
}

/// One connection that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The connection.
    pub connection: ConnectionId,
    /// Why it did not answer; `None`: it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ModelErrorClass>,
    /// In the endpoint's words or ours, cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Time it took to first content or to the failure, milliseconds.
    pub ms: u64,
}
