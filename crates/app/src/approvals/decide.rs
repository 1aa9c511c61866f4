//! Deciding an entry of the inbox. The first decision counts.

use super::decision_rules::check_decision;
use super::decision_rules::is_destructive;
use super::{InboxView, status};
use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::approvals::{ApprovalStatus, Decide, Decided};
use futures::StreamExt;
use serde_json::json;
use std::time::Duration;
use steward_core::approval::{Answer, Approval};
use steward_core::event::EventBody;
use steward_core::policy::{Grant, StandingGrant};
use steward_core::ports::{Approvals as _, RunRow};
use steward_core::{AgentId, ApprovalId};
use steward_engine::EngineError;
use uuid::Uuid;

/// How long the run has to take the decision in before it is answered for it.
const PATIENCE: Duration = Duration::from_secs(5);

impl App {
    /// Decides. What the decision was bound to (arguments, plan) can't change.
    pub async fn decide(&self, caller: &Caller, id: ApprovalId, wanted: Decide) -> AppResult<Decided> {
        authorize(caller, Action::Decide, Resource::Approvals)?;
        let mut inbox = InboxView::new(self, caller);
        let (row, run) = inbox.entry(id).await?;
        still_open(&row)?;
        if wanted.answer.lets_through() && inbox.needs_other(&row).await? {
            return Err(AppError::forbidden(
                "somebody else has to approve this: you asked for it, or have told the run what to do",
                "a rule of this installation wants two people here; ask a colleague who has said nothing in this run, or deny it",
            )
            .code("four_eyes"));
        }
        let standing = check_decision(&wanted, &row.subject, self.now())?;
        if standing.is_some() {
            // It is in force for everybody who uses the agent.
            authorize(caller, Action::Write, Resource::Grants)?;
        }
        let others = if wanted.duplicates {
            let mut same = inbox.duplicates(&row).await?;
            same.retain(|other| !is_destructive(&other.subject) && !other.about.four_eyes);
            same
        } else {
            Vec::new()
        };
        let by = caller.by();
        // A permission of the agent is not the run's own: it ends for this run too when it is revoked.
        let answer = match &standing {
            Some(_) => Answer::Approve { grant: None, until: None },
            None => wanted.answer,
        };
        let grant = self.save_standing(caller, run.agent, standing).await?;
        if let Err(error) = self.runs.decide(id, answer.clone(), caller.requested_by()).await {
            self.take_back(grant).await;
            return Err(self.refusal(id, error).await);
        }
        let mut also = Vec::new();
        for other in others {
            match self.runs.decide(other.id, answer.clone(), caller.requested_by()).await {
                Ok(()) => also.push(other.id),
                // Somebody was quicker, or its run ended: that one is not ours any more.
                Err(error) => {
                    tracing::info!(approval = %other.id, %error, "a duplicate was not decided");
                }
            }
        }
        self.until_taken_in(id, &run).await;
        let row = match self.decided_entry(id, &answer, &by).await {
            Ok(row) => row,
            Err(error) => {
                self.take_back(grant).await;
                return Err(error);
            }
        };
        let approval = inbox.show(row, run).await?;
        Ok(Decided { approval, also })
    }

    /// Why the engine would not take it; most likely somebody else was quicker.
    async fn refusal(&self, id: ApprovalId, error: EngineError) -> AppError {
        match self.store.approval(self.tenant(), id).await {
            Ok(row) => still_open(&row).err().unwrap_or_else(|| error.into()),
            Err(_) => error.into(),
        }
    }

    async fn save_standing(&self, caller: &Caller, agent: AgentId, standing: Option<Grant>) -> AppResult<Option<Uuid>> {
        let Some(grant) = standing else {
            return Ok(None);
        };
        let grant = StandingGrant { id: self.new_id(), agent, grant, by: caller.by(), created_at: self.now() };
        let entry = self.audit_entry_of(caller, "grants.create").on(grant.id.to_string());
        let entry = entry.with("agent_id", agent.to_string()).with("until", grant.grant.until.map(|at| at.0));
        self.record_audit(&entry.with("scope", json!(grant.grant.scope).to_string())).await?;
        self.store.save_grant(self.tenant(), &grant).await?;
        Ok(Some(grant.id))
    }

    async fn take_back(&self, grant: Option<Uuid>) {
        let Some(id) = grant else { return };
        if let Err(error) = self.store.revoke_grant(self.tenant(), id).await {
            tracing::error!(grant = %id, %error, "a grant stays whose decision was refused");
        }
    }

    async fn until_taken_in(&self, id: ApprovalId, run: &RunRow) {
        let mut events = self.runs.watch(run.id, run.last_seq);
        let heard = async {
            while let Some(Ok(event)) = events.next().await {
                match event.body {
                    EventBody::ApprovalDecided { approval_id, .. } if approval_id == id => return,
                    EventBody::RunFinished { .. } => return,
                    _ => {}
                }
            }
        };
        if tokio::time::timeout(PATIENCE, heard).await.is_err() {
            tracing::info!(run = %run.id, "the decision is kept; the run has not taken it in yet");
        }
    }

    /// The entry with its decision. If another was quicker, that one counts.
    async fn decided_entry(&self, id: ApprovalId, answer: &Answer, by: &str) -> AppResult<Approval> {
        let mut row = self.store.approval(self.tenant(), id).await?;
        match &row.answer {
            Some(kept) if kept == answer && row.decided_by.as_deref() == Some(by) => Ok(row),
            Some(_) => Err(decided_already(&row)),
            // Withdrawn meanwhile.
            None if row.decided_at.is_some() => Err(still_open(&row).err().unwrap_or_else(|| decided_already(&row))),
            None => {
                row.answer = Some(answer.clone());
                row.decided_by = Some(by.to_owned());
                row.decided_at = Some(self.now());
                Ok(row)
            }
        }
    }
}

fn still_open(row: &Approval) -> AppResult<()> {
    match status(row) {
        ApprovalStatus::Open => Ok(()),
        ApprovalStatus::Decided => Err(decided_already(row)),
        ApprovalStatus::Withdrawn => Err(AppError::conflict(
            "withdrawn",
            format!("approval {} is withdrawn: its run has ended", row.id),
            "there is nothing to decide any more",
        )
        .run(row.run_id)),
    }
}

fn decided_already(row: &Approval) -> AppError {
    let who = row.decided_by.as_deref().unwrap_or("somebody");
    AppError::conflict(
        "already_decided",
        format!("approval {} was already decided by {who}", row.id),
        "load it anew; the first decision counts",
    )
    .run(row.run_id)
}
