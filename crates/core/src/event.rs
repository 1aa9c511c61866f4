//! Events: the run log, which is the truth (RUN-2). The format is versioned; fields are only added.

use crate::agent::Agent;
use crate::approval::{Answer, Subject};
use crate::budget::{Budget, Limit};
use crate::message::Message;
use crate::model::{Capabilities, ModelError, Purpose, Usage};
use crate::plan::Candidate;
use crate::policy::Grant;
use crate::tool::{EffectClass, Receipt, ToolCall, ToolSpec, Undo};
use crate::{ApprovalId, ConnectionId, ConversationId, RunId, TimerId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the event format written by this program.
pub const EVENT_VERSION: u16 = 1;

/// One entry of a run's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The run.
    pub run_id: RunId,
    /// Position, from 1 without gaps.
    pub seq: u64,
    /// When it was appended.
    pub at: Timestamp,
    /// Fencing epoch of the runner that appended it.
    pub epoch: u64,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// Where a run came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The command line.
    Cli,
    /// A chat in the studio.
    Chat,
    /// The API.
    Api,
    /// A timer: nobody is there to answer.
    Schedule,
    /// Another run.
    Delegation,
}

/// Whether the agent plans first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Ask the model, run tools, ask again.
    Loop,
    /// A plan first, which a person approves.
    Plan,
    /// A plan only; nothing runs.
    PlanOnly,
    /// A plan, approved; each step shows what it would do and does not do it.
    DryRun,
}

/// Everything a run needs to be replayed without its surroundings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The agent, as it was.
    pub agent: Agent,
    /// The tools it had.
    pub tools: Vec<ToolSpec>,
    /// Conversation, if it belongs to one.
    #[serde(default)]
    pub conversation: Option<ConversationId>,
    /// Earlier messages of the conversation.
    #[serde(default)]
    pub history: Vec<Message>,
    /// What the agent remembers.
    #[serde(default)]
    pub memory: String,
    /// The request.
    pub input: String,
    /// Loop or plan.
    pub mode: Mode,
    /// Where it came from.
    pub origin: Origin,
    /// Name of the person or program that asked.
    pub asked_by: String,
    /// What it may spend.
    pub budget: Budget,
    /// Permissions given with the request.
    #[serde(default)]
    pub grants: Vec<Grant>,
    /// The connection chosen.
    pub connection: ConnectionId,
    /// Its model's name.
    pub model: String,
    /// What the model can do.
    pub capabilities: Capabilities,
    /// Whether the intent filter narrows the tools.
    pub intent_filter: bool,
    /// Folder that file tools are confined to.
    pub workspace: String,
    /// Conversation time zone offset for words like "tomorrow", minutes east of UTC.
    #[serde(default)]
    pub utc_offset_minutes: i32,
    /// The run that delegated to this one.
    #[serde(default)]
    pub parent: Option<RunId>,
    /// The user behind `asked_by`, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    /// The run whose first events this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
}

/// Where a fork left another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The other run.
    pub run: RunId,
    /// Last event taken over from it.
    pub seq: u64,
}

/// A tool and how well it fits the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// Name of the tool.
    pub tool: String,
    /// 0 to 1.
    pub score: f32,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// With an answer.
    Completed,
    /// With an error; `message` says what to do.
    Failed {
        /// For a person.
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
    },
    /// A person said no to the plan.
    Rejected,
}

/// The result of one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "the large variant is the usual one"
)]
pub enum ToolResult {
    /// It worked.
    Ok {
        /// Text, as the model gets it.
        content: String,
        /// The same as data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
        /// Whether `content` was cut.
        #[serde(default)]
        truncated: bool,
        /// Proof of the effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt: Option<Receipt>,
        /// How to take it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<Undo>,
        /// Whether it came from outside.
        #[serde(default)]
        tainted: bool,
    },
    /// It did not; the model may recover.
    Error {
        /// What went wrong and what to do.
        message: String,
        /// Whether the run ends by it.
        #[serde(default)]
        fatal: bool,
    },
    /// Nothing ran: a dry run.
    Dry {
        /// What would have happened.
        preview: String,
    },
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum EventBody {
    /// First event of each run.
    #[serde(rename = "run.started")]
    RunStarted {
        /// Format version.
        v: u16,
        /// What it needs to be replayed.
        setup: Box<Setup>,
    },
    /// A runner took the run over, after a restart or from another node.
    #[serde(rename = "run.resumed")]
    RunResumed {
        /// The runner's node name.
        node: String,
    },
    /// The intent filter narrowed the tools.
    #[serde(rename = "intent.filtered")]
    IntentFiltered {
        /// Tools kept, best first.
        kept: Vec<Ranked>,
        /// How many were offered.
        offered: usize,
        /// Whether any tool seems to be wanted at all.
        wants_tool: bool,
    },
    /// Committed before a model is asked; reserves tokens.
    #[serde(rename = "model.requested")]
    ModelRequested {
        /// Counts model calls from 1.
        step: u32,
        /// What for.
        purpose: Purpose,
        /// Model name.
        model: String,
        /// The prompt as sent: its hash.
        prompt_hash: String,
        /// The prompt as sent. Messages that are the history or system text are included.
        prompt: Vec<Message>,
        /// Tokens reserved.
        reserved: u64,
    },
    /// A piece of the reply, coalesced.
    #[serde(rename = "model.delta")]
    ModelDelta {
        /// The model call.
        step: u32,
        /// What for.
        purpose: Purpose,
        /// Text.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Reasoning.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
    },
    /// The whole reply, committed before its tools start (RUN-3 d).
    #[serde(rename = "model.responded")]
    ModelResponded {
        /// The model call.
        step: u32,
        /// What for.
        purpose: Purpose,
        /// Text for the user.
        text: String,
        /// The reply as received, where it differs from `text`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        raw: String,
        /// Reasoning.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// Calls understood.
        calls: Vec<ToolCall>,
        /// What the parsers noticed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        diagnostics: Vec<String>,
        /// `stop`, `length`, …
        finish: String,
        /// Settles the reservation.
        usage: Usage,
    },
    /// A model call failed; releases the reservation.
    #[serde(rename = "model.failed")]
    ModelFailed {
        /// The model call.
        step: u32,
        /// What for.
        purpose: Purpose,
        /// Why.
        error: ModelError,
        /// When it is tried again; `None`: it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
    },
    /// Candidates were made and scored; the first is proposed.
    #[serde(rename = "plan.proposed")]
    PlanProposed {
        /// Best first.
        candidates: Vec<Candidate>,
        /// Made by: `model` or `intent`.
        by: String,
        /// What was noticed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// Planning gave nothing usable.
    #[serde(rename = "plan.failed")]
    PlanFailed {
        /// Why, for a person.
        message: String,
    },
    /// Open arguments of a step were filled.
    #[serde(rename = "plan.filled")]
    PlanFilled {
        /// Index of the step.
        index: usize,
        /// Complete arguments, or why there are none.
        arguments: Result<Value, String>,
    },
    /// A person is asked. A row of the inbox is made in the same transaction.
    #[serde(rename = "approval.requested")]
    ApprovalRequested {
        /// Its id.
        approval_id: ApprovalId,
        /// What is asked.
        subject: Box<Subject>,
    },
    /// A person answered.
    #[serde(rename = "approval.decided")]
    ApprovalDecided {
        /// Its id.
        approval_id: ApprovalId,
        /// The answer.
        answer: Answer,
        /// Who.
        by: String,
    },
    /// A call was not run: unknown tool, invalid arguments, denied.
    #[serde(rename = "tool.rejected")]
    ToolRejected {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// Why; goes to the model.
        message: String,
    },
    /// Committed before the effect (RUN-3 c).
    #[serde(rename = "tool.intent")]
    ToolIntent {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
        /// [`crate::hash::of_json`] of the arguments.
        args_hash: String,
        /// What a crash from here on means.
        effect: EffectClass,
        /// Stable over repeats of this call.
        idempotency_key: String,
    },
    /// Committed after it.
    #[serde(rename = "tool.result")]
    ToolResult {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// What came back.
        #[serde(flatten)]
        result: ToolResult,
        /// How long it took, milliseconds.
        ms: u64,
    },
    /// An effect was taken back.
    #[serde(rename = "tool.undone")]
    ToolUndone {
        /// The call.
        call_id: String,
        /// What was restored.
        summary: String,
        /// Who asked.
        by: String,
    },
    /// An intent without result was found on recovery and may not be repeated.
    #[serde(rename = "tool.uncertain")]
    ToolUncertain {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
    },
    /// A durable alarm was set.
    #[serde(rename = "timer.set")]
    TimerSet {
        /// Its id.
        timer_id: TimerId,
        /// When. Beside the event's own time it needs a name of its own; older logs have `at`.
        #[serde(rename = "rings_at", alias = "at")]
        at: Timestamp,
        /// Why.
        purpose: String,
    },
    /// It rang.
    #[serde(rename = "timer.fired")]
    TimerFired {
        /// Its id.
        timer_id: TimerId,
    },
    /// A message of the user to the running run; taken in at the next step (RUN-5).
    #[serde(rename = "run.steered")]
    RunSteered {
        /// What they said.
        text: String,
        /// Who.
        by: String,
    },
    /// A person stops the run.
    #[serde(rename = "run.stop_requested")]
    StopRequested {
        /// Who.
        by: String,
    },
    /// Last event of each run.
    #[serde(rename = "run.finished")]
    RunFinished {
        /// How.
        outcome: Outcome,
        /// The answer; empty if there is none.
        answer: String,
        /// Whether the answer was composed from observations rather than written by the model.
        #[serde(default)]
        composed: bool,
        /// All it took.
        usage: Usage,
        /// What the answer claims and what proves it (RUN-10); `None` in logs of older programs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipts: Option<crate::receipts::Receipts>,
    },
    /// Written by a newer program; kept, not understood.
    #[serde(other)]
    Unknown,
}

impl EventBody {
    /// The name of this kind of event, as stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run.started",
            Self::RunResumed { .. } => "run.resumed",
            Self::IntentFiltered { .. } => "intent.filtered",
            Self::ModelRequested { .. } => "model.requested",
            Self::ModelDelta { .. } => "model.delta",
            Self::ModelResponded { .. } => "model.responded",
            Self::ModelFailed { .. } => "model.failed",
            Self::PlanProposed { .. } => "plan.proposed",
            Self::PlanFailed { .. } => "plan.failed",
            Self::PlanFilled { .. } => "plan.filled",
            Self::ApprovalRequested { .. } => "approval.requested",
            Self::ApprovalDecided { .. } => "approval.decided",
            Self::ToolRejected { .. } => "tool.rejected",
            Self::ToolIntent { .. } => "tool.intent",
            Self::ToolResult { .. } => "tool.result",
            Self::ToolUndone { .. } => "tool.undone",
            Self::ToolUncertain { .. } => "tool.uncertain",
            Self::TimerSet { .. } => "timer.set",
            Self::TimerFired { .. } => "timer.fired",
            Self::RunSteered { .. } => "run.steered",
            Self::StopRequested { .. } => "run.stop_requested",
            Self::RunFinished { .. } => "run.finished",
            Self::Unknown => "unknown",
        }
    }
}
