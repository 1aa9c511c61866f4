//! `/api/kept`: runs kept as regression tests.

use crate::dto::run::KeptReport;
use crate::extract::{Page, Paging, PagingQuery, PathName};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::State;
use axum::http::StatusCode;
use steward_app::Caller;
use steward_core::ports::KeptRun;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(replay_all)).routes(routes!(remove))
}

/// Runs kept as tests, by name.
#[utoipa::path(get, path = "/api/kept", tag = "kept", operation_id = "listKept", params(PagingQuery),
    responses((status = 200, description = "By name", body = Page<KeptRun>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    caller: Caller,
    paging: Paging,
) -> Result<Page<KeptRun>, Problem> {
    Page::cut(state.kept_runs(&caller).await?, &paging)
}

/// Decides all of them again from their logs, without models or tools, and compares.
#[utoipa::path(post, path = "/api/kept/run", tag = "kept", operation_id = "runKept",
    responses((status = 200, description = "What was found", body = Page<KeptReport>)))]
pub(crate) async fn replay_all(State(state): State<ApiState>, caller: Caller) -> Result<Page<KeptReport>, Problem> {
    Ok(Page::whole(state.replay_kept_runs(&caller).await?))
}

/// Lets go of one; the run stays.
#[utoipa::path(delete, path = "/api/kept/{name}", tag = "kept", operation_id = "deleteKept",
    params(("name" = String, Path)),
    responses((status = 204, description = "Let go")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    caller: Caller,
    PathName(name): PathName,
) -> Result<StatusCode, Problem> {
    state.drop_kept_run(&caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
