//! The inbox: what is asked of people, and their answers.

use super::above::{RunAbove, Taint};
use super::names::{Origin, Risk};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use steward_core::{Timestamp, approval, plan, policy, ports, tool};
use utoipa::ToSchema;
use uuid::Uuid;

/// What a call would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Preview {
    /// One line.
    pub summary: String,
    /// A unified diff, rows, or a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub detail: Option<String>,
    /// Files, rows or resources touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub count: Option<u64>,
    /// Whether it can be undone.
    pub reversible: bool,
}

/// What one step of a plan would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct StepPreview {
    /// Index into the plan.
    pub step: usize,
    /// How much harm its tool can do.
    pub risk: Risk,
    /// What it would change.
    pub preview: Preview,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Subject {
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
        risk: Risk,
        /// What it would change.
        preview: Preview,
        /// What of outside its arguments may derive from, the latest last.
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
    /// A question of the agent.
    Question {
        /// The call that asks.
        call_id: String,
        /// The question.
        text: String,
    },
}

/// What a grant covers; never a destructive call, but for `call`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum GrantScope {
    /// Every call of one tool.
    Tool {
        /// Its name.
        name: String,
    },
    /// One call with exactly these arguments.
    Call {
        /// Name of the tool.
        name: String,
        /// Hash of the arguments.
        args_hash: String,
    },
    /// Every call that is not destructive.
    AllButDestructive,
}

/// A decision of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Answer {
    /// Go ahead.
    Approve {
        /// A permission for what follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<GrantScope>,
        /// When that permission ends; with the run if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<i64>,
    },
    /// Do not.
    Deny {
        /// Why, for the model and the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Not like this, or the answer to a question.
    Feedback {
        /// What to change.
        text: String,
    },
    /// For an interrupted write: it happened.
    Happened,
    /// For an interrupted write: run it again.
    RunAgain,
    /// For an interrupted write: leave it out.
    Skip,
}

/// Where an entry of the inbox stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApprovalStatus {
    /// It waits.
    Open,
    /// Somebody answered.
    Decided,
    /// Its run ended before.
    Withdrawn,
}

/// The run that asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ApprovalRun {
    /// First line of its request.
    pub title: String,
    /// Its agent.
    pub agent_id: Uuid,
    /// Its agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// Who asked.
    pub asked_by: String,
    /// Its conversation, if it is one's own to read.
    #[schema(required)]
    pub conversation_id: Option<Uuid>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PlanStep {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments; `""` is filled from what earlier steps find.
    #[schema(value_type = Object)]
    pub args: Value,
    /// Why.
    pub thought: String,
}

/// One entry of the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Approval {
    /// Its id.
    pub id: Uuid,
    /// The run that waits.
    pub run_id: Uuid,
    /// What is asked.
    pub subject: Subject,
    /// When it was asked.
    pub asked_at: i64,
    /// The answer, once given.
    #[schema(required)]
    pub answer: Option<Answer>,
    /// Who answered.
    #[schema(required)]
    pub decided_by: Option<String>,
    /// When.
    #[schema(required)]
    pub decided_at: Option<i64>,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// The run that waits, in short.
    pub run: ApprovalRun,
    /// For a plan: its steps.
    #[schema(required)]
    pub plan: Option<Vec<PlanStep>>,
    /// What happens if it is denied.
    pub if_denied: String,
    /// Why it is asked.
    pub reason: String,
    /// Whether something from outside (web, mail, documents) came before it in the run.
    pub tainted: bool,
    /// What of outside it may derive from, the latest last.
    pub taint: Vec<Taint>,
    /// The runs above the one that asks, the first one first.
    pub chain: Vec<RunAbove>,
    /// Other open entries that ask the same.
    pub duplicates: Vec<Uuid>,
}

/// A decision and how far it reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decide {
    /// The decision.
    pub answer: Answer,
    /// Keep the grant for the agent beyond this run; needs `until` within 7 days.
    #[serde(default)]
    pub standing: bool,
    /// Also decide the entries that ask the same; not for destructive calls.
    #[serde(default)]
    pub duplicates: bool,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Decided {
    /// The entry as it is now.
    pub approval: Approval,
    /// Others decided along with it.
    pub also: Vec<Uuid>,
}

/// A permission and its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Grant {
    /// What it covers.
    pub scope: GrantScope,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub until: Option<i64>,
}

/// A permission that outlives its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct StandingGrant {
    /// Its id.
    pub id: Uuid,
    /// For which agent.
    pub agent_id: Uuid,
    /// The agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// What it covers.
    pub grant: Grant,
    /// Who gave it.
    pub by: String,
    /// When.
    pub created_at: i64,
}

impl From<tool::Preview> for Preview {
    fn from(preview: tool::Preview) -> Self {
        Self { summary: preview.summary, detail: preview.detail, count: preview.count, reversible: preview.reversible }
    }
}

impl From<approval::Subject> for Subject {
    fn from(subject: approval::Subject) -> Self {
        match subject {
            approval::Subject::Call {
                call_id,
                tool,
                arguments,
                args_hash,
                risk,
                preview,
                // Told as the approval's own.
                reason: _,
                taint,
            } => Self::Call {
                call_id,
                tool,
                arguments,
                args_hash,
                risk: risk.into(),
                preview: preview.into(),
                taint: taint.into_iter().map(Into::into).collect(),
            },
            approval::Subject::Plan { plan_hash, previews, taint } => Self::Plan {
                plan_hash,
                previews: previews
                    .into_iter()
                    .map(|one| StepPreview { step: one.step, risk: one.risk.into(), preview: one.preview.into() })
                    .collect(),
                taint: taint.into_iter().map(Into::into).collect(),
            },
            approval::Subject::Uncertain { call_id, tool, arguments, why } => {
                Self::Uncertain { call_id, tool, arguments, why }
            }
            approval::Subject::Question { call_id, text } => Self::Question { call_id, text },
        }
    }
}

impl From<policy::GrantScope> for GrantScope {
    fn from(scope: policy::GrantScope) -> Self {
        match scope {
            policy::GrantScope::Tool { name } => Self::Tool { name },
            policy::GrantScope::Call { name, args_hash } => Self::Call { name, args_hash },
            policy::GrantScope::AllButDestructive => Self::AllButDestructive,
        }
    }
}

impl From<GrantScope> for policy::GrantScope {
    fn from(scope: GrantScope) -> Self {
        match scope {
            GrantScope::Tool { name } => Self::Tool { name },
            GrantScope::Call { name, args_hash } => Self::Call { name, args_hash },
            GrantScope::AllButDestructive => Self::AllButDestructive,
        }
    }
}

impl From<approval::Answer> for Answer {
    fn from(answer: approval::Answer) -> Self {
        match answer {
            approval::Answer::Approve { grant, until } => {
                Self::Approve { grant: grant.map(Into::into), until: until.map(|at| at.0) }
            }
            approval::Answer::Deny { reason } => Self::Deny { reason },
            approval::Answer::Feedback { text } => Self::Feedback { text },
            approval::Answer::Happened => Self::Happened,
            approval::Answer::RunAgain => Self::RunAgain,
            approval::Answer::Skip => Self::Skip,
        }
    }
}

impl From<Answer> for approval::Answer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Approve { grant, until } => {
                Self::Approve { grant: grant.map(Into::into), until: until.map(Timestamp) }
            }
            Answer::Deny { reason } => Self::Deny { reason },
            Answer::Feedback { text } => Self::Feedback { text },
            Answer::Happened => Self::Happened,
            Answer::RunAgain => Self::RunAgain,
            Answer::Skip => Self::Skip,
        }
    }
}

impl From<plan::PlanStep> for PlanStep {
    fn from(step: plan::PlanStep) -> Self {
        Self { tool: step.tool, args: step.args, thought: step.thought }
    }
}

impl StandingGrant {
    /// The grant with its agent's name.
    pub fn named(grant: ports::StandingGrant, agent_name: Option<String>) -> Self {
        Self {
            id: grant.id,
            agent_id: grant.agent.0,
            agent_name,
            grant: Grant { scope: grant.grant.scope.into(), until: grant.grant.until.map(|at| at.0) },
            by: grant.by,
            created_at: grant.created_at.0,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Answer, Decide, Subject};
    use serde_json::{Value, json};
    use steward_core::approval;

    fn subjects() -> Vec<Value> {
        let preview = json!({"summary": "overwrites a.md", "detail": "-a\n+b", "count": 1, "reversible": true});
        let bare = json!({"summary": "sends", "reversible": false});
        vec![
            json!({"kind": "call", "call_id": "c", "tool": "write", "arguments": {"path": "a.md"}, "args_hash": "0", "risk": "write", "preview": preview}),
            json!({"kind": "plan", "plan_hash": "1", "previews": [{"step": 1, "risk": "external", "preview": bare}]}),
            json!({"kind": "plan", "plan_hash": "1", "previews": [], "taint": [{"call_id": "a", "tool": "web_fetch", "origin": "https://example.org"}]}),
            json!({"kind": "uncertain", "call_id": "c", "tool": "write", "arguments": {}}),
            json!({"kind": "question", "call_id": "c", "text": "Which?"}),
        ]
    }

    fn answers() -> Vec<Value> {
        vec![
            json!({"decision": "approve"}),
            json!({"decision": "approve", "grant": {"kind": "tool", "name": "write"}, "until": 7}),
            json!({"decision": "approve", "grant": {"kind": "call", "name": "write", "args_hash": "0"}}),
            json!({"decision": "approve", "grant": {"kind": "all_but_destructive"}}),
            json!({"decision": "deny"}),
            json!({"decision": "deny", "reason": "no"}),
            json!({"decision": "feedback", "text": "shorter"}),
            json!({"decision": "happened"}),
            json!({"decision": "run_again"}),
            json!({"decision": "skip"}),
        ]
    }

    #[test]
    fn subjects_go_out_as_they_are_stored() {
        for stored in subjects() {
            let core: approval::Subject = serde_json::from_value(stored.clone()).unwrap();
            assert_eq!(json!(core), stored);
            assert_eq!(json!(Subject::from(core)), stored);
        }
    }

    #[test]
    fn answers_survive_the_way_in_and_out() {
        for body in answers() {
            let given: Answer = serde_json::from_value(body.clone()).unwrap();
            let core = approval::Answer::from(given);
            assert_eq!(json!(core), body);
            assert_eq!(json!(Answer::from(core)), body);
        }
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        for body in [
            json!({"answer": {"decision": "deny", "reson": "x"}}),
            json!({"answer": {"decision": "deny"}, "standng": true}),
            json!({"answer": {"decision": "maybe"}}),
        ] {
            assert!(serde_json::from_value::<Decide>(body.clone()).is_err(), "{body}");
        }
    }
}
