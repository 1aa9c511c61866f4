use crate::response::shown_once;
use crate::routes::prelude::*;
use axum::response::Response;
use steward_app::dto::identity::{NewScimToken, ScimTokenInput};
use steward_core::ports::ScimToken;
use steward_core::scim::ScimSettings;
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
async fn read_settings(Call(state, caller): Call) -> Answer<ScimSettings> {
    Ok(Json(state.scim_settings(&caller).await?))
}

/// Replaces the settings of SCIM. They hold at once, also for those who came before.
#[utoipa::path(put, path = "/api/identity/scim", tag = "identity", operation_id = "replaceScimSettings",
    request_body = ScimSettings,
    responses((status = 200, description = "The settings", body = ScimSettings)))]
async fn replace_settings(Call(state, caller): Call, Body(input): Body<ScimSettings>) -> Answer<ScimSettings> {
    Ok(Json(state.set_scim_settings(&caller, input).await?))
}

/// Lists the tokens that providers come with to `/scim/v2`, without their secrets.
#[utoipa::path(get, path = "/api/identity/scim/tokens", tag = "identity", operation_id = "listScimTokens",
    params(Paging), responses((status = 200, description = "By name", body = Page<ScimToken>)))]
async fn list_tokens(Call(state, caller): Call, paging: Paging) -> Listed<ScimToken> {
    Page::cut(state.scim_tokens(&caller).await?, &paging)
}

/// Makes a token for SCIM
///
/// It opens `/scim/v2` and nothing else. Its secret is shown this once.
#[utoipa::path(post, path = "/api/identity/scim/tokens", tag = "identity", operation_id = "createScimToken",
    request_body = ScimTokenInput, responses((status = 201, description = "Made", body = NewScimToken)))]
async fn create_token(Call(state, caller): Call, Body(input): Body<ScimTokenInput>) -> Result<Response, Problem> {
    let made = state.create_scim_token(&caller, input).await?;
    let kept = NewScimToken { secret: None, ..made.clone() };
    Ok(shown_once(StatusCode::CREATED, made, &kept))
}

/// Revokes a token for good; in force at the next request.
#[utoipa::path(delete, path = "/api/identity/scim/tokens/{id}", tag = "identity", operation_id = "revokeScimToken",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Revoked")))]
async fn revoke_token(Call(state, caller): Call, PathId(id): PathId<Uuid>) -> Done {
    done(state.remove_scim_token(&caller, id).await)
}
