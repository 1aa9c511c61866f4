//! The caller's API key.

use super::Person;
use super::dto::ApiKey;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

/// Make my API key
///
/// Shown this once; the one before it ends.
#[utoipa::path(
    post, path = "/api/auth/api-key", tag = "auth", operation_id = "makeApiKey",
    responses((status = 200, description = "The key", body = ApiKey))
)]
pub(crate) async fn make(State(state): State<ApiState>, person: Person) -> Result<Json<ApiKey>, Problem> {
    let api_key = state.access.make_api_key(person.user()).await?;
    Ok(Json(ApiKey { api_key }))
}

/// End my API key
#[utoipa::path(
    delete, path = "/api/auth/api-key", tag = "auth", operation_id = "removeApiKey",
    responses((status = 204, description = "Ended"))
)]
pub(crate) async fn remove(State(state): State<ApiState>, person: Person) -> Result<StatusCode, Problem> {
    state.access.remove_api_key(person.user()).await?;
    Ok(StatusCode::NO_CONTENT)
}
