//! `/api/approvals`: the inbox.

use crate::auth::Call;
use crate::dto::approval::{Approval, Decide, Decided};
use crate::extract::{Body, Listed, Page, Paging, PagingQuery, Params, PathId};
use crate::problem::Answer;
use crate::state::ApiState;
use axum::Json;
use serde::{Deserialize, Serialize};
use steward_app::{ApprovalsWanted, Caller};
use steward_core::{ApprovalId, RunId};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(get)).routes(routes!(decide))
}

/// Which entries.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    /// Those that wait, oldest first.
    #[default]
    Open,
    /// Those that were decided or withdrawn, newest first.
    Closed,
    /// All, newest first.
    All,
}

/// Which entries.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// Only these.
    #[serde(default)]
    #[param(inline)]
    status: Which,
    /// Only of this run.
    #[param(nullable = false)]
    run_id: Option<Uuid>,
}

/// What waits, or waited, for a decision on the runs that one may see.
#[utoipa::path(get, path = "/api/approvals", tag = "approvals", operation_id = "listApprovals",
    params(PagingQuery, Search),
    responses((status = 200, description = "Open ones oldest first, else newest first", body = Page<Approval>)))]
pub(crate) async fn list(
    Call(state, caller): Call,
    paging: Paging,
    Params(search): Params<Search>,
) -> Listed<Approval> {
    let wanted = match search.status {
        Which::Open => ApprovalsWanted::Open,
        Which::Closed => ApprovalsWanted::Closed,
        Which::All => ApprovalsWanted::All,
    };
    let page = state.approvals(&caller, wanted, search.run_id.map(RunId), paging.after()?, paging.limit).await?;
    Ok(Page::new(page.items, page.next))
}

/// One entry of the inbox.
#[utoipa::path(get, path = "/api/approvals/{id}", tag = "approvals", operation_id = "getApproval",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "The entry", body = Approval)))]
pub(crate) async fn get(Call(state, caller): Call, PathId(id): PathId<ApprovalId>) -> Answer<Approval> {
    Ok(Json(state.approval(&caller, id).await?))
}

/// Decides. The first decision counts; what it was bound to (arguments, plan) can't change.
#[utoipa::path(post, path = "/api/approvals/{id}/decide", tag = "approvals", operation_id = "decideApproval",
    params(("id" = Uuid, Path)), request_body = Decide,
    responses((status = 200, description = "Decided", body = Decided)))]
pub(crate) async fn decide(
    Call(state, caller): Call,
    PathId(id): PathId<ApprovalId>,
    Body(body): Body<Decide>,
) -> Answer<Decided> {
    Ok(Json(state.decide(&caller, id, body).await?))
}
