//! Events of the run log, the only source of truth. The format is versioned; fields are only added.

mod kind;
mod models;
mod parts;

use crate::agent::PlanStyle;
use crate::approval::{About, Answer, Subject, Taint};
use crate::budget::Spent;
use crate::deep::{DeepStep, StepEnd};
use crate::governance::{Classified, MaskedKind};
use crate::message::Message;
use crate::model::{ModelError, Purpose, Strategy, Usage};
use crate::plan::Candidate;
use crate::policy::StandingGrant;
use crate::prompt::Compaction;
use crate::routing::Attempt;
use crate::tool::{EffectClass, Staged, ToolCall};
use crate::{ApprovalId, RunId, TimerId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use models::AskedModel;
use parts::FilledArguments;
pub use parts::{
    AboutCall, Answered, ForkedFrom, Mode, Noticed, Origin, Outcome, PlanSearch, Planner, Proved, Ranked,
    RequestSource, RequestedBy, Setup, ToolResult,
};

pub const EVENT_VERSION: u16 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub run_id: RunId,
    /// Position, from 1 without gaps.
    pub seq: u64,
    pub at: Timestamp,
    /// Fencing epoch of the runner that appended it.
    pub epoch: u64,
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type")]
pub enum EventBody {
    /// First event of each run.
    #[serde(rename = "run.started")]
    RunStarted {
        /// Format version.
        v: u16,
        /// What it needs to be replayed.
        setup: Arc<Setup>,
    },
    /// As many runs are at work as may be: this one begins when one of them ends.
    #[serde(rename = "run.queued")]
    RunQueued {
        /// How many.
        at_work: usize,
    },
    /// A runner took the run over, after a restart or from another node.
    #[serde(rename = "run.resumed")]
    RunResumed {
        /// The runner's node name.
        node: String,
        /// The run had ended since its client had left, or its model had failed in passing, and the client asked again:
        /// it goes on as after a crash.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        after_stop: bool,
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
    /// Committed before a model is asked; reserves tokens and money.
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
        /// Money reserved, millionths of a US dollar; 0 where no price is known.
        #[serde(default)]
        reserved_micros: u64,
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
        /// Whether its text may turn out to be reasoning: then a later piece retracts it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        provisional: bool,
        /// Whether it takes the place of all pieces of this reply before it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        retracts: bool,
    },
    /// The whole reply, committed before its tools start.
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
        /// Who answered; left out: the run's connection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        answered: Option<Box<Answered>>,
        /// What was seen in it beside calls that can be made.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        noticed: Noticed,
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
        /// When it is tried again; left out: it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        retry_at: Option<Timestamp>,
        /// All connections that were asked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attempts: Vec<Attempt>,
        /// What it took all the same.
        #[serde(default)]
        usage: Usage,
    },
    /// The model is told that nothing has happened yet; the next model call follows.
    #[serde(rename = "model.corrected")]
    ModelCorrected {
        /// The words that claimed or promised an action.
        words: String,
        /// What the model is told.
        message: String,
        /// The form in which calls are asked for from now on, if it is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        strategy: Option<Strategy>,
    },
    /// The request was matched with the tools, since the model makes no call itself.
    #[serde(rename = "intent.dispatched")]
    IntentDispatched {
        /// The best match; left out: none fits, and nothing was done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        call: Option<ToolCall>,
        /// Why this one, or why none, for the trace.
        note: String,
    },
    /// Deferred tools were looked for; those found are on offer from now on.
    #[serde(rename = "tools.found")]
    ToolsFound {
        /// The call of `tool_search`.
        call_id: String,
        /// What was looked for.
        query: String,
        /// Tools found, best first.
        found: Vec<Ranked>,
        /// What the model gets: names, descriptions, arguments.
        content: String,
    },
    /// Older parts of the prompt were cut or summed up. The prompt's beginning changes here
    /// and nowhere else.
    #[serde(rename = "context.compacted")]
    ContextCompacted {
        /// What it looks like from now on.
        compaction: Compaction,
        /// Who wrote the summary: `model`, `program`; empty where results were only cut.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
        /// How many messages the summary stands for.
        replaced: usize,
    },
    /// Documents were searched for what the plan should know.
    #[serde(rename = "plan.searched")]
    PlanSearched(Box<PlanSearch>),
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
    /// A deep plan was made, or the request is not worth one: then it has no steps.
    #[serde(rename = "deep.planned")]
    DeepPlanned {
        /// Its steps.
        steps: Vec<DeepStep>,
        /// How much it says.
        style: PlanStyle,
        /// Made by: `model` or `intent`.
        by: String,
        /// What was noticed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// Another one takes its place; without steps the run goes on without a plan.
    #[serde(rename = "deep.replanned")]
    DeepReplanned {
        /// Its steps.
        steps: Vec<DeepStep>,
        /// How much it says.
        style: PlanStyle,
        /// Made by: `model` or `intent`.
        by: String,
        /// Why the plan before it failed.
        reason: String,
        /// What was noticed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// A step of the deep plan ended.
    #[serde(rename = "deep.step")]
    DeepStepEnded {
        /// The step.
        number: u8,
        /// How.
        status: StepEnd,
        /// Why; empty where it is done.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// The call that decided it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        call_id: Option<String>,
    },
    /// Steps are open although the model wants to end: it is told, once.
    #[serde(rename = "deep.reminded")]
    DeepReminded {
        /// Numbers of the open steps.
        open: Vec<u8>,
    },
    /// Open arguments of a step were filled.
    #[serde(rename = "plan.filled")]
    PlanFilled {
        /// Index of the step.
        index: usize,
        /// Complete arguments, or why there are none.
        #[schema(value_type = FilledArguments)]
        arguments: Result<Value, String>,
    },
    /// A person is asked. A row of the inbox is made in the same transaction.
    #[serde(rename = "approval.requested")]
    ApprovalRequested {
        /// Its id.
        approval_id: ApprovalId,
        /// What is asked.
        subject: Box<Subject>,
        /// What it stands on.
        about: Box<About>,
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
        /// From where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        source: Option<Box<RequestSource>>,
    },
    /// Permissions of the agent were given or taken back while the run went on; those from here on hold.
    #[serde(rename = "grants.changed")]
    GrantsChanged {
        /// All that are in force.
        standing: Vec<StandingGrant>,
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
    /// Committed before the effect.
    #[serde(rename = "tool.intent")]
    ToolIntent {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// Its arguments.
        #[schema(value_type = Object)]
        arguments: Value,
        /// Hash of the arguments.
        args_hash: String,
        /// What a crash from here on means.
        effect: EffectClass,
        /// Stable over repeats of this call.
        idempotency_key: String,
        /// A repeat after a crash: what shows that the call before it did nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        evidence: Option<String>,
    },
    /// Everything is ready for the effect: committed right before it, so that a crash from here on can
    /// be settled from the world. Without it nothing has happened yet.
    #[serde(rename = "tool.staged")]
    ToolStaged {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// What it returns once it is done, and how it recognises that.
        staged: Box<Staged>,
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
        /// The answer was cut off by a crash: what in the world shows that it happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        evidence: Option<String>,
    },
    /// A call is another agent's to carry out: its run has this id, made or about to be.
    #[serde(rename = "run.delegated")]
    RunDelegated {
        /// The call.
        call_id: String,
        /// The run below.
        child: RunId,
        /// Name of its agent.
        agent: String,
        /// What it is asked.
        request: String,
    },
    /// That run has ended; the call's result follows.
    #[serde(rename = "run.returned")]
    RunReturned {
        /// The call.
        call_id: String,
        /// The run below.
        child: RunId,
        /// What it took, with the runs below it; it counts against this run's budget.
        spent: Spent,
        /// What it proved.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        proved: Vec<Proved>,
        /// What of outside entered it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taint: Vec<Taint>,
        /// The most confidential that it has seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        classified: Option<Classified>,
        /// Who has put words into it.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        #[schema(value_type = Vec<UserId>)]
        askers: BTreeSet<UserId>,
    },
    /// The run has seen data of a classification above what it had seen before.
    #[serde(rename = "data.classified")]
    DataClassified {
        /// Which, by which label, and in what.
        #[serde(flatten)]
        classified: Classified,
    },
    /// A connection outside the house was sent tokens in the place of personal data.
    #[serde(rename = "data.masked")]
    DataMasked {
        /// The model call.
        step: u32,
        /// Name of the connection.
        connection: String,
        /// Name of the policy that asks for it.
        policy: String,
        /// How often something of each kind was masked; empty: nothing was found.
        masked: Vec<MaskedKind>,
    },
    /// An effect is being taken back; committed before that begins.
    #[serde(rename = "tool.undoing")]
    ToolUndoing {
        /// The call.
        call_id: String,
        /// Who asked.
        by: String,
        /// From where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        source: Option<Box<RequestSource>>,
    },
    /// It could not be taken back.
    #[serde(rename = "tool.undo_failed")]
    ToolUndoFailed {
        /// The call.
        call_id: String,
        /// Why, for a person.
        message: String,
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
        /// From where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        source: Option<Box<RequestSource>>,
        /// What the answer proves from here on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        receipts: Option<Box<crate::receipts::Receipts>>,
    },
    /// An intent without result was found on recovery, nothing shows what became of it, and it may not be
    /// repeated.
    #[serde(rename = "tool.uncertain")]
    ToolUncertain {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// Why it can't be told.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// A durable alarm was set.
    #[serde(rename = "timer.set")]
    TimerSet {
        /// Its id.
        timer_id: TimerId,
        /// When. `at` is the event's own time.
        #[serde(rename = "rings_at")]
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
    /// A message of the user to the running run; taken in at the next step.
    #[serde(rename = "run.steered")]
    RunSteered {
        /// What they said.
        text: String,
        /// Who.
        by: String,
        /// From where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        source: Option<Box<RequestSource>>,
    },
    /// A person stops the run, or the program that asked for it has closed its connection.
    #[serde(rename = "run.stop_requested")]
    StopRequested {
        /// Who.
        by: String,
        /// From where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        source: Option<Box<RequestSource>>,
        /// Nobody asked for it: the client has left. It goes on if the client comes back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        client_left: bool,
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
        /// What the answer claims and what proves it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        receipts: Option<crate::receipts::Receipts>,
    },
    /// Written by a newer program; kept, not understood.
    #[serde(other)]
    Unknown,
}
