//! The inbox, and permissions.

use super::{BY, Backend, Refused, wire};
use crate::compose::App;
use anyhow::bail;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::ApprovalId;
use steward_core::approval::{Answer, Approval, Subject};
use steward_core::policy::{Grant, GrantScope, RiskClass};
use steward_core::ports::{ApprovalFilter, Approvals as _, Clock as _, Grants as _, RunStore as _, StandingGrant};
use steward_engine::EngineError;
use steward_infra::SystemClock;
use uuid::Uuid;

/// Entries of the inbox that are listed.
const MOST: u32 = 1000;
/// Longest permission that outlives its run.
const LONGEST: Duration = Duration::from_hours(7 * 24);

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// To what is asked.
    #[default]
    Once,
    /// To the same tool until the run ends.
    Run,
    /// To the same tool and agent for a time.
    Time(Duration),
}

impl Backend {
    /// What waits for a person, oldest first.
    pub async fn open_approvals(&self) -> anyhow::Result<Vec<Approval>> {
        match self {
            Self::InProcess(app) => {
                let filter = ApprovalFilter { open: true, limit: MOST, ..ApprovalFilter::default() };
                Ok(app.store.approvals(app.tenant, filter).await?.items)
            }
            Self::Remote(client) => Ok(client.all("/api/approvals", MOST as usize).await?.0),
        }
    }

    /// Answers an entry. The first answer counts.
    pub async fn decide(&self, id: ApprovalId, answer: Answer) -> anyhow::Result<()> {
        self.decided(id, answer, false).await
    }

    /// Says yes, and to more of the same.
    pub async fn approve(&self, approval: &Approval, scope: Scope) -> anyhow::Result<()> {
        let until = match scope {
            Scope::Time(time) if time > LONGEST => {
                bail!("a permission lasts 7 days at most; choose a shorter time with --for")
            }
            Scope::Time(time) => Some(SystemClock::new().now().plus(time)),
            Scope::Once | Scope::Run => None,
        };
        let grant = match scope {
            Scope::Once => None,
            Scope::Run | Scope::Time(_) => Some(wider(&approval.subject)?),
        };
        let answer = Answer::Approve { grant, until };
        self.decided(approval.id, answer, until.is_some()).await
    }

    async fn decided(&self, id: ApprovalId, answer: Answer, standing: bool) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => {
                let kept = keep(app, id, &answer, standing).await?;
                // A permission of the agent is not the run's own: it ends for this run too when it is revoked.
                let answer = match kept {
                    Some(_) => Answer::Approve { grant: None, until: None },
                    None => answer,
                };
                if let Err(error) = app.runs.decide(id, answer, BY).await {
                    if let Some(grant) = kept {
                        app.store.revoke_grant(app.tenant, grant).await?;
                    }
                    return Err(error.into());
                }
                Ok(())
            }
            Self::Remote(client) => {
                let path = format!("/api/approvals/{id}/decide");
                let body = json!({"answer": answer, "standing": standing});
                client.post::<Value>(&path, &body).await?;
                Ok(())
            }
        }
    }

    /// Permissions in force that outlive their run, newest first.
    pub async fn grants(&self) -> anyhow::Result<Vec<StandingGrant>> {
        match self {
            Self::InProcess(app) => Ok(app.store.grants(app.tenant, None, app.clock.now()).await?),
            Self::Remote(client) => {
                let (rows, _) = client.all::<wire::Permission>("/api/grants", usize::MAX).await?;
                Ok(rows.into_iter().map(Into::into).collect())
            }
        }
    }

    /// Takes a permission back.
    pub async fn revoke(&self, id: Uuid) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.store.revoke_grant(app.tenant, id).await?),
            Self::Remote(client) => {
                let path = format!("/api/grants/{id}");
                client.ask(Method::DELETE, &path, None).await
            }
        }
    }
}

/// Whether a decision came too late.
pub fn is_already_decided(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<EngineError>(), Some(EngineError::AlreadyDecided(_)))
        || error
            .downcast_ref::<Refused>()
            .and_then(|refused| refused.code.as_deref())
            .is_some_and(|code| matches!(code, "already_decided" | "withdrawn"))
}

/// What a wider yes covers; never what can't be undone.
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

async fn keep(app: &App, id: ApprovalId, answer: &Answer, standing: bool) -> anyhow::Result<Option<Uuid>> {
    let Answer::Approve { grant: Some(scope), until } = answer else {
        return Ok(None);
    };
    if !standing {
        return Ok(None);
    }
    let approval = app.store.approval(app.tenant, id).await?;
    let run = app.store.run(app.tenant, approval.run_id).await?;
    let grant = StandingGrant {
        id: app.ids.next(),
        agent: run.agent,
        grant: Grant { scope: scope.clone(), until: *until },
        by: BY.to_owned(),
        created_at: app.clock.now(),
    };
    app.store.save_grant(app.tenant, &grant).await?;
    Ok(Some(grant.id))
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
