//! `/api/tenants`: the organisations of the installation, for administrators of its own.

use crate::dto::tenants::{DeletedTenant, NewTenant, Tenant, TenantDeletion, TenantInput, TenantPatch};
use crate::guard::AuditNote;
use crate::response::shown_once;
use crate::routes::prelude::*;
use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use steward_app::Caller;
use steward_core::TenantId;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(get, change, remove))
}

/// All organisations, by slug.
#[utoipa::path(get, path = "/api/tenants", tag = "tenants", operation_id = "listTenants",
    params(Paging), responses((status = 200, description = "By slug", body = Page<Tenant>)))]
async fn list(State(state): State<ApiState>, caller: Caller, paging: Paging) -> Listed<Tenant> {
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
async fn create(
    State(state): State<ApiState>,
    caller: Caller,
    Body(input): Body<TenantInput>,
) -> Result<Response, Problem> {
    let made = state.tenants.create(&caller, input).await?;
    let kept = made.clone().without_token();
    let note = AuditNote::target(made.tenant.id.to_string());
    Ok((Extension(note), shown_once(StatusCode::CREATED, made, &kept)).into_response())
}

/// One organisation.
#[utoipa::path(get, path = "/api/tenants/{id}", tag = "tenants", operation_id = "getTenant",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Tenant)))]
async fn get(State(state): State<ApiState>, caller: Caller, PathId(id): PathId<TenantId>) -> Answer<Tenant> {
    Ok(Json(state.tenants.get(&caller, id).await?))
}

/// Renames, disables or enables an organisation
///
/// Disabling ends its logins, keys, runs at work and event streams at once. Enabling lets its runs go on.
#[utoipa::path(patch, path = "/api/tenants/{id}", tag = "tenants", operation_id = "changeTenant",
    params(("id" = Uuid, Path)), request_body = TenantPatch, responses(
        (status = 200, description = "Changed", body = Tenant),
        (status = 409, description = "It is the installation's own")))]
async fn change(
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
async fn remove(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId<TenantId>,
    Body(wanted): Body<TenantDeletion>,
) -> Answer<DeletedTenant> {
    Ok(Json(state.tenants.delete(&caller, id, &wanted.slug).await?))
}
