//! Report cards of models: what an exam found out about one model at one endpoint.

use crate::Timestamp;
use crate::model::{Capabilities, Constrained};
use crate::routing::Task;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the exam; a report of an older one is worth repeating.
pub const EXAM_VERSION: u16 = 1;

/// What an exam found out about a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExamReport {
    /// Version of the exam; a report of an older one is worth repeating.
    pub version: u16,
    /// Base URL of the endpoint; `local` for the built-in model.
    pub endpoint: String,
    /// Model name as the endpoint knows it.
    pub model: String,
    /// What the server says it is, such as `ollama 0.13.1`; empty if it does not.
    pub server: String,
    /// When, milliseconds since 1970 UTC.
    pub at: Timestamp,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// Tokens it took.
    pub tokens: u64,
    /// What was tried, in order.
    pub checks: Vec<Check>,
    /// Ways to constrain output that work, best first.
    pub constrained: Vec<Constrained>,
    /// How good it is at each kind of request.
    #[schema(value_type = BTreeMap<String, Grade>)]
    pub grades: BTreeMap<Task, Grade>,
    /// Tokens of reply a second, once it writes.
    pub tokens_per_second: f32,
    /// Milliseconds to the first token of a short prompt.
    pub first_token_ms: u64,
    /// Tokens of prompt read a second.
    pub prompt_tokens_per_second: f32,
    /// Whether a repeated prompt is served from a cache.
    pub reuses_cache: bool,
    /// What the connection is used with from now on.
    pub capabilities: Capabilities,
    /// What was decided from it, for a person.
    pub notes: Vec<String>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
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

/// How a check of an exam went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, utoipa::ToSchema,
)]
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
