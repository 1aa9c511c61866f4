//! What requests and answers say of themselves.

use axum::http::header::AsHeaderName;
use axum::http::{HeaderMap, Uri, header};

/// `None`: it is not there, or no text.
pub(crate) fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, header::AUTHORIZATION)?.split_once(' ')?;
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

/// The kind of content, without what further describes it.
pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    text(headers, header::CONTENT_TYPE).unwrap_or_default().split(';').next().unwrap_or_default().trim()
}

pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    content_type(headers) == "text/event-stream"
}

/// As much of an address as an error repeats.
pub(crate) fn shown_path(uri: &Uri) -> String {
    uri.path().chars().take(120).collect()
}
