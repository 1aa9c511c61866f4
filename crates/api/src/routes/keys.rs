use crate::ApiState;
use crate::auth::Call;
use crate::dto::keys::{KeyChange, KeyInput, NewVirtualKey};
use crate::extract::{Body, Listed, Page, Paging, PagingQuery, PathId};
use crate::guard::KeptAs;
use crate::problem::{Answer, Done, Problem};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;
use steward_core::KeyId;
use steward_core::ports::VirtualKey;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(change, revoke))
}

/// Virtual keys, newest first: administrators see everybody's, others their own.
#[utoipa::path(get, path = "/api/keys", tag = "keys", operation_id = "listKeys", params(PagingQuery),
    responses((status = 200, description = "Newest first", body = Page<VirtualKey>)))]
pub(crate) async fn list(Call(state, caller): Call, paging: Paging) -> Listed<VirtualKey> {
    let after = paging.after::<Uuid>()?.map(KeyId);
    let page = state.keys(&caller, after, paging.limit).await?;
    Ok(Page::after_last(page, |key| key.id))
}

/// Makes a virtual key
///
/// It opens `/v1` and nothing else, within its limits. Its secret is shown this once.
#[utoipa::path(post, path = "/api/keys", tag = "keys", operation_id = "createKey",
    request_body = KeyInput, responses((status = 201, description = "Made", body = NewVirtualKey)))]
pub(crate) async fn create(Call(state, caller): Call, Body(input): Body<KeyInput>) -> Result<Response, Problem> {
    let made = state.create_key(&caller, input).await?;
    // The secret is kept nowhere, so not with an idempotency key either.
    let kept = KeptAs(json!(NewVirtualKey { secret: None, ..made.clone() }).to_string());
    Ok((StatusCode::CREATED, Extension(kept), Json(made)).into_response())
}

/// Changes name, reach and limits of a key; in force at the next request.
#[utoipa::path(patch, path = "/api/keys/{id}", tag = "keys", operation_id = "changeKey",
    params(("id" = Uuid, Path)), request_body = KeyChange,
    responses((status = 200, description = "Changed", body = VirtualKey)))]
pub(crate) async fn change(
    Call(state, caller): Call,
    PathId(id): PathId<KeyId>,
    Body(change): Body<KeyChange>,
) -> Answer<VirtualKey> {
    Ok(Json(state.change_key(&caller, id, change).await?))
}

/// Revokes a key for good; in force at the next request.
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "keys", operation_id = "revokeKey",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Revoked")))]
pub(crate) async fn revoke(Call(state, caller): Call, PathId(id): PathId<KeyId>) -> Done {
    state.revoke_key(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
