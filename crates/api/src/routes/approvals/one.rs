//! `GET /api/approvals/{id}`.

use super::desk::Desk;
use crate::auth::Person;
use crate::dto::approval::Approval;
use crate::extract::PathId;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::ApprovalId;

/// One entry of the inbox.
#[utoipa::path(get, path = "/api/approvals/{id}", tag = "approvals", operation_id = "getApproval",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "The entry", body = Approval)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ApprovalId>,
) -> Result<Json<Approval>, Problem> {
    let mut desk = Desk::new(&state, &person);
    let (row, run) = desk.entry(id).await?;
    Ok(Json(desk.show(row, run).await?))
}
