//! Login, its prolongation, logout.

use super::client::Client;
use super::cookie;
use super::dto::{Login, Session};
use crate::extract::Body;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use steward_access::{LogIn, OpenSession};
use steward_core::ports::LoginError;

/// Log in
///
/// Gives an access token for 15 minutes, and the cookie that prolongs it. Five wrong passwords close an email
/// for 15 minutes.
#[utoipa::path(
    post, path = "/api/auth/login", tag = "auth", operation_id = "login", security(()),
    request_body = Login,
    responses((status = 200, description = "Logged in", body = Session),
              (status = 401, description = "Email or password is wrong"),
              (status = 429, description = "Too many attempts"))
)]
pub(crate) async fn login(
    State(state): State<ApiState>,
    client: Client,
    Body(body): Body<Login>,
) -> Result<Response, Problem> {
    let login = LogIn { email: &body.email, password: &body.password, client: client.address, label: &client.label };
    let open = state.access.log_in(login).await?;
    Ok(with_cookie(open, &client).into_response())
}

/// Prolong a login
///
/// Takes the cookie, gives a new access token and turns the cookie over. Needs the header `X-Steward: 1`,
/// which other sites can't send.
#[utoipa::path(
    post, path = "/api/auth/refresh", tag = "auth", operation_id = "refresh", security(()),
    params(("X-Steward" = String, Header, description = "Always `1`")),
    responses((status = 200, description = "Prolonged", body = Session),
              (status = 401, description = "The cookie is missing, or its session has ended"),
              (status = 403, description = "`X-Steward` is missing"))
)]
pub(crate) async fn refresh(
    State(state): State<ApiState>,
    client: Client,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    own_page(&headers)?;
    let opened = match cookie::token(&headers) {
        Some(token) => state.access.refresh(token).await,
        None => Err(LoginError::Token),
    };
    match opened {
        Ok(open) => Ok(with_cookie(open, &client).into_response()),
        Err(LoginError::Token) => {
            let problem =
                Problem::new(StatusCode::UNAUTHORIZED, "the login has ended", "log in again with POST /api/auth/login")
                    .code("session_ended");
            Ok(([(header::SET_COOKIE, cookie::clear(client.https))], problem).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Log out
///
/// Ends the session of the cookie; its access tokens end with it. Needs the header `X-Steward: 1`.
#[utoipa::path(
    post, path = "/api/auth/logout", tag = "auth", operation_id = "logout", security(()),
    params(("X-Steward" = String, Header, description = "Always `1`")),
    responses((status = 204, description = "Logged out"),
              (status = 403, description = "`X-Steward` is missing"))
)]
pub(crate) async fn logout(
    State(state): State<ApiState>,
    client: Client,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    own_page(&headers)?;
    if let Some(token) = cookie::token(&headers) {
        state.access.log_out(token).await?;
    }
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie::clear(client.https))]).into_response())
}

/// A session, with its cookie where there is a new one.
pub(super) fn with_cookie(open: OpenSession, client: &Client) -> impl IntoResponse + use<> {
    let cookie = open.refresh_token.as_deref().map(|token| (header::SET_COOKIE, cookie::set(token, client.https)));
    (axum::response::AppendHeaders(cookie), Json(Session::from(open)))
}

/// Only our own pages can add a header to a request that carries the cookie.
fn own_page(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.get("x-steward").is_some_and(|value| value.as_bytes() == b"1") {
        return Ok(());
    }
    Err(Problem::forbidden(
        "the header `X-Steward: 1` is missing",
        "send it with requests that carry the login's cookie",
    ))
}
