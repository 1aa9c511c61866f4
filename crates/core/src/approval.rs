//! Decisions asked of people. They are rows of the store, since they wait for weeks and survive upgrades.

use crate::plan::PlanStep;
use crate::policy::{GrantScope, RiskClass};
use crate::skill::SkillRef;
use crate::tool::Preview;
use crate::{AgentId, ApprovalId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// May this call run, with exactly these arguments?
    Call {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// Its arguments.
        #[schema(value_type = Object)]
        arguments: Value,
        /// Hash of the arguments; the decision is bound to it.
        args_hash: String,
        /// How much harm the tool can do.
        risk: RiskClass,
        /// What it would change.
        preview: Preview,
        /// Why it is asked although the policy may allow it: how the call was guessed, what
        /// it may derive from. Empty where only the policy asks.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[schema(ignore)]
        reason: String,
        /// What of outside the arguments may derive from, the latest last.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taint: Vec<Taint>,
    },
    /// May this plan run?
    Plan {
        /// Hash of the plan; the decision is bound to it.
        plan_hash: String,
        /// For each step that changes something, what it would change.
        previews: Vec<StepPreview>,
        /// What of outside had entered the run before the plan was made, the latest last.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taint: Vec<Taint>,
    },
    /// A write was cut off: did it happen?
    Uncertain {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// Its arguments.
        #[schema(value_type = Object)]
        arguments: Value,
        /// Why it can't be told.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// A question of the agent to the user.
    Question {
        /// The call of the `feedback` tool.
        call_id: String,
        /// The question.
        text: String,
    },
}

/// What a question stands on: what the run knew when it asked. Whoever shows or compares questions needs no log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = AskedAbout)]
pub struct About {
    /// The agent.
    pub agent: AgentId,
    /// Folder that its tools work in.
    pub workspace: String,
    /// Who asked the agent.
    pub asked_by: String,
    /// Whether only somebody else than who asked may approve it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub four_eyes: bool,
    /// The run that delegated to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub parent: Option<RunId>,
    /// Why a person is asked.
    pub reason: String,
    /// All of outside that had entered the run, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entered: Vec<Taint>,
    /// The skills that would carry it out, in the versions of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillRef>,
    /// The steps, where a plan is asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanStep>,
}

/// Content from outside that entered a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Taint {
    /// The call that brought it.
    pub call_id: String,
    /// Name of its tool.
    pub tool: String,
    /// Where it comes from: an address, a sender, a file.
    pub origin: String,
}

/// What one plan step would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepPreview {
    /// Index into the plan's steps.
    pub step: usize,
    /// How much harm its tool can do.
    pub risk: RiskClass,
    /// What it would change.
    pub preview: Preview,
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// Go ahead.
    Approve {
        /// A permission for what follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<GrantScope>,
        /// When that permission ends, milliseconds since 1970 UTC; with the run if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Do not.
    Deny {
        /// Why, for the model and the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Not like this: free text that leads to another plan, or the answer to a question.
    Feedback {
        /// What to change, or the answer.
        text: String,
    },
    /// For an interrupted write: it happened.
    Happened,
    /// For an interrupted write: run it again.
    RunAgain,
    /// For an interrupted write: leave it out.
    Skip,
}

impl Answer {
    /// Whether something happens by it.
    pub fn lets_through(&self) -> bool {
        matches!(self, Self::Approve { .. } | Self::RunAgain)
    }

    /// Whether what the answer says reaches the model.
    pub fn puts_words_in(&self) -> bool {
        matches!(self, Self::Feedback { .. } | Self::Deny { reason: Some(_) })
    }

    pub fn fits(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Call { .. } | Subject::Plan { .. } => {
                matches!(self, Self::Approve { .. } | Self::Deny { .. } | Self::Feedback { .. })
            }
            Subject::Uncertain { .. } => {
                matches!(self, Self::Happened | Self::RunAgain | Self::Skip)
            }
            Subject::Question { .. } => matches!(self, Self::Feedback { .. } | Self::Deny { .. }),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub run_id: RunId,
    pub subject: Subject,
    /// What the decision rests on. The API sends it field by field, so the CLI beside a server gets it empty.
    #[serde(default)]
    pub about: About,
    pub asked_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
}
