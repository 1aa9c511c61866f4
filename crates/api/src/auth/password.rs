//! Another password.

use super::Person;
use super::dto::NewPassword;
use crate::extract::Body;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::State;
use axum::http::StatusCode;

/// Change my password
///
/// Ends all other logins of the caller.
#[utoipa::path(
    post, path = "/api/auth/password", tag = "auth", operation_id = "changePassword",
    request_body = NewPassword,
    responses((status = 204, description = "Changed"),
              (status = 429, description = "Too many attempts"))
)]
pub(crate) async fn change(
    State(state): State<ApiState>,
    person: Person,
    Body(body): Body<NewPassword>,
) -> Result<StatusCode, Problem> {
    state.access.change_password(person.user(), person.session, &body.current, &body.new).await?;
    Ok(StatusCode::NO_CONTENT)
}
