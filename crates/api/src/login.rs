//! `/api/auth`: login, first administrator, who am I.

use crate::auth::Person;
use crate::error::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use steward_core::ports::Authenticator;

/// Body of a login.
#[derive(Deserialize)]
pub(crate) struct Login {
    email: String,
    password: String,
}

/// Body of the first set-up.
#[derive(Deserialize)]
pub(crate) struct SetUp {
    token: String,
    email: String,
    password: String,
}

fn body<T>(parsed: Result<Json<T>, JsonRejection>) -> Result<T, Problem> {
    parsed.map(|Json(body)| body).map_err(|error| {
        Problem::new(
            error.status(),
            error.body_text(),
            "send a JSON object with Content-Type: application/json",
        )
    })
}

/// `POST /api/auth/login` → `{access_token, token_type, expires_in}`.
pub(crate) async fn login(
    State(state): State<ApiState>,
    parsed: Result<Json<Login>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    let Login { email, password } = body(parsed)?;
    let (token, seconds) = state.access.login(&email, &password).await?;
    Ok(Json(
        json!({"access_token": token, "token_type": "bearer", "expires_in": seconds}),
    ))
}

/// `POST /api/auth/setup`: the first administrator, by the one-time token.
pub(crate) async fn set_up(
    State(state): State<ApiState>,
    parsed: Result<Json<SetUp>, JsonRejection>,
) -> Result<StatusCode, Problem> {
    let SetUp {
        token,
        email,
        password,
    } = body(parsed)?;
    state.access.set_up(&token, &email, &password).await?;
    Ok(StatusCode::CREATED)
}

/// `GET /api/auth/me`.
pub(crate) async fn me(Person(principal): Person) -> Json<Value> {
    Json(json!({"id": principal.user, "name": principal.name, "role": principal.role}))
}
