//! `POST /api/runs/{id}/keep`.

use crate::auth::Person;
use crate::dto::run::Keep;
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::routes::people;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::RunId;
use steward_core::ports::{KeptRun, RunStatus};

const MAX_NAME: usize = 100;

/// Keeps an ended run as a test: `POST /api/kept/run` replays all of them.
#[utoipa::path(post, path = "/api/runs/{id}/keep", tag = "runs", operation_id = "keepRun",
    params(("id" = Uuid, Path)), request_body = Keep,
    responses((status = 201, description = "Kept", body = KeptRun)))]
pub(crate) async fn keep(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
    Body(body): Body<Keep>,
) -> Result<(StatusCode, Json<KeptRun>), Problem> {
    let row = people::own_run(&state, &person, id).await?;
    if row.status != RunStatus::Finished {
        return Err(
            Problem::conflict("run_open", format!("run {id} has not ended"), "wait for its end, or stop it").run(id)
        );
    }
    let name = body.name.trim();
    let bad = |c: char| c.is_control() || c == '/';
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(bad) {
        return Err(Problem::invalid(
            "name",
            format!("a name has 1 to {MAX_NAME} characters on one line, and no `/`"),
            "choose another name",
        ));
    }
    let deps = state.runs.deps();
    let kept = KeptRun { name: name.to_owned(), run: id, by: person.by(), created_at: deps.clock.now() };
    deps.store.keep_run(deps.tenant, &kept).await?;
    Ok((StatusCode::CREATED, Json(kept)))
}
