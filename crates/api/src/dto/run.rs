//! Runs: rows, details, what is done to them.

use super::names::{Limit, Mode, Origin, Purpose, RunStatus, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use steward_core::{budget, event, ports};
use utoipa::ToSchema;
use uuid::Uuid;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// With an answer.
    Completed,
    /// With an error.
    Failed {
        /// What to do.
        message: String,
    },
    /// By a person.
    Stopped {
        /// Who.
        by: String,
    },
    /// At a limit of its budget.
    Limited {
        /// Which.
        limit: Limit,
        /// Whose budget it is, when it begins anew and what to do, where it was a hard budget.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// A person said no to the plan.
    Rejected,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Run {
    /// Its id.
    pub id: Uuid,
    /// Its agent.
    pub agent_id: Uuid,
    /// Its agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// Its conversation.
    #[schema(required)]
    pub conversation_id: Option<Uuid>,
    /// First line of the request.
    pub title: String,
    /// Where it stands.
    pub status: RunStatus,
    /// How it ended.
    #[schema(required)]
    pub outcome: Option<Outcome>,
    /// Its answer.
    #[schema(required)]
    pub answer: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// Whose it is.
    #[schema(required)]
    pub user_id: Option<Uuid>,
    /// Name of the model that it started with.
    pub model: String,
    /// Whether the claims of its answer are proved; null until it ends.
    #[schema(required)]
    pub verdict: Option<Verdict>,
    /// The run whose first events it repeats.
    #[schema(required)]
    pub forked_from: Option<Uuid>,
    /// When it was made.
    pub created_at: i64,
    /// When it last moved.
    pub updated_at: i64,
    /// Its last event.
    pub last_seq: u64,
    /// Tokens so far.
    pub tokens: u64,
    /// Cost so far, millionths of a US dollar.
    pub cost_micros: u64,
}

/// What a run may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Budget {
    /// Calls of a model.
    pub model_calls: u32,
    /// Calls of tools.
    pub tool_calls: u32,
    /// Time at work, milliseconds.
    pub wall_ms: u64,
    /// Longest tool call, milliseconds.
    pub call_ms: u64,
    /// Prompt and completion tokens together.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub cost_micros: u64,
    /// Levels of delegation.
    pub depth: u8,
}

/// Where a run can be forked: just before a model is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ForkPoint {
    /// Give this to fork there.
    pub seq: u64,
    /// The model call that would be made anew.
    pub step: u32,
    /// What it is for.
    pub purpose: Purpose,
}

/// A run with all that its page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct RunDetail {
    /// The row.
    #[serde(flatten)]
    pub run: Run,
    /// The request.
    pub input: String,
    /// Whether it plans first.
    pub mode: Mode,
    /// Who asked.
    pub asked_by: String,
    /// The connection that it uses.
    pub connection_id: Uuid,
    /// What it may spend.
    pub budget: Budget,
    /// The inbox entry that it waits for.
    #[schema(required)]
    pub waiting_approval: Option<Uuid>,
    /// Effects that can be undone and are not yet.
    pub undoable: usize,
    /// Where it can be forked.
    pub forkable: Vec<ForkPoint>,
    /// The name under which it is kept as a test.
    #[schema(required)]
    pub kept_as: Option<String>,
    /// The run that delegated to it.
    #[schema(required)]
    pub parent: Option<Uuid>,
    /// The runs that it delegated to, oldest first.
    pub children: Vec<ChildRun>,
}

/// A run that another one delegated to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ChildRun {
    /// The run.
    pub run_id: Uuid,
    /// Name of its agent, as it was.
    pub agent_name: String,
    /// The call that delegated.
    pub call_id: String,
}

/// One entry of a run's log; its other fields depend on `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Event {
    /// The run.
    pub run_id: Uuid,
    /// Position, from 1 without gaps.
    pub seq: u64,
    /// When it was appended.
    pub at: i64,
    /// Fencing epoch of the runner that appended it.
    pub epoch: u64,
    /// What happened, such as `model.delta`.
    pub r#type: String,
    /// Depends on `type`.
    #[serde(flatten)]
    pub body: BTreeMap<String, Value>,
}

/// A server-sent event, for the document.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema counts")]
pub(crate) struct StreamEvent {
    /// The event's number, for `Last-Event-ID`; not in `/api/events`.
    #[schema(nullable = false)]
    id: Option<String>,
    /// The event's type.
    event: String,
    /// JSON: the `Event`; in `/api/events` its `type`, `run_id` and `seq` only.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// What concerns lists: something happened to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// `run.started`, `approval.requested`, `approval.decided`, `run.finished` or `tool.undone`.
    pub r#type: String,
    /// The run.
    pub run_id: Uuid,
    /// The event.
    pub seq: u64,
}

/// A run that a request was made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct RunRef {
    /// The run.
    pub run_id: Uuid,
}

/// Whether a run was taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Resumed {
    /// `false` if it is at work already, waits, or has ended.
    pub resumed: bool,
}

/// A further message to a run.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Steer {
    /// The message.
    #[schema(min_length = 1, max_length = 200_000)]
    pub text: String,
}

/// How to fork a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fork {
    /// One of `forkable`; the first if left out.
    #[serde(default)]
    pub seq: Option<u64>,
    /// Another connection.
    #[serde(default)]
    pub connection_id: Option<Uuid>,
    /// Another request; only at the first place.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200_000)]
    pub input: Option<String>,
}

/// What to undo.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Undo {
    /// Only this call; else all effects of the run, newest first.
    #[serde(default)]
    pub call_id: Option<String>,
}

/// What became of one effect.
#[expect(clippy::struct_field_names, reason = "the API's word for it")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Undone {
    /// The call.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// Whether it was taken back.
    pub undone: bool,
    /// What was restored, or why not.
    pub detail: String,
}

/// Where a replay differs from what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Difference {
    /// The event.
    pub seq: u64,
    /// What was recorded.
    pub recorded: String,
    /// What this program would do.
    pub now: String,
}

/// A run decided again from its own log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Replay {
    /// The run.
    pub run_id: Uuid,
    /// Whether all decisions are the same.
    pub same: bool,
    /// Events read.
    pub events: u64,
    /// Decisions compared.
    pub decisions: u64,
    /// Where they differ.
    pub differences: Vec<Difference>,
}

/// Under which name a run is kept as a test.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keep {
    /// Unique.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
}

/// A run kept as a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct KeptRun {
    /// Its name.
    pub name: String,
    /// The run.
    pub run_id: Uuid,
    /// Who kept it.
    pub by: String,
    /// When.
    pub created_at: i64,
}

/// What a kept run's replay found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct KeptReport {
    /// Its name.
    pub name: String,
    /// The run.
    pub run_id: Uuid,
    /// Whether all decisions are the same.
    pub same: bool,
    /// Where they differ.
    pub differences: Vec<Difference>,
}

impl From<event::Outcome> for Outcome {
    fn from(outcome: event::Outcome) -> Self {
        match outcome {
            event::Outcome::Completed => Self::Completed,
            event::Outcome::Failed { message } => Self::Failed { message },
            event::Outcome::Stopped { by } => Self::Stopped { by },
            event::Outcome::Limited { limit, message } => Self::Limited { limit: limit.into(), message },
            event::Outcome::Rejected => Self::Rejected,
        }
    }
}

impl From<budget::Budget> for Budget {
    fn from(budget: budget::Budget) -> Self {
        Self {
            model_calls: budget.model_calls,
            tool_calls: budget.tool_calls,
            wall_ms: budget.wall_ms,
            call_ms: budget.call_ms,
            tokens: budget.tokens,
            cost_micros: budget.cost_micros,
            depth: budget.depth,
        }
    }
}

impl From<steward_engine::ForkPoint> for ForkPoint {
    fn from(point: steward_engine::ForkPoint) -> Self {
        Self { seq: point.seq, step: point.step, purpose: point.purpose.into() }
    }
}

impl Run {
    /// The row with its agent's name.
    pub fn named(row: ports::RunRow, agent_name: Option<String>) -> Self {
        Self {
            id: row.id.0,
            agent_id: row.agent.0,
            agent_name,
            conversation_id: row.conversation.map(|id| id.0),
            title: row.title,
            status: row.status.into(),
            outcome: row.outcome.map(Into::into),
            answer: row.answer,
            origin: row.origin.into(),
            user_id: row.user.map(|id| id.0),
            model: row.model,
            verdict: row.verdict.map(Into::into),
            forked_from: row.forked_from.map(|id| id.0),
            created_at: row.created_at.0,
            updated_at: row.updated_at.0,
            last_seq: row.last_seq,
            tokens: row.tokens,
            cost_micros: row.cost_micros,
        }
    }
}

impl From<ports::KeptRun> for KeptRun {
    fn from(kept: ports::KeptRun) -> Self {
        Self { name: kept.name, run_id: kept.run.0, by: kept.by, created_at: kept.created_at.0 }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Budget, Outcome};
    use serde_json::json;
    use steward_core::{budget, event};

    #[test]
    fn outcomes_and_budgets_go_out_as_they_are_stored() {
        for stored in [
            json!({"status": "completed"}),
            json!({"status": "failed", "message": "m"}),
            json!({"status": "stopped", "by": "ann"}),
            json!({"status": "limited", "limit": "model_calls"}),
            json!({"status": "rejected"}),
        ] {
            let core: event::Outcome = serde_json::from_value(stored.clone()).unwrap();
            assert_eq!(json!(Outcome::from(core)), stored);
        }
        let core = budget::Preset::Plan.budget();
        assert_eq!(json!(Budget::from(core)), json!(core));
    }
}
