use crate::ApiState;
use crate::auth::Call;
use crate::extract::{Body, Listed, Page, Paging, PagingQuery, PathId};
use crate::guard::KeptAs;
use crate::problem::{Answer, Done, Problem};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;
use steward_app::dto::identity::{NewScimToken, ScimTokenInput};
use steward_core::ports::ScimToken;
use steward_core::scim::ScimSettings;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(read_settings, replace_settings))
        .routes(routes!(list_tokens, create_token))
        .routes(routes!(revoke_token))
}

/// What those may do whom a provider keeps here by SCIM.
#[utoipa::path(get, path = "/api/identity/scim", tag = "identity", operation_id = "readScimSettings",
    responses((status = 200, description = "The settings", body = ScimSettings)))]
pub(crate) async fn read_settings(Call(state, caller): Call) -> Answer<ScimSettings> {
    Ok(Json(state.scim_settings(&caller).await?))
}

/// Replaces the settings of SCIM. They hold at once, also for those who came before.
#[utoipa::path(put, path = "/api/identity/scim", tag = "identity", operation_id = "replaceScimSettings",
    request_body = ScimSettings,
    responses((status = 200, description = "The settings", body = ScimSettings)))]
pub(crate) async fn replace_settings(
    Call(state, caller): Call,
    Body(input): Body<ScimSettings>,
) -> Answer<ScimSettings> {
    Ok(Json(state.set_scim_settings(&caller, input).await?))
}

/// Lists the tokens that providers come with to `/scim/v2`, without their secrets.
#[utoipa::path(get, path = "/api/identity/scim/tokens", tag = "identity", operation_id = "listScimTokens",
    params(PagingQuery), responses((status = 200, description = "By name", body = Page<ScimToken>)))]
pub(crate) async fn list_tokens(Call(state, caller): Call, paging: Paging) -> Listed<ScimToken> {
    Page::cut(state.scim_tokens(&caller).await?, &paging)
}

/// Makes a token for SCIM
///
/// It opens `/scim/v2` and nothing else. Its secret is shown this once.
#[utoipa::path(post, path = "/api/identity/scim/tokens", tag = "identity", operation_id = "createScimToken",
    request_body = ScimTokenInput, responses((status = 201, description = "Made", body = NewScimToken)))]
pub(crate) async fn create_token(
    Call(state, caller): Call,
    Body(input): Body<ScimTokenInput>,
) -> Result<Response, Problem> {
    let made = state.create_scim_token(&caller, input).await?;
    // The secret is kept nowhere, so not with an idempotency key either.
    let kept = KeptAs(json!(NewScimToken { secret: None, ..made.clone() }).to_string());
    Ok((StatusCode::CREATED, Extension(kept), Json(made)).into_response())
}

/// Revokes a token for good; in force at the next request.
#[utoipa::path(delete, path = "/api/identity/scim/tokens/{id}", tag = "identity", operation_id = "revokeScimToken",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Revoked")))]
pub(crate) async fn revoke_token(Call(state, caller): Call, PathId(id): PathId<Uuid>) -> Done {
    state.remove_scim_token(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
