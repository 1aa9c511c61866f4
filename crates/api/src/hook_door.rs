//! `POST /hooks/{id}`: where programs of others call. Who they are, their signature says.

use crate::ApiState;
use crate::extract::PathId;
use crate::problem::Problem;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use steward_app::{AppError, HookCall, Received};
use steward_core::HookId;

/// Longest body of a call, bytes.
pub(crate) const MAX_HOOK_BODY: usize = 1 << 20;

pub(crate) async fn receive(
    State(state): State<ApiState>,
    PathId(id): PathId<HookId>,
    headers: HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Response {
    match answer(&state, id, &headers, body).await {
        Ok(Received::Accepted(accepted)) => {
            let status = if accepted.repeated { StatusCode::OK } else { StatusCode::ACCEPTED };
            (status, Json(accepted)).into_response()
        }
        Ok(Received::Challenge(text)) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn answer(
    state: &ApiState,
    id: HookId,
    headers: &HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Received, Problem> {
    let unknown = || AppError::not_found("this webhook");
    let tenant = state.installation().tenant_of_hook(id).await?.ok_or_else(unknown)?;
    let app = state.app_of_tenant(tenant).ok_or_else(unknown)?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a body may have {MAX_HOOK_BODY} bytes"),
            "have the sender send less, or only what has changed",
        ),
        status => Problem::new(status, "the body didn't arrive", "send it again"),
    })?;
    let read = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let call = HookCall::new(headers.iter().map(read), body, app.now());
    Ok(app.receive_delivery(id, call).await?)
}
