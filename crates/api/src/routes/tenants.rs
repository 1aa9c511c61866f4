//! `/api/tenants`: the organisations of the installation, for administrators of its own.

use crate::ApiState;
use crate::dto::tenants::{DeletedTenant, NewTenant, Tenant, TenantDeletion, TenantInput, TenantPatch};
use crate::extract::{Body, Listed, Page, Paging, PagingQuery, PathId};
use crate::guard::{AuditNote, KeptAs};
use crate::problem::{Answer, Problem};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;
use steward_app::Caller;
use steward_core::TenantId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(get, change, remove))
}

/// All organisations, by slug.
#[utoipa::path(get, path = "/api/tenants", tag = "tenants", operation_id = "listTenants",
    params(PagingQuery), responses((status = 200, description = "By slug", body = Page<Tenant>)))]
pub(crate) async fn list(State(state): State<ApiState>, caller: Caller, paging: Paging) -> Listed<Tenant> {
    Page::cut(state.tenants.list(&caller).await?, &paging)
}

/// Makes an organisation
///
/// It is open at once. Its first administrator is invited: they choose their password with the token, which is shown this
/// once.
#[utoipa::path(post, path = "/api/tenants", tag = "tenants", operation_id = "createTenant",
    request_body = TenantInput, responses(
        (status = 201, description = "Made", body = NewTenant),
        (status = 409, description = "Another has this slug")))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    caller: Caller,
    Body(input): Body<TenantInput>,
) -> Result<Response, Problem> {
    let made = state.tenants.create(&caller, input).await?;
    let kept = KeptAs(json!(made.clone().without_token()).to_string());
    let note = AuditNote::target(made.tenant.id.to_string());
    Ok((StatusCode::CREATED, Extension(kept), Extension(note), Json(made)).into_response())
}

/// One organisation.
#[utoipa::path(get, path = "/api/tenants/{id}", tag = "tenants", operation_id = "getTenant",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Tenant)))]
pub(crate) async fn get(State(state): State<ApiState>, caller: Caller, PathId(id): PathId<TenantId>) -> Answer<Tenant> {
    Ok(Json(state.tenants.get(&caller, id).await?))
}

/// Renames, disables or enables an organisation
///
/// Disabling ends its logins, keys, runs at work and event streams at once. Enabling lets its runs go on.
#[utoipa::path(patch, path = "/api/tenants/{id}", tag = "tenants", operation_id = "changeTenant",
    params(("id" = Uuid, Path)), request_body = TenantPatch, responses(
        (status = 200, description = "Changed", body = Tenant),
        (status = 409, description = "It is the installation's own")))]
pub(crate) async fn change(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId<TenantId>,
    Body(patch): Body<TenantPatch>,
) -> Answer<Tenant> {
    Ok(Json(state.tenants.change(&caller, id, patch).await?))
}

/// Deletes an organisation that is disabled, for good
///
/// With every row and file of it. How many there were is told, and written into the audit trail.
#[utoipa::path(delete, path = "/api/tenants/{id}", tag = "tenants", operation_id = "deleteTenant",
    params(("id" = Uuid, Path)), request_body = TenantDeletion, responses(
        (status = 200, description = "Deleted", body = DeletedTenant),
        (status = 409, description = "It is in use, or the installation's own")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId<TenantId>,
    Body(wanted): Body<TenantDeletion>,
) -> Answer<DeletedTenant> {
    Ok(Json(state.tenants.delete(&caller, id, &wanted.slug).await?))
}
