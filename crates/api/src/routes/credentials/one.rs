//! `/api/credentials/{id}`.

use crate::auth::Person;
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::CredentialId;
use steward_core::credential::Credential;
use steward_core::ports::{CredentialChange, Role};

/// One credential, without its secrets.
#[utoipa::path(get, path = "/api/credentials/{id}", tag = "credentials", operation_id = "getCredential",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Credential)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<CredentialId>,
) -> Result<Json<Credential>, Problem> {
    person.may(Role::Developer)?;
    let found = state.vault.credential(state.runs.deps().tenant, id).await?;
    Ok(Json(found))
}

/// Changes a credential; in force at the next call.
#[utoipa::path(patch, path = "/api/credentials/{id}", tag = "credentials",
    operation_id = "changeCredential", params(("id" = Uuid, Path)), request_body = CredentialChange,
    responses((status = 200, description = "Changed", body = Credential)))]
pub(crate) async fn change(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<CredentialId>,
    Body(mut change): Body<CredentialChange>,
) -> Result<Json<Credential>, Problem> {
    person.may(Role::Operator)?;
    change.name = change.name.map(|name| name.trim().to_owned());
    let changed = state.vault.change(state.runs.deps().tenant, id, change).await?;
    Ok(Json(changed))
}

/// Removes a credential for good. Skills that use it are refused from then on.
#[utoipa::path(delete, path = "/api/credentials/{id}", tag = "credentials",
    operation_id = "deleteCredential", params(("id" = Uuid, Path)),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<CredentialId>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    state.vault.remove(state.runs.deps().tenant, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
