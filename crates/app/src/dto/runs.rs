use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use steward_core::budget::Budget;
use steward_core::event::{Mode, Origin, Outcome};
use steward_core::ports::{RunRow, RunStatus};
use steward_core::receipts::Verdict;
use steward_core::{AgentId, ApprovalId, ConnectionId, ConversationId, RunId, Timestamp, UserId};
use steward_engine::{Difference, ForkPoint};
use utoipa::ToSchema;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Its agent.
    pub agent_id: AgentId,
    /// Its agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// Its conversation.
    #[schema(required)]
    pub conversation_id: Option<ConversationId>,
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
    pub user_id: Option<UserId>,
    /// Name of the model that it started with.
    pub model: String,
    /// Whether the claims of its answer are proved; null until it ends.
    #[schema(required)]
    pub verdict: Option<Verdict>,
    /// The run whose first events it repeats.
    #[schema(required)]
    pub forked_from: Option<RunId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last moved.
    pub updated_at: Timestamp,
    /// Its last event.
    pub last_seq: u64,
    /// Tokens so far.
    pub tokens: u64,
    /// Cost so far, millionths of a US dollar.
    pub cost_micros: u64,
}

/// A run with all that its page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunDetail {
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
    pub connection_id: ConnectionId,
    /// What it may spend.
    pub budget: Budget,
    /// The inbox entry that it waits for.
    #[schema(required)]
    pub waiting_approval: Option<ApprovalId>,
    /// Effects that can be undone and are not yet.
    pub undoable: usize,
    /// Where it can be forked.
    pub forkable: Vec<ForkPoint>,
    /// The name under which it is kept as a test.
    #[schema(required)]
    pub kept_as: Option<String>,
    /// The run that delegated to it.
    #[schema(required)]
    pub parent: Option<RunId>,
    /// The runs that it delegated to, oldest first.
    pub children: Vec<ChildRun>,
}

/// A run that another one delegated to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChildRun {
    /// The run.
    pub run_id: RunId,
    /// Name of its agent, as it was.
    pub agent_name: String,
    /// The call that delegated.
    pub call_id: String,
}

/// One entry of a run's log; its other fields depend on `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// The run.
    pub run_id: RunId,
    /// Position, from 1 without gaps.
    pub seq: u64,
    /// When it was appended.
    pub at: Timestamp,
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
pub struct StreamEvent {
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
pub struct Notice {
    /// `run.started`, `approval.requested`, `approval.decided`, `run.finished` or `tool.undone`.
    pub r#type: String,
    pub run_id: RunId,
    pub seq: u64,
}

/// A run that a request was made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunRef {
    /// The run.
    pub run_id: RunId,
}

/// Whether a run was taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resumed {
    /// `false` if it is at work already, waits, or has ended.
    pub resumed: bool,
}

/// A further message to a run.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Steer {
    /// The message.
    #[schema(min_length = 1, max_length = 200_000)]
    pub text: String,
}

/// How to fork a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// One of `forkable`; the first if left out.
    pub seq: Option<u64>,
    /// The connection; chosen as for a new message if left out.
    pub connection_id: Option<ConnectionId>,
    /// Another request; only at the first place.
    #[schema(min_length = 1, max_length = 200_000)]
    pub input: Option<String>,
}

/// What to undo.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// Only this call; else all effects of the run, newest first.
    pub call_id: Option<String>,
}

/// What became of one effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Undone {
    /// The call.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// Whether it was taken back.
    pub undone: bool,
    /// What was restored, or why not.
    pub detail: String,
}

/// A run decided again from its own log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Replay {
    /// The run.
    pub run_id: RunId,
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
pub struct Keep {
    /// Unique.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
}

/// What a kept run's replay found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeptReport {
    /// Its name.
    pub name: String,
    /// The run.
    pub run_id: RunId,
    /// Whether all decisions are the same.
    pub same: bool,
    /// Where they differ.
    pub differences: Vec<Difference>,
}

impl Run {
    pub fn named(agent_name: Option<String>, row: RunRow) -> Self {
        Self {
            id: row.id,
            agent_id: row.agent,
            agent_name,
            conversation_id: row.conversation,
            title: row.title,
            status: row.status,
            outcome: row.outcome,
            answer: row.answer,
            origin: row.origin,
            user_id: row.user,
            model: row.model,
            verdict: row.verdict,
            forked_from: row.forked_from,
            created_at: row.created_at,
            updated_at: row.updated_at,
            last_seq: row.last_seq,
            tokens: row.tokens,
            cost_micros: row.cost_micros,
        }
    }
}
