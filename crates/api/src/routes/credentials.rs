//! `/api/credentials`: what is in the vault. Values go in and never come back.

use crate::dto::credentials::{CredentialKindInfo, CredentialUse, Resealed};
use crate::routes::prelude::*;
use steward_app::Caller;
use steward_core::credential::{Credential, CredentialKind};
use steward_core::ports::{CredentialChange, NewCredential};
use steward_core::{CredentialId, Timestamp};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(rotate))
        .routes(routes!(kinds))
        .routes(routes!(get, change, remove))
        .routes(routes!(uses))
}

/// Credentials by name, without their secrets.
#[utoipa::path(get, path = "/api/credentials", tag = "credentials", operation_id = "listCredentials",
    params(Paging), responses((status = 200, description = "By name", body = Page<Credential>)))]
async fn list(Call(state, caller): Call, paging: Paging) -> Listed<Credential> {
    let after = paging.after::<String>()?;
    let page = state.credentials(&caller, after.as_deref(), paging.limit()).await?;
    Ok(Page::after_last(page, |one| one.name.clone()))
}

/// Keeps a credential. Its secret fields are sealed and never shown again.
#[utoipa::path(post, path = "/api/credentials", tag = "credentials", operation_id = "createCredential",
    request_body = NewCredential,
    responses((status = 201, description = "Kept", body = Credential)))]
async fn create(Call(state, caller): Call, Body(new): Body<NewCredential>) -> Created<Credential> {
    created(state.create_credential(&caller, new).await?)
}

/// Seals all credentials with a new key. The old key opens nothing after that.
#[utoipa::path(post, path = "/api/credentials/rotate", tag = "credentials",
    operation_id = "rotateVaultKey",
    responses((status = 200, description = "Sealed anew", body = Resealed)))]
async fn rotate(Call(state, caller): Call) -> Answer<Resealed> {
    let resealed = state.rotate_vault_key(&caller).await?;
    Ok(Json(Resealed { resealed }))
}

/// Kinds of credentials and their fields.
#[utoipa::path(get, path = "/api/credentials/kinds", tag = "credentials",
    operation_id = "listCredentialKinds", params(Paging),
    responses((status = 200, description = "All", body = Page<CredentialKindInfo>)))]
async fn kinds(_: Caller, paging: Paging) -> Listed<CredentialKindInfo> {
    let all = CredentialKind::ALL.into_iter().map(|kind| CredentialKindInfo { kind, fields: kind.fields() });
    Page::cut(all.collect(), &paging)
}

/// One credential, without its secrets.
#[utoipa::path(get, path = "/api/credentials/{id}", tag = "credentials", operation_id = "getCredential",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Credential)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<CredentialId>) -> Answer<Credential> {
    Ok(Json(state.credential(&caller, id).await?))
}

/// Changes a credential; in force at the next call.
#[utoipa::path(patch, path = "/api/credentials/{id}", tag = "credentials",
    operation_id = "changeCredential", params(("id" = Uuid, Path)), request_body = CredentialChange,
    responses((status = 200, description = "Changed", body = Credential)))]
async fn change(
    Call(state, caller): Call,
    PathId(id): PathId<CredentialId>,
    Body(change): Body<CredentialChange>,
) -> Answer<Credential> {
    Ok(Json(state.change_credential(&caller, id, change).await?))
}

/// Removes a credential for good. Skills that use it are refused from then on.
#[utoipa::path(delete, path = "/api/credentials/{id}", tag = "credentials",
    operation_id = "deleteCredential", params(("id" = Uuid, Path)),
    responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<CredentialId>) -> Done {
    done(state.remove_credential(&caller, id).await)
}

/// Which runs used a credential, the latest first.
#[utoipa::path(get, path = "/api/credentials/{id}/uses", tag = "credentials",
    operation_id = "listCredentialUses", params(("id" = Uuid, Path), Paging),
    responses((status = 200, description = "Latest first", body = Page<CredentialUse>)))]
async fn uses(Call(state, caller): Call, PathId(id): PathId<CredentialId>, paging: Paging) -> Listed<CredentialUse> {
    let before = paging.after::<i64>()?.map(Timestamp);
    let page = state.credential_uses(&caller, id, before, paging.limit()).await?;
    Ok(Page::after_last(page, |one| one.at.0))
}
