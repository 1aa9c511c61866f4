//! Answers of a form that several operations have.

use crate::guard::KeptAs;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Extension, Json};
use futures::Stream;
use serde::Serialize;
use serde_json::json;
use std::time::Duration;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;

/// How often a silent stream says that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Server-sent events as they come.
pub(crate) fn event_stream<E: Into<BoxError>>(
    events: impl Stream<Item = Result<Event, E>> + Send + 'static,
) -> Response {
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// A file to be kept under the name that `disposition` has.
pub(crate) fn saved(kind: &'static str, disposition: HeaderValue, body: impl Into<Body>) -> Response {
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(kind)), (header::CONTENT_DISPOSITION, disposition)];
    (headers, body.into()).into_response()
}

/// The first `bytes` of a file, read and sent in pieces.
pub(crate) fn saved_file(kind: &'static str, disposition: HeaderValue, file: File, bytes: u64) -> Response {
    let content = Body::from_stream(ReaderStream::new(file.take(bytes)));
    let length = [(header::CONTENT_LENGTH, HeaderValue::from(bytes))];
    (length, saved(kind, disposition, content)).into_response()
}

/// An answer with a secret that is kept nowhere, so not with an idempotency key either: `kept` stands there for it.
pub(crate) fn shown_once(status: StatusCode, made: impl Serialize, kept: &impl Serialize) -> Response {
    (status, Extension(KeptAs(json!(kept).to_string())), Json(made)).into_response()
}
