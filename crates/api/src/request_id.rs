//! `x-request-id` on answers of the OpenAI dialect: SDKs show it, and people quote it.

use crate::ApiState;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;

const NAME: &str = "x-request-id";

/// An answer that a provider has numbered keeps that number.
pub(crate) async fn number(State(state): State<ApiState>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if !response.headers().contains_key(NAME)
        && let Ok(id) = HeaderValue::try_from(format!("req_{}", state.tenants.installation().new_id().simple()))
    {
        response.headers_mut().insert(NAME, id);
    }
    response
}
