use crate::ApiState;
use crate::auth::Call;
use crate::dto::approvals::StandingGrant;
use crate::extract::{Listed, Page, Paging, PagingQuery, Params, PathId};
use crate::problem::Done;
use axum::http::StatusCode;
use serde::Deserialize;
use steward_core::AgentId;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(revoke))
}

/// Which grants.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// Only of this agent.
    #[param(nullable = false)]
    agent_id: Option<Uuid>,
}

/// Permissions in force, newest first.
#[utoipa::path(get, path = "/api/grants", tag = "grants", operation_id = "listGrants",
    params(PagingQuery, Search),
    responses((status = 200, description = "Newest first", body = Page<StandingGrant>)))]
pub(crate) async fn list(
    Call(state, caller): Call,
    paging: Paging,
    Params(search): Params<Search>,
) -> Listed<StandingGrant> {
    Page::cut(state.grants(&caller, search.agent_id.map(AgentId)).await?, &paging)
}

/// Takes a permission back; it no longer holds for what has not run yet.
#[utoipa::path(delete, path = "/api/grants/{id}", tag = "grants", operation_id = "revokeGrant",
    params(("id" = Uuid, Path)),
    responses((status = 204, description = "Taken back")))]
pub(crate) async fn revoke(Call(state, caller): Call, PathId(id): PathId<Uuid>) -> Done {
    state.revoke_grant(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
