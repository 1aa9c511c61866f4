//! `POST /api/runs/{id}/undo`.

use crate::auth::Person;
use crate::dto::run::{Undo, Undone};
use crate::extract::{Body, Page, PathId};
use crate::problem::Problem;
use crate::routes::people;
use crate::state::ApiState;
use axum::extract::State;
use steward_core::RunId;
use steward_core::ports::RunStatus;

/// Takes back what an ended run did, newest first, or only one call. What can't be taken back says
/// why.
#[utoipa::path(post, path = "/api/runs/{id}/undo", tag = "runs", operation_id = "undoRun",
    params(("id" = Uuid, Path)), request_body = Undo,
    responses((status = 200, description = "What became of each effect", body = Page<Undone>)))]
pub(crate) async fn undo(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
    Body(body): Body<Undo>,
) -> Result<Page<Undone>, Problem> {
    let row = people::own_run(&state, &person, id).await?;
    if row.status != RunStatus::Finished {
        return Err(Problem::conflict(
            "run_open",
            format!("run {id} has not ended"),
            "stop it first, or wait for its end",
        )
        .run(id));
    }
    let by = person.by();
    let undone = match body.call_id {
        Some(call) => vec![state.runs.undo_call(id, &call, &by).await?],
        None => state.runs.undo(id, &by).await?,
    };
    let items = undone
        .into_iter()
        .map(|one| {
            let (undone, detail) = match one.result {
                Ok(summary) => (true, summary),
                Err(why) => (false, why),
            };
            Undone { call_id: one.call_id, tool: one.tool, undone, detail }
        })
        .collect();
    Ok(Page::whole(items))
}
