use super::{Client, Refused};
use anyhow::bail;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::approval::{Answer, Approval, Subject};
use steward_core::policy::{Grant, GrantScope, RiskClass, StandingGrant};
use steward_core::{AgentId, ApprovalId, Timestamp};
use uuid::Uuid;

const MOST: usize = 1000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    Once,
    /// The same tool until the run ends.
    Run,
    Time(Duration),
}

#[derive(Deserialize)]
struct Permission {
    id: Uuid,
    agent_id: AgentId,
    grant: Grant,
    by: String,
    created_at: Timestamp,
}

impl From<Permission> for StandingGrant {
    fn from(one: Permission) -> Self {
        Self { id: one.id, agent: one.agent_id, grant: one.grant, by: one.by, created_at: one.created_at }
    }
}

impl Client {
    /// Open approvals, oldest first.
    pub async fn open_approvals(&self) -> anyhow::Result<Vec<Approval>> {
        Ok(self.list("/api/approvals", MOST).await?.0)
    }

    /// The first answer counts.
    pub async fn decide(&self, id: ApprovalId, answer: Answer) -> anyhow::Result<()> {
        self.decided(id, &answer, false).await
    }

    pub async fn approve(&self, approval: &Approval, scope: Scope) -> anyhow::Result<()> {
        let until = match scope {
            Scope::Time(time) => Some(self.now().plus(time)),
            Scope::Once | Scope::Run => None,
        };
        let grant = match scope {
            Scope::Once => None,
            Scope::Run | Scope::Time(_) => Some(wider(&approval.subject)?),
        };
        let answer = Answer::Approve { grant, until };
        self.decided(approval.id, &answer, until.is_some()).await
    }

    async fn decided(&self, id: ApprovalId, answer: &Answer, standing: bool) -> anyhow::Result<()> {
        let body = json!({"answer": answer, "standing": standing});
        self.post::<Value>(&format!("/api/approvals/{id}/decide"), &body).await?;
        Ok(())
    }

    /// Permissions in force that outlive their run, newest first.
    pub async fn grants(&self) -> anyhow::Result<Vec<StandingGrant>> {
        let rows: Vec<Permission> = self.all("/api/grants").await?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}

pub fn is_already_decided(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<Refused>()
        .and_then(|refused| refused.code.as_deref())
        .is_some_and(|code| matches!(code, "already_decided" | "withdrawn"))
}

/// What a wider approval covers; never what can't be undone.
fn wider(subject: &Subject) -> anyhow::Result<GrantScope> {
    match subject {
        Subject::Call { risk: RiskClass::Destructive, .. } => {
            bail!("this can't be undone, so it is asked each time; approve it without --for-run and --for")
        }
        Subject::Plan { previews, .. } if previews.iter().any(|step| step.risk == RiskClass::Destructive) => {
            bail!("the plan has a step that can't be undone; approve it without --for-run and --for")
        }
        Subject::Call { tool, .. } => Ok(GrantScope::Tool { name: tool.clone() }),
        Subject::Plan { .. } => Ok(GrantScope::AllButDestructive),
        Subject::Uncertain { .. } | Subject::Question { .. } => {
            bail!("this asks for no permission; leave --for-run and --for out")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wider;
    use serde_json::{Value, json};
    use steward_core::policy::GrantScope;

    fn of(subject: Value) -> Result<GrantScope, String> {
        wider(&serde_json::from_value(subject).unwrap()).map_err(|why| why.to_string())
    }

    fn call(risk: &str) -> Value {
        json!({"kind": "call", "call_id": "c", "tool": "write", "arguments": {}, "args_hash": "h", "risk": risk, "preview": {"summary": "", "reversible": true}})
    }

    fn plan(risk: &str) -> Value {
        json!({"kind": "plan", "plan_hash": "h", "previews": [{"step": 0, "risk": risk, "preview": {"summary": "", "reversible": true}}]})
    }

    #[test]
    fn a_wider_yes_is_never_one_to_what_cannot_be_undone() {
        let tool = GrantScope::Tool { name: "write".to_owned() };
        assert_eq!(of(call("write")), Ok(tool));
        assert_eq!(of(plan("external")), Ok(GrantScope::AllButDestructive));
        for refused in [
            call("destructive"),
            plan("destructive"),
            json!({"kind": "question", "call_id": "c", "text": "?"}),
            json!({"kind": "uncertain", "call_id": "c", "tool": "t", "arguments": {}}),
        ] {
            assert!(of(refused.clone()).unwrap_err().contains("--for"), "{refused}");
        }
    }
}
