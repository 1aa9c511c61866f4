use crate::dto::keys::{KeyChange, KeyInput, NewVirtualKey, VirtualKey};
use crate::response::shown_once;
use crate::routes::prelude::*;
use axum::response::Response;
use steward_core::KeyId;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(change, revoke))
}

/// Virtual keys, newest first: administrators see everybody's, others their own.
#[utoipa::path(get, path = "/api/keys", tag = "keys", operation_id = "listKeys", params(Paging),
    responses((status = 200, description = "Newest first", body = Page<VirtualKey>)))]
async fn list(Call(state, caller): Call, paging: Paging) -> Listed<VirtualKey> {
    let after = paging.after::<Uuid>()?.map(KeyId);
    let page = state.keys(&caller, after, paging.limit()).await?;
    Ok(Page::after_last(page, |key| key.id))
}

/// Makes a virtual key
///
/// It opens `/v1` and nothing else, within its limits. Its secret is shown this once.
#[utoipa::path(post, path = "/api/keys", tag = "keys", operation_id = "createKey",
    request_body = KeyInput, responses((status = 201, description = "Made", body = NewVirtualKey)))]
async fn create(Call(state, caller): Call, Body(input): Body<KeyInput>) -> Result<Response, Problem> {
    let made = state.create_key(&caller, input).await?;
    let kept = NewVirtualKey { secret: None, ..made.clone() };
    Ok(shown_once(StatusCode::CREATED, made, &kept))
}

/// Changes name, reach and limits of a key; in force at the next request.
#[utoipa::path(patch, path = "/api/keys/{id}", tag = "keys", operation_id = "changeKey",
    params(("id" = Uuid, Path)), request_body = KeyChange,
    responses((status = 200, description = "Changed", body = VirtualKey)))]
async fn change(
    Call(state, caller): Call,
    PathId(id): PathId<KeyId>,
    Body(change): Body<KeyChange>,
) -> Answer<VirtualKey> {
    Ok(Json(state.change_key(&caller, id, change).await?))
}

/// Revokes a key for good; in force at the next request.
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "keys", operation_id = "revokeKey",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Revoked")))]
async fn revoke(Call(state, caller): Call, PathId(id): PathId<KeyId>) -> Done {
    done(state.revoke_key(&caller, id).await)
}
