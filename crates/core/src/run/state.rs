//! What is known of a run after some of its events.

use crate::approval::{Subject, Taint};
use crate::budget::Spent;
use crate::deep::DeepState;
use crate::event::{AboutCall, Event, Outcome, PlanSearch, Proved, Ranked, Setup, ToolResult};
use crate::governance::Classified;
use crate::message::Message;
use crate::model::{ModelError, Purpose, Strategy, Usage};
use crate::plan::Plan;
use crate::policy::{Grant, StandingGrant};
use crate::prompt::Compaction;
use crate::tool::{EffectClass, Staged, ToolCall, ToolSpec};
use crate::{ApprovalId, RunId, TimerId, Timestamp, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a run has few calls, and most end in the large variant")]
pub enum CallStatus {
    Proposed,
    Approved,
    /// Its intent is committed; the effect may or may not have happened.
    Intent {
        key: String,
        effect: EffectClass,
        /// What it was about to do, and since when.
        staged: Option<(Timestamp, Box<Staged>)>,
    },
    /// Cut off by a crash; the world may show whether it happened.
    CutOff {
        key: String,
        staged: Option<(Timestamp, Box<Staged>)>,
    },
    /// Cut off by a crash; may be repeated with the same key.
    Repeat {
        key: String,
        effect: EffectClass,
    },
    /// Cut off by a crash; a person must say what happened.
    Uncertain {
        key: String,
        why: String,
    },
    Done(ToolResult),
    Rejected(String),
}

impl CallStatus {
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Rejected(_))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallEntry {
    pub call: ToolCall,
    pub status: CallStatus,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlanState {
    pub plan: Plan,
    pub approved: bool,
    /// Counts plans of this run, from 1.
    pub generation: u32,
    /// No further step runs (a step was refused or failed for good).
    pub cut_short: bool,
    /// Something of outside had entered the run when it was made.
    pub tainted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Waiting {
    Approval { id: ApprovalId, subject: Box<Subject> },
    Timer { id: TimerId, at: Timestamp },
    Child(ChildRun),
}

/// A run that another one delegated to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildRun {
    pub call_id: String,
    /// The run; it may not exist yet.
    pub run: RunId,
    pub agent: String,
    pub request: String,
}

/// What a stop has cut short.
#[derive(Debug, Clone, PartialEq)]
pub struct CutShort {
    /// Calls that were under way, as they stood.
    pub(super) calls: Vec<(String, CallStatus)>,
    /// The run that it waited for.
    pub(super) child: Option<ChildRun>,
    /// How many messages there were before the one about a call that the stop made fail.
    pub(super) messages: usize,
}

/// A call that has failed just now: whether the stop that follows was the cause, its error doesn't say.
#[derive(Debug, Clone, PartialEq)]
pub struct JustFailed {
    pub call_id: String,
    pub before: CallStatus,
    pub messages: usize,
}

/// What the fallbacks have done and seen in a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FallbackState {
    pub begun_at: Timestamp,
    /// The words of the last reply that claim or promise an action.
    pub claim: Option<String>,
    /// The form in which the last reply was asked for.
    pub asked_in: Option<Strategy>,
    /// The model was told that nothing has happened.
    pub corrected: bool,
    /// The form in which calls are asked for since, as long as calls come in it.
    pub strategy: Option<Strategy>,
    /// The request was matched with the tools.
    pub dispatched: bool,
    /// Calls that can't be read, with the parser's error.
    pub broken: Vec<AboutCall>,
    /// Calls that were guessed, with the words from which.
    pub guessed: Vec<AboutCall>,
    /// Replies in a row of which no call could be read.
    pub unread: u32,
    /// Deferred tools that were looked for and found.
    pub found: Vec<String>,
    /// A person said no to a call.
    pub denied: bool,
    /// How older messages stand in the prompt.
    pub compaction: Compaction,
}

/// State of a run: nothing but a fold of its events.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the run")]
pub struct RunState {
    pub run_id: RunId,
    pub last_seq: u64,
    pub last_at: Timestamp,
    /// From `run.started`; `None` before it.
    pub setup: Option<Arc<Setup>>,
    /// Messages of this run: the request, replies, tool results.
    pub messages: Vec<Message>,
    /// What the user said meanwhile, not yet taken in.
    pub steers: Vec<String>,
    /// What people said against plans or calls.
    pub feedback: Vec<String>,
    pub kept: Option<Vec<Ranked>>,
    pub wants_tool: bool,
    pub calls: Vec<CallEntry>,
    /// What was found before the first plan was made.
    pub plan_search: Option<Box<PlanSearch>>,
    pub plan: Option<PlanState>,
    pub deep: Option<DeepState>,
    /// Filled arguments by `(generation, step)`.
    pub filled: Vec<((u32, usize), Result<serde_json::Value, String>)>,
    pub plan_error: Option<String>,
    pub waiting: Option<Waiting>,
    /// Permissions given with the request, and by people since.
    pub grants: Vec<Grant>,
    /// How many of these were given before it saw the most confidential that it has seen.
    pub granted_before_data: usize,
    /// Permissions of the agent beyond this run.
    pub standing: Vec<StandingGrant>,
    pub spent: Spent,
    pub usage: Usage,
    pub asking: Option<(u32, Purpose)>,
    /// Last reply that had no calls, and what it was for.
    pub reply: Option<(Purpose, String)>,
    /// Replies that are plans, paid for and not yet proposed.
    pub plan_replies: Vec<String>,
    /// A model call failed for good.
    pub model_error: Option<ModelError>,
    pub failures: u32,
    /// A tool ended the run.
    pub fatal: Option<String>,
    pub stop_by: Option<String>,
    /// What was under way when its client left.
    pub cut_short: Option<CutShort>,
    pub just_failed: Option<JustFailed>,
    /// It had failed in passing, and went on since its client asked again.
    pub asked_again: bool,
    pub refused: bool,
    pub outcome: Option<Outcome>,
    pub answer: String,
    /// Whether that was composed from observations.
    pub composed: bool,
    /// What the model call in flight, or cut off last, has said so far for the user.
    pub partial_text: String,
    pub undone: Vec<String>,
    /// The call whose effect is being taken back; after a crash it may be back already.
    pub undoing: Option<String>,
    /// Calls that a fork found done: their effects are another run's.
    pub inherited: Vec<String>,
    pub fallback: FallbackState,
    /// What of outside entered it, oldest first.
    pub taint: Vec<Taint>,
    /// The most confidential that it has seen.
    pub classified: Option<Classified>,
    /// Who has put words into it: none of them is the second person of a rule that asks for two.
    pub askers: BTreeSet<UserId>,
    pub children: Vec<ChildRun>,
    pub proved: Vec<Proved>,
}

impl RunState {
    pub fn new(run_id: RunId) -> Self {
        Self { run_id, wants_tool: true, ..Self::default() }
    }

    pub fn fold<'a>(run_id: RunId, events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut state = Self::new(run_id);
        for event in events {
            state.apply(event);
        }
        state
    }

    pub fn is_finished(&self) -> bool {
        self.outcome.is_some()
    }

    pub fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.setup.as_ref()?.tools.iter().find(|spec| spec.name == name)
    }

    pub fn call(&self, id: &str) -> Option<&CallEntry> {
        self.calls.iter().find(|entry| entry.call.id == id)
    }

    /// Results of calls that worked, oldest first.
    pub fn observations(&self) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
        self.calls.iter().filter_map(|entry| match &entry.status {
            CallStatus::Done(result) => Some((&entry.call, result)),
            _ => None,
        })
    }

    /// Whether plans are made first: asked for, or because the model can't choose tools itself.
    pub fn plans_first(&self) -> bool {
        self.setup.as_ref().is_some_and(|setup| setup.plans_first())
    }
}

pub(super) fn step_call_id(generation: u32, index: usize) -> String {
    format!("plan-{generation}-{}", index + 1)
}
