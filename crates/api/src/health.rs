//! `/healthz`: the process answers. `/readyz`: what it needs answers too.

use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;

/// A real probe: `Ok` with a detail, or why not.
pub type Probe = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync>;

/// Named probes.
#[derive(Default)]
pub struct Health {
    /// Name, whether readiness depends on it, probe.
    pub probes: Vec<(&'static str, bool, Probe)>,
}

/// `GET /healthz`.
pub(crate) async fn healthz() -> &'static str {
    "ok"
}

/// `GET /readyz`.
pub(crate) async fn readyz(State(state): State<ApiState>) -> (StatusCode, Json<Value>) {
    let mut ready = true;
    let mut parts = serde_json::Map::new();
    for (name, needed, probe) in &state.health.probes {
        let (status, detail) = match probe().await {
            Ok(detail) => ("ok", detail),
            Err(why) => {
                ready &= !needed;
                ("failing", why)
            }
        };
        parts.insert((*name).to_owned(), json!({"status": status, "detail": detail}));
    }
    let code = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({"ready": ready, "parts": parts})))
}
