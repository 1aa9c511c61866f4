//! A handler that panics gives an answer all the same.

use crate::problem::Problem;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::any::Any;
use tower_http::catch_panic::CatchPanicLayer;

type Answer = fn(Box<dyn Any + Send + 'static>) -> Response;

/// The layer. The panic's own message goes to the log (by the panic hook), not to the client.
pub(crate) fn layer() -> CatchPanicLayer<Answer> {
    CatchPanicLayer::custom(answer as Answer)
}

#[expect(clippy::needless_pass_by_value, reason = "tower-http's signature")]
fn answer(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(message, "a handler panicked");
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "Steward made a mistake",
        "what was acknowledged is safe; the log says more: please report it",
    )
    .into_response()
}
