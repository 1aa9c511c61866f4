//! `POST /api/runs/{id}/replay`.

use crate::auth::Person;
use crate::dto::run::Replay;
use crate::extract::PathId;
use crate::problem::Problem;
use crate::routes::people;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::RunId;

/// Decides a run again from its own log, without models or tools, and compares.
#[utoipa::path(post, path = "/api/runs/{id}/replay", tag = "runs", operation_id = "replayRun",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "What was found", body = Replay)))]
pub(crate) async fn replay(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
) -> Result<Json<Replay>, Problem> {
    people::own_run(&state, &person, id).await?;
    let report = state.runs.replay(id).await?;
    Ok(Json(Replay {
        run_id: id,
        same: report.same,
        events: report.events,
        decisions: report.decisions,
        differences: report.differences,
    }))
}
