//! `/api/credentials`.

use crate::auth::Person;
use crate::dto::credential::Resealed;
use crate::extract::{Body, Page, Paging, PagingQuery};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::credential::Credential;
use steward_core::ports::{NewCredential, Role};

/// Credentials by name, without their secrets.
#[utoipa::path(get, path = "/api/credentials", tag = "credentials", operation_id = "listCredentials",
    params(PagingQuery), responses((status = 200, description = "By name", body = Page<Credential>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    person: Person,
    paging: Paging,
) -> Result<Page<Credential>, Problem> {
    person.may(Role::Developer)?;
    let after = paging.after::<String>()?;
    let page = state.vault.credentials(state.runs.deps().tenant, after.as_deref(), paging.limit).await?;
    let next = page.items.last().filter(|_| page.more).map(|one| one.name.clone());
    Ok(Page::new(page.items, next))
}

/// Keeps a credential. Its secret fields are sealed and never shown again.
#[utoipa::path(post, path = "/api/credentials", tag = "credentials", operation_id = "createCredential",
    request_body = NewCredential,
    responses((status = 201, description = "Kept", body = Credential)))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    person: Person,
    Body(mut new): Body<NewCredential>,
) -> Result<(StatusCode, Json<Credential>), Problem> {
    person.may(Role::Operator)?;
    new.name = new.name.trim().to_owned();
    let kept = state.vault.keep(state.runs.deps().tenant, new).await?;
    Ok((StatusCode::CREATED, Json(kept)))
}

/// Seals all credentials with a new key. The old key opens nothing after that.
#[utoipa::path(post, path = "/api/credentials/rotate", tag = "credentials",
    operation_id = "rotateVaultKey",
    responses((status = 200, description = "Sealed anew", body = Resealed)))]
pub(crate) async fn rotate(State(state): State<ApiState>, person: Person) -> Result<Json<Resealed>, Problem> {
    person.may(Role::Admin)?;
    let resealed = state.vault.rotate(state.runs.deps().tenant).await?;
    Ok(Json(Resealed { resealed }))
}
