use serde::{Deserialize, Serialize};
use steward_core::approval::{Answer, Subject, Taint};
use steward_core::event::Origin;
use steward_core::plan::PlanStep;
use steward_core::policy::{self, Grant};
use steward_core::{AgentId, ApprovalId, ConversationId, RunId, Timestamp};
use utoipa::ToSchema;
use uuid::Uuid;

/// Where an entry of the inbox stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStatus {
    /// It waits.
    Open,
    /// Somebody answered.
    Decided,
    /// Its run ended before.
    Withdrawn,
}

/// The run that asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalRun {
    /// First line of its request.
    pub title: String,
    /// Its agent.
    pub agent_id: AgentId,
    /// Its agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// Who asked.
    pub asked_by: String,
    /// Its conversation, if it is one's own to read.
    #[schema(required)]
    pub conversation_id: Option<ConversationId>,
}

/// A run that delegated to the one that asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunAbove {
    /// The run.
    pub run_id: RunId,
    /// Its agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
}

/// One entry of the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// The run that waits.
    pub run_id: RunId,
    /// What is asked.
    pub subject: Subject,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The answer, once given.
    #[schema(required)]
    pub answer: Option<Answer>,
    /// Who answered.
    #[schema(required)]
    pub decided_by: Option<String>,
    /// When.
    #[schema(required)]
    pub decided_at: Option<Timestamp>,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// The run that waits, in short.
    pub run: ApprovalRun,
    /// For a plan: its steps.
    #[schema(required)]
    pub plan: Option<Vec<PlanStep>>,
    /// What happens if it is denied.
    pub if_denied: String,
    /// Whether somebody else than the caller has to approve it, since the caller asked for it or has said something in its
    /// run.
    pub needs_other: bool,
    /// Why it is asked.
    pub reason: String,
    /// Whether something from outside (web, mail, documents) came before it in the run.
    pub tainted: bool,
    /// What of outside it may derive from, the latest last.
    pub taint: Vec<Taint>,
    /// The runs above the one that asks, the first one first.
    pub chain: Vec<RunAbove>,
    /// Other open entries that ask the same.
    pub duplicates: Vec<ApprovalId>,
}

/// A decision and how far it reaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
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
pub struct Decided {
    /// The entry as it is now.
    pub approval: Approval,
    /// Others decided along with it.
    pub also: Vec<ApprovalId>,
}

/// A permission that outlives its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StandingGrant {
    /// Its id.
    pub id: Uuid,
    /// For which agent.
    pub agent_id: AgentId,
    /// The agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// What it covers.
    pub grant: Grant,
    /// Who gave it.
    pub by: String,
    /// When.
    pub created_at: Timestamp,
}

impl StandingGrant {
    /// The grant with its agent's name.
    pub fn named(agent_name: Option<String>, grant: policy::StandingGrant) -> Self {
        let policy::StandingGrant { id, agent, grant, by, created_at } = grant;
        Self { id, agent_id: agent, agent_name, grant, by, created_at }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Answer, Decide, Subject};
    use serde_json::{Value, json};

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
            let subject: Subject = serde_json::from_value(stored.clone()).unwrap();
            assert_eq!(json!(subject), stored);
        }
    }

    #[test]
    fn answers_survive_the_way_in_and_out() {
        for body in answers() {
            let given: Answer = serde_json::from_value(body.clone()).unwrap();
            assert_eq!(json!(given), body);
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
