use crate::dto::approvals::{Approval, Decide, Decided, StandingGrant};
use crate::routes::prelude::*;
use steward_app::ApprovalsWanted;
use steward_core::{AgentId, ApprovalId, RunId};
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(decide))
        .routes(routes!(grants))
        .routes(routes!(revoke))
}

/// Which entries.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// Only these.
    #[serde(default)]
    #[param(inline)]
    status: ApprovalsWanted,
    /// Only of this run.
    #[param(nullable = false)]
    run_id: Option<Uuid>,
}

/// What waits, or waited, for a decision on the runs that one may see.
#[utoipa::path(get, path = "/api/approvals", tag = "approvals", operation_id = "listApprovals",
    params(Paging, Search),
    responses((status = 200, description = "Open ones oldest first, else newest first", body = Page<Approval>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Approval> {
    let page =
        state.approvals(&caller, search.status, search.run_id.map(RunId), paging.after()?, paging.limit()).await?;
    Ok(Page::new(page.items, page.next))
}

/// One entry of the inbox.
#[utoipa::path(get, path = "/api/approvals/{id}", tag = "approvals", operation_id = "getApproval",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "The entry", body = Approval)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<ApprovalId>) -> Answer<Approval> {
    Ok(Json(state.approval(&caller, id).await?))
}

/// Decides. The first decision counts; what it was bound to (arguments, plan) can't change.
#[utoipa::path(post, path = "/api/approvals/{id}/decide", tag = "approvals", operation_id = "decideApproval",
    params(("id" = Uuid, Path)), request_body = Decide,
    responses((status = 200, description = "Decided", body = Decided)))]
async fn decide(
    Call(state, caller): Call,
    PathId(id): PathId<ApprovalId>,
    Body(body): Body<Decide>,
) -> Answer<Decided> {
    Ok(Json(state.decide(&caller, id, body).await?))
}

/// Which grants.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct GrantSearch {
    /// Only of this agent.
    #[param(nullable = false)]
    agent_id: Option<Uuid>,
}

/// Permissions in force, newest first.
#[utoipa::path(get, path = "/api/grants", tag = "grants", operation_id = "listGrants",
    params(Paging, GrantSearch),
    responses((status = 200, description = "Newest first", body = Page<StandingGrant>)))]
async fn grants(
    Call(state, caller): Call,
    paging: Paging,
    Params(search): Params<GrantSearch>,
) -> Listed<StandingGrant> {
    Page::cut(state.grants(&caller, search.agent_id.map(AgentId)).await?, &paging)
}

/// Takes a permission back; it no longer holds for what has not run yet.
#[utoipa::path(delete, path = "/api/grants/{id}", tag = "grants", operation_id = "revokeGrant",
    params(("id" = Uuid, Path)),
    responses((status = 204, description = "Taken back")))]
async fn revoke(Call(state, caller): Call, PathId(id): PathId<Uuid>) -> Done {
    done(state.revoke_grant(&caller, id).await)
}
