//! `POST /api/approvals/{id}/decide`.

use super::alike::is_destructive;
use super::check::check;
use super::desk::{Desk, status};
use crate::auth::Person;
use crate::dto::approval::{ApprovalStatus, Decide, Decided};
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use futures::StreamExt;
use std::time::Duration;
use steward_core::approval::{Answer, Approval as Row};
use steward_core::event::EventBody;
use steward_core::policy::Grant;
use steward_core::ports::{Role, RunRow, StandingGrant};
use steward_core::{AgentId, ApprovalId};
use steward_engine::EngineError;
use uuid::Uuid;

/// How long the run has to take the decision in before it is answered for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Decides. The first decision counts; what it was bound to (arguments, plan) can't change.
#[utoipa::path(post, path = "/api/approvals/{id}/decide", tag = "approvals", operation_id = "decideApproval",
    params(("id" = Uuid, Path)), request_body = Decide,
    responses((status = 200, description = "Decided", body = Decided)))]
pub(crate) async fn decide(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ApprovalId>,
    Body(body): Body<Decide>,
) -> Result<Json<Decided>, Problem> {
    person.may(Role::Developer)?;
    let mut desk = Desk::new(&state, &person);
    let (row, run) = desk.entry(id).await?;
    still_open(&row)?;
    let standing = check(&body, &row.subject, state.runs.deps().clock.now())?;
    if standing.is_some() {
        // It is in force for everybody who uses the agent.
        person.may(Role::Operator)?;
    }
    let others = if body.duplicates {
        let mut alike = desk.alike(&row).await?;
        alike.retain(|other| !is_destructive(&other.subject));
        alike
    } else {
        Vec::new()
    };
    let by = person.by();
    // A permission of the agent is not the run's own: it ends for this run too when it is revoked.
    let answer = match &standing {
        Some(_) => Answer::Approve { grant: None, until: None },
        None => body.answer,
    };
    let grant = keep(&state, run.agent, standing, &by).await?;
    if let Err(error) = state.runs.decide(id, answer.clone(), &by).await {
        take_back(&state, grant).await;
        return Err(refused(&state, id, error).await);
    }
    let mut also = Vec::new();
    for other in others {
        match state.runs.decide(other.id, answer.clone(), &by).await {
            Ok(()) => also.push(other.id),
            // Somebody was quicker, or its run ended: that one is not ours any more.
            Err(error) => {
                tracing::info!(approval = %other.id, %error, "a duplicate was not decided");
            }
        }
    }
    taken_in(&state, id, &run).await;
    let row = match known_by_now(&state, id, &answer, &by).await {
        Ok(row) => row,
        Err(problem) => {
            take_back(&state, grant).await;
            return Err(problem);
        }
    };
    let approval = desk.show(row, run).await?;
    Ok(Json(Decided { approval, also }))
}

fn still_open(row: &Row) -> Result<(), Problem> {
    match status(row) {
        ApprovalStatus::Open => Ok(()),
        ApprovalStatus::Decided => Err(decided_already(row)),
        ApprovalStatus::Withdrawn => Err(Problem::conflict(
            "withdrawn",
            format!("approval {} is withdrawn: its run has ended", row.id),
            "there is nothing to decide any more",
        )
        .run(row.run_id)),
    }
}

fn decided_already(row: &Row) -> Problem {
    let who = row.decided_by.as_deref().unwrap_or("somebody");
    Problem::conflict(
        "already_decided",
        format!("approval {} was already decided by {who}", row.id),
        "load it anew; the first decision counts",
    )
    .run(row.run_id)
}

/// Why the engine would not take it; most likely somebody else was quicker.
async fn refused(state: &ApiState, id: ApprovalId, error: EngineError) -> Problem {
    let deps = state.runs.deps();
    match deps.store.approval(deps.tenant, id).await {
        Ok(row) => still_open(&row).err().unwrap_or_else(|| error.into()),
        Err(_) => error.into(),
    }
}

async fn keep(state: &ApiState, agent: AgentId, standing: Option<Grant>, by: &str) -> Result<Option<Uuid>, Problem> {
    let Some(grant) = standing else {
        return Ok(None);
    };
    let deps = state.runs.deps();
    let grant = StandingGrant { id: deps.ids.next(), agent, grant, by: by.to_owned(), created_at: deps.clock.now() };
    deps.store.save_grant(deps.tenant, &grant).await?;
    Ok(Some(grant.id))
}

async fn take_back(state: &ApiState, grant: Option<Uuid>) {
    let Some(id) = grant else { return };
    let deps = state.runs.deps();
    if let Err(error) = deps.store.revoke_grant(deps.tenant, id).await {
        tracing::error!(grant = %id, %error, "a grant stays whose decision was refused");
    }
}

/// Waits until the run has the decision in its log.
async fn taken_in(state: &ApiState, id: ApprovalId, run: &RunRow) {
    let mut events = state.runs.watch(run.id, run.last_seq);
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
async fn known_by_now(state: &ApiState, id: ApprovalId, answer: &Answer, by: &str) -> Result<Row, Problem> {
    let deps = state.runs.deps();
    let mut row = deps.store.approval(deps.tenant, id).await?;
    match &row.answer {
        Some(kept) if kept == answer && row.decided_by.as_deref() == Some(by) => Ok(row),
        Some(_) => Err(decided_already(&row)),
        // Withdrawn meanwhile.
        None if row.decided_at.is_some() => Err(still_open(&row).err().unwrap_or_else(|| decided_already(&row))),
        None => {
            row.answer = Some(answer.clone());
            row.decided_by = Some(by.to_owned());
            row.decided_at = Some(deps.clock.now());
            Ok(row)
        }
    }
}
