//! `/healthz`: the process answers. `/readyz`: what it needs answers too. `/api/about`: versions and health.

use crate::ApiState;
use crate::auth::Call;
use crate::dto::about::{About, PartStatus};
use crate::problem::Answer;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

pub(crate) async fn healthz() -> &'static str {
    "ok"
}

pub(crate) async fn readyz(State(state): State<ApiState>) -> (StatusCode, Json<Value>) {
    let found = state.tenants.installation().health.quick().await;
    let ready = found.iter().all(|part| part.status != PartStatus::Down || !part.needed);
    let parts: serde_json::Map<String, Value> =
        found.into_iter().map(|part| (part.name, json!({"status": part.status, "detail": part.detail}))).collect();
    let code = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({"ready": ready, "parts": parts})))
}

/// Versions and health of this installation.
#[utoipa::path(get, path = "/api/about", tag = "about", operation_id = "about",
    responses((status = 200, description = "As it is now", body = About)))]
pub(crate) async fn about(Call(state, caller): Call) -> Answer<About> {
    Ok(Json(state.app.about(&caller).await?))
}
