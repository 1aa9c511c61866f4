use crate::deep::{DeepStep, Judged};
use crate::event::Outcome;
use crate::model::{Purpose, Strategy};
use crate::tool::{EffectClass, ToolCall};

/// One thing to do. Effects of one decision are carried out in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Narrow the tools to the request; appends `intent.filtered`.
    FilterIntent,
    /// Ask the model; appends `model.requested`, deltas, and `model.responded` or `model.failed`.
    CallModel(Purpose),
    /// Make a plan; appends `plan.proposed` or `plan.failed`.
    MakePlan,
    /// Fill open arguments of a plan step; appends `plan.filled`.
    Fill { index: usize },
    /// Ask the model for a deep plan; appends `deep.planned`, or with a reason `deep.replanned`.
    DeepPlan {
        /// Why the plan before it failed.
        reason: Option<String>,
    },
    /// Tell the steps of the plan in force; appends `deep.planned`.
    DeepFromPlan { steps: Vec<DeepStep> },
    /// The model notes a plan of its own; appends `deep.planned` and the call's `tool.result`.
    DeepOwn { call: ToolCall, steps: Vec<DeepStep>, notes: Vec<String> },
    /// Go on without a plan; appends `deep.replanned` without steps.
    DeepDrop {
        /// Why the last plan failed.
        reason: String,
    },
    /// A step ended; appends `deep.step`.
    DeepStep(Judged),
    /// Steps are open although the model wants to end; appends `deep.reminded`.
    DeepRemind { open: Vec<u8> },
    /// Refuse a call; appends `tool.rejected`.
    Reject {
        call: ToolCall,
        /// Why; goes to the model.
        message: String,
    },
    /// Run a call; appends `tool.intent` and `tool.result`.
    RunTool {
        call: ToolCall,
        /// Stable over repeats.
        idempotency_key: String,
        effect: EffectClass,
    },
    /// Find out whether a write that a crash cut off has happened. It has: appends `tool.result`; it has
    /// not: runs it again; it can't be told: appends `tool.uncertain`.
    Settle {
        call: ToolCall,
        /// Stable over repeats.
        idempotency_key: String,
    },
    /// Have another agent do it; appends `tool.intent` and `run.delegated`. The run then waits for
    /// that run, and `run.returned` and `tool.result` follow.
    Delegate {
        call: ToolCall,
        agent: String,
        /// Stable over repeats.
        idempotency_key: String,
        effect: EffectClass,
    },
    /// Say what a call would do; appends a dry `tool.result`.
    DryRun { call: ToolCall },
    /// Ask a person; appends `approval.requested`. The run then parks.
    Ask(Ask),
    /// Tell the model that nothing has happened yet; appends `model.corrected`.
    Correct {
        /// The words that claim or promise an action.
        words: String,
        /// What the model is told.
        message: String,
        /// Another form to ask for calls in.
        strategy: Option<Strategy>,
    },
    /// Match the request with the tools; appends `intent.dispatched`.
    Dispatch,
    /// Look for deferred tools; appends `tools.found`.
    SearchTools { call: ToolCall },
    /// End the run; appends `run.finished`.
    Finish { outcome: Outcome, answer: AnswerFrom },
}

/// What to ask a person.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    Call {
        call: ToolCall,
        reason: String,
    },
    Plan,
    /// About a write that was cut off.
    Uncertain {
        call: ToolCall,
        /// Why it can't be told.
        why: String,
    },
    Question {
        call: ToolCall,
        text: String,
    },
}

/// Where the final answer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerFrom {
    Text(String),
    /// Composed from what the tools returned.
    Observations,
    Nothing,
}
