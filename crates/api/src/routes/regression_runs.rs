use crate::dto::runs::KeptReport;
use crate::routes::prelude::*;
use steward_core::ports::KeptRun;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(replay_all)).routes(routes!(remove))
}

/// Runs kept as tests, by name.
#[utoipa::path(get, path = "/api/kept", tag = "kept", operation_id = "listKept", params(Paging),
    responses((status = 200, description = "By name", body = Page<KeptRun>)))]
async fn list(Call(state, caller): Call, paging: Paging) -> Listed<KeptRun> {
    Page::cut(state.kept_runs(&caller).await?, &paging)
}

/// Decides all of them again from their logs, without models or tools, and compares.
#[utoipa::path(post, path = "/api/kept/run", tag = "kept", operation_id = "runKept",
    responses((status = 200, description = "What was found", body = Page<KeptReport>)))]
async fn replay_all(Call(state, caller): Call) -> Listed<KeptReport> {
    Ok(Page::whole(state.replay_kept_runs(&caller).await?))
}

/// Lets go of one; the run stays.
#[utoipa::path(delete, path = "/api/kept/{name}", tag = "kept", operation_id = "deleteKept",
    params(("name" = String, Path)),
    responses((status = 204, description = "Let go")))]
async fn remove(Call(state, caller): Call, PathName(name): PathName) -> Done {
    done(state.drop_kept_run(&caller, &name).await)
}
