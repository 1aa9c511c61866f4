//! Settings by which a connection is chosen for a request, and the record of a choice.

mod classify;
mod hint;
mod lexicon;
mod redirect;
mod task;

use crate::ConnectionId;
use crate::model::ModelErrorClass;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use classify::{Classified, classified, classify};
pub use hint::{Hint, Hinted, ToolHint, hint};
pub use redirect::{Redirect, Redirected};
pub use task::Task;

/// Which connections an agent's requests go to, besides its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// Connections for certain kinds of requests (`code_gen`, `translate`…); they go before the agent's own.
    #[schema(value_type = BTreeMap<String, ConnectionId>)]
    pub task_routing: BTreeMap<Task, ConnectionId>,
    /// The connection that makes its plans; null: that of the installation, else as any request of the kind `planning`.
    pub planner: Option<ConnectionId>,
    /// The connection that carries its requests out, with or without a plan; null: that of the installation, else as
    /// any request.
    pub executor: Option<ConnectionId>,
    /// Where requests go that the hint says are about figures, documents or neither; left out: nowhere else.
    #[schema(value_type = BTreeMap<String, Redirect>)]
    pub redirects: BTreeMap<Hint, Redirect>,
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
            planner: None,
            executor: None,
            redirects: BTreeMap::new(),
            fallback_chain: Vec::new(),
            max_fallback_attempts: 3,
            cost_aware: false,
            hedge_after_ms: None,
            balance: Balance::Fixed,
        }
    }
}

impl Routing {
    /// The connections that it names, each with its field.
    pub fn connections(&self) -> impl Iterator<Item = (String, ConnectionId)> {
        let tasks = self.task_routing.iter().map(|(task, id)| (format!("task_routing.{}", task.name()), *id));
        let roles = [("planner", self.planner), ("executor", self.executor)];
        let roles = roles.into_iter().filter_map(|(field, id)| Some((field.to_owned(), id?)));
        let chain = self.fallback_chain.iter().map(|id| ("fallback_chain".to_owned(), *id));
        tasks.chain(roles).chain(chain)
    }
}

/// What a connection is named for, where one plans and another carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Makes the plans, and others when they fail.
    Planner,
    /// Does all else.
    Executor,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
        }
    }

    /// The setting that names it for all agents.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Planner => "PLANNER_MODEL_SPEC",
            Self::Executor => "EXECUTOR_MODEL_SPEC",
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
