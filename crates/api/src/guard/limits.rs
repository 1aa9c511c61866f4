//! How long and how large requests may be.

use crate::problem::Problem;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::time::Duration;

/// Longest JSON body, bytes.
pub(crate) const MAX_BODY: usize = 4 * 1024 * 1024;
/// Longest uploaded file, bytes.
pub(crate) const MAX_UPLOAD: usize = 20_000_000;
/// Longest time until an answer under `/api` begins. A stream may go on for as long as it likes.
const LONGEST: Duration = Duration::from_mins(2);

/// Longest body of a path.
pub(super) fn body_limit(path: &str) -> usize {
    if path == "/api/files" { MAX_UPLOAD } else { MAX_BODY }
}

/// Ends requests under `/api` that take too long. Answers of agents under `/v1` may take minutes.
pub(crate) async fn in_time(request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    match tokio::time::timeout(LONGEST, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::unavailable(format!("there was no answer within {} s", LONGEST.as_secs()))
            .code("timeout")
            .retry_after(5)
            .into_response(),
    }
}
