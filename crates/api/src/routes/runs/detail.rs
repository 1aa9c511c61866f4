//! `GET /api/runs/{id}`.

use crate::auth::Person;
use crate::dto::run::{ChildRun, Run, RunDetail};
use crate::extract::PathId;
use crate::problem::Problem;
use crate::routes::agent_names::AgentNames;
use crate::routes::people;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::RunId;
use steward_core::run::Waiting;
use steward_core::tool::Undo;

/// A run with all that its page shows but its log.
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs", operation_id = "getRun",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "The run", body = RunDetail)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
) -> Result<Json<RunDetail>, Problem> {
    let row = people::run(&state, &person, id).await?;
    let seen = state.runs.state(id).await?;
    let undoable = seen.effects().filter(|(_, undo)| matches!(undo, Undo::Snapshot { .. })).count();
    let waiting = match seen.waiting {
        Some(Waiting::Approval { id, .. }) if seen.outcome.is_none() => Some(id),
        _ => None,
    };
    let children = seen
        .children
        .iter()
        .map(|child| ChildRun { run_id: child.run, agent_name: child.agent.clone(), call_id: child.call_id.clone() })
        .collect();
    let setup = seen.setup.ok_or_else(|| Problem::unavailable("the log of this run has no beginning"))?;
    let deps = state.runs.deps();
    let kept = deps.store.kept_runs(deps.tenant).await?;
    let names = AgentNames::of(&state, vec![row.agent]).await?;
    let name = names.get(row.agent);
    let forkable = state.runs.forkable(id).await?;
    Ok(Json(RunDetail {
        run: Run::named(row, name),
        input: setup.input.clone(),
        mode: setup.mode,
        asked_by: setup.asked_by.clone(),
        connection_id: setup.connection,
        budget: setup.budget,
        waiting_approval: waiting,
        undoable,
        forkable,
        kept_as: kept.into_iter().find(|kept| kept.run == id).map(|kept| kept.name),
        parent: setup.parent,
        children,
    }))
}
