//! `/api/kept`: runs kept as regression tests.

use super::people;
use crate::auth::Person;
use crate::dto::run::KeptReport;
use crate::extract::{Page, Paging, PagingQuery, PathName};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::ports::{KeptRun, Role};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(replay_all)).routes(routes!(remove))
}

/// Those whose run the person may see.
async fn seen(state: &ApiState, person: &Person) -> Result<Vec<KeptRun>, Problem> {
    let deps = state.runs.deps();
    let mut all = deps.store.kept_runs(deps.tenant).await?;
    if person.sees_all() {
        return Ok(all);
    }
    let mut mine = Vec::new();
    for kept in all.drain(..) {
        let row = deps.store.run(deps.tenant, kept.run).await?;
        if person.sees(row.user) {
            mine.push(kept);
        }
    }
    Ok(mine)
}

/// Runs kept as tests, by name.
#[utoipa::path(get, path = "/api/kept", tag = "kept", operation_id = "listKept", params(PagingQuery),
    responses((status = 200, description = "By name", body = Page<KeptRun>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    person: Person,
    paging: Paging,
) -> Result<Page<KeptRun>, Problem> {
    let kept = seen(&state, &person).await?;
    Page::cut(kept, &paging)
}

/// Decides all of them again from their logs, without models or tools, and compares.
#[utoipa::path(post, path = "/api/kept/run", tag = "kept", operation_id = "runKept",
    responses((status = 200, description = "What was found", body = Page<KeptReport>)))]
pub(crate) async fn replay_all(State(state): State<ApiState>, person: Person) -> Result<Page<KeptReport>, Problem> {
    person.may(Role::Developer)?;
    let mut reports = Vec::new();
    for kept in seen(&state, &person).await? {
        let report = state.runs.replay(kept.run).await?;
        reports.push(KeptReport {
            name: kept.name,
            run_id: kept.run,
            same: report.same,
            differences: report.differences,
        });
    }
    Ok(Page::whole(reports))
}

/// Lets go of one; the run stays.
#[utoipa::path(delete, path = "/api/kept/{name}", tag = "kept", operation_id = "deleteKept",
    params(("name" = String, Path)),
    responses((status = 204, description = "Let go")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathName(name): PathName,
) -> Result<StatusCode, Problem> {
    person.may(Role::Developer)?;
    let known = seen(&state, &person).await?;
    let Some(kept) = known.into_iter().find(|kept| kept.name == name) else {
        return Err(Problem::not_found(format!("the kept run `{name}`")));
    };
    // Its run, so that somebody else's is theirs to let go.
    people::own_run(&state, &person, kept.run).await?;
    let deps = state.runs.deps();
    deps.store.drop_kept(deps.tenant, &kept.name).await?;
    Ok(StatusCode::NO_CONTENT)
}
