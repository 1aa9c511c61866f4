//! The first administrator.

use super::client::Client;
use super::dto::{AuthStatus, Session, SetUp};
use super::login::with_cookie;
use crate::extract::Body;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use steward_access::LogIn;

/// What a client must know before a login
#[utoipa::path(
    get, path = "/api/auth/status", tag = "auth", operation_id = "authStatus", security(()),
    responses((status = 200, description = "Whether there is an administrator", body = AuthStatus))
)]
pub(crate) async fn status(State(state): State<ApiState>) -> Result<Json<AuthStatus>, Problem> {
    Ok(Json(AuthStatus { needs_setup: state.access.needs_set_up().await?, version: state.about.version.clone() }))
}

/// Make the first administrator
///
/// With the one-time token that the terminal shows at the first start. Logs them in.
#[utoipa::path(
    post, path = "/api/auth/setup", tag = "auth", operation_id = "setUp", security(()),
    request_body = SetUp,
    responses((status = 201, description = "Made and logged in", body = Session),
              (status = 403, description = "The token is wrong or used up"),
              (status = 409, description = "Somebody has this email"))
)]
pub(crate) async fn set_up(
    State(state): State<ApiState>,
    client: Client,
    Body(body): Body<SetUp>,
) -> Result<Response, Problem> {
    let login = LogIn { email: &body.email, password: &body.password, client: client.address, label: &client.label };
    let open = state.access.set_up(&body.token, body.name.as_deref(), login).await?;
    Ok((StatusCode::CREATED, with_cookie(open, &client)).into_response())
}
