//! Report cards of models: what an exam found out about one model at one endpoint.

use crate::Timestamp;
use crate::model::{Capabilities, Constrained};
use crate::routing::Task;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the exam; a report of an older one is worth repeating.
pub const EXAM_VERSION: u16 = 1;

/// What an exam found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExamReport {
    /// [`EXAM_VERSION`] that made it.
    pub version: u16,
    /// Base URL of the endpoint; for the local model `local`.
    pub endpoint: String,
    /// Model name as the endpoint knows it.
    pub model: String,
    /// What the server says it is, such as `ollama 0.13.1`; empty if it does not.
    #[serde(default)]
    pub server: String,
    /// When.
    pub at: Timestamp,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// Tokens it took.
    pub tokens: u64,
    /// What was tried, in order.
    pub checks: Vec<Check>,
    /// Ways to constrain output that work, best first.
    #[serde(default)]
    pub constrained: Vec<Constrained>,
    /// How good it is at each kind of request.
    #[serde(default)]
    pub grades: BTreeMap<Task, Grade>,
    /// Tokens of reply a second, once it writes.
    #[serde(default)]
    pub tokens_per_second: f32,
    /// Milliseconds to the first token of a short prompt.
    #[serde(default)]
    pub first_token_ms: u64,
    /// Tokens of prompt read a second.
    #[serde(default)]
    pub prompt_tokens_per_second: f32,
    /// Whether a repeated prompt is served from a cache.
    #[serde(default)]
    pub reuses_cache: bool,
    /// What the connection is used with from now on.
    pub capabilities: Capabilities,
    /// What was decided from it, for a person.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Its name, such as `native_calls`.
    pub name: String,
    /// How it went.
    pub outcome: CheckOutcome,
    /// Points of `of`.
    pub points: u32,
    /// Most points.
    pub of: u32,
    /// What was seen, for a person; cut.
    pub detail: String,
    /// How long it took, milliseconds.
    pub ms: u64,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It can.
    Passed,
    /// Partly.
    Partly,
    /// It can't.
    Failed,
    /// It was not tried, since time was up or something else made it pointless.
    Skipped,
}

/// Grades, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Grade {
    /// Very good.
    A,
    /// Good.
    B,
    /// It will do.
    C,
    /// Weak.
    D,
    /// It can't, or nobody tried.
    #[default]
    E,
}
