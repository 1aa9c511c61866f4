//! Words to a run: stop, steer, resume.

use crate::auth::Person;
use crate::dto::run::{Resumed, RunRef, Steer};
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::routes::people;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::RunId;
use steward_core::ports::{RunRow, RunStatus};

/// Refuses what only a run that has not ended can do.
fn open(row: &RunRow) -> Result<(), Problem> {
    if row.status == RunStatus::Finished {
        return Err(Problem::conflict(
            "run_finished",
            format!("run {} has ended", row.id),
            "begin another: send a message to its conversation, or fork it",
        )
        .run(row.id));
    }
    Ok(())
}

/// Stops a run: tools and model requests end within a second.
#[utoipa::path(post, path = "/api/runs/{id}/stop", tag = "runs", operation_id = "stopRun",
    params(("id" = Uuid, Path)),
    responses((status = 202, description = "It ends now", body = RunRef)))]
pub(crate) async fn stop(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
) -> Result<(StatusCode, Json<RunRef>), Problem> {
    open(&people::own_run(&state, &person, id).await?)?;
    state.runs.stop(id, &person.by()).await?;
    Ok((StatusCode::ACCEPTED, Json(RunRef { run_id: id })))
}

/// Says something to a run at work; it takes it in at its next step.
#[utoipa::path(post, path = "/api/runs/{id}/steer", tag = "runs", operation_id = "steerRun",
    params(("id" = Uuid, Path)), request_body = Steer,
    responses((status = 202, description = "It will hear it", body = RunRef)))]
pub(crate) async fn steer(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
    Body(body): Body<Steer>,
) -> Result<(StatusCode, Json<RunRef>), Problem> {
    open(&people::own_run(&state, &person, id).await?)?;
    if body.text.trim().is_empty() || body.text.chars().count() > 200_000 {
        return Err(Problem::invalid(
            "text",
            "a message has 1 to 200000 characters",
            "say what the run should know; upload long texts as files",
        ));
    }
    state.runs.steer(id, &body.text, &person.by()).await?;
    Ok((StatusCode::ACCEPTED, Json(RunRef { run_id: id })))
}

/// Takes up a run that nobody works on; `resumed` is false where there is nothing to do.
#[utoipa::path(post, path = "/api/runs/{id}/resume", tag = "runs", operation_id = "resumeRun",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "Whether it was taken up", body = Resumed)))]
pub(crate) async fn resume(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
) -> Result<Json<Resumed>, Problem> {
    let row = people::own_run(&state, &person, id).await?;
    let resumed = row.status != RunStatus::Finished && state.runs.resume(id).await?;
    Ok(Json(Resumed { resumed }))
}
