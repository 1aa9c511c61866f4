use crate::dto::approvals::StandingGrant;
use crate::routes::prelude::*;
use steward_core::AgentId;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(revoke))
}

/// Which grants.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// Only of this agent.
    #[param(nullable = false)]
    agent_id: Option<Uuid>,
}

/// Permissions in force, newest first.
#[utoipa::path(get, path = "/api/grants", tag = "grants", operation_id = "listGrants",
    params(Paging, Search),
    responses((status = 200, description = "Newest first", body = Page<StandingGrant>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<StandingGrant> {
    Page::cut(state.grants(&caller, search.agent_id.map(AgentId)).await?, &paging)
}

/// Takes a permission back; it no longer holds for what has not run yet.
#[utoipa::path(delete, path = "/api/grants/{id}", tag = "grants", operation_id = "revokeGrant",
    params(("id" = Uuid, Path)),
    responses((status = 204, description = "Taken back")))]
async fn revoke(Call(state, caller): Call, PathId(id): PathId<Uuid>) -> Done {
    done(state.revoke_grant(&caller, id).await)
}
