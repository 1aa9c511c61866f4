//! Bodies of requests: JSON, and files, which come piece by piece.

use super::limits;
use crate::headers::content_type;
use crate::problem::Problem;
use crate::published::Published;
use axum::body::HttpBody as _;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt::Display;
use steward_app::AppError;
use utoipa::ToSchema;

/// The body as `T`, within the limits that its schema gives. A type with `deny_unknown_fields` has a field that isn't known
/// refused by name.
pub(crate) struct Body<T>(pub T);

impl<T: DeserializeOwned + ToSchema + 'static, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = object(&sent(request, state).await?)?;
        within_limits(body, false).map(Self)
    }
}

/// The same, in our names or in those that were published for the platform that this one follows.
pub(crate) struct PublishedBody<T>(pub T);

impl<T: Published + ToSchema + 'static, S: Send + Sync> FromRequest<S> for PublishedBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let mut body = object(&sent(request, state).await?)?;
        T::own_names(&mut body)?;
        within_limits(body, T::PARTIAL).map(Self)
    }
}

fn within_limits<T: DeserializeOwned + ToSchema + 'static>(
    body: Map<String, Value>,
    partial: bool,
) -> Result<T, Problem> {
    let body = Value::Object(body);
    let read = read(&body)?;
    limits::check::<T>(&body, partial)?;
    Ok(read)
}

async fn sent<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    if !is_json(&request) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is not marked as JSON",
            "send a JSON object with `Content-Type: application/json`",
        ));
    }
    Bytes::from_request(request, state).await.map_err(unread)
}

fn is_json(request: &Request) -> bool {
    let kind = content_type(request.headers());
    kind.eq_ignore_ascii_case("application/json") || kind.ends_with("+json")
}

pub(crate) fn unread(error: BytesRejection) -> Problem {
    match error {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => too_long(),
        other => Problem::new(
            StatusCode::BAD_REQUEST,
            format!("the body could not be read: {}", other.body_text()),
            "send it again",
        ),
    }
}

pub(crate) fn too_long() -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "the body is too long",
        "JSON may have 4 MiB, an uploaded file 20 MB; send less",
    )
}

/// The body of a request, which is a file, up to `most` bytes.
pub(crate) fn file_of(request: Request, most: usize) -> impl Stream<Item = Result<Bytes, Problem>> + Unpin {
    limited(request.into_body().into_data_stream().map_err(|error| broken_off("file", error)), most)
}

/// The length of its body, if its head says it.
pub(crate) fn length_of(request: &Request) -> Option<u64> {
    request.body().size_hint().exact()
}

/// Up to `most` bytes of them.
pub(crate) fn limited(
    pieces: impl Stream<Item = Result<Bytes, Problem>> + Unpin,
    most: usize,
) -> impl Stream<Item = Result<Bytes, Problem>> + Unpin {
    let mut sent = 0;
    pieces.map(move |piece| {
        let piece = piece?;
        sent += piece.len();
        if sent > most { Err(too_long()) } else { Ok(piece) }
    })
}

pub(crate) async fn whole(pieces: impl Stream<Item = Result<Bytes, Problem>>) -> Result<Vec<u8>, Problem> {
    let join = |mut all: Vec<u8>, piece: Bytes| async move {
        all.extend_from_slice(&piece);
        Ok(all)
    };
    pieces.try_fold(Vec::new(), join).await
}

pub(crate) fn broken_off(what: &str, error: impl Display) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, format!("the {what} did not arrive whole: {error}"), "send it again")
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {error}"), "send a JSON object")
    })?;
    // A struct would take a list of its fields' values too; no schema says so.
    if let Some(place) = unstorable(&value) {
        return Err(not_storable(&place));
    }
    match value {
        Value::Object(body) => Ok(body),
        _ => Err(Problem::invalid(
            "body",
            "the body is not an object",
            "send a JSON object; /docs lists what it may hold",
        )),
    }
}

/// An object as `T`; what does not fit is refused by its field.
fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        AppError::of_body(&path, &error.into_inner().to_string()).into()
    })
}

/// Refuses the character U+0000, which databases can't keep; `field` is where `text` stands.
pub(super) fn storable(field: &str, text: &str) -> Result<(), Problem> {
    if text.contains('\0') { Err(not_storable(field)) } else { Ok(()) }
}

fn not_storable(field: &str) -> Problem {
    let field = if field.is_empty() { "body" } else { field };
    Problem::invalid(field, format!("`{field}` holds the character U+0000"), "take that character out")
}

/// The place of a text within `value` that can't be kept; written from within, so that a body without one costs no paths.
fn unstorable(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then(String::new),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| Some(place_in(&index.to_string(), &unstorable(item)?)))
        }
        Value::Object(fields) => fields.iter().find_map(|(key, item)| {
            if key.contains('\0') { Some(String::new()) } else { Some(place_in(key, &unstorable(item)?)) }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn place_in(key: &str, place: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{key}.{place}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::{object, read};
    use crate::problem::Problem;
    use axum::http::StatusCode;
    use axum::response::IntoResponse;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[expect(dead_code, reason = "only its parsing counts")]
        inner: Inner,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "only its parsing counts")]
        number: u8,
    }

    fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
        read(&object(bytes)?.into())
    }

    async fn refusal(text: &str) -> (StatusCode, String) {
        let response = parse::<Outer>(text.as_bytes()).expect_err("refused").into_response();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 10_000).await;
        let body: serde_json::Value = serde_json::from_slice(&body.unwrap()).unwrap();
        (status, body["field"].as_str().unwrap_or("-").to_owned())
    }

    #[tokio::test]
    async fn names_the_field_at_fault() {
        let cases = [
            ("{", 400, "-"),
            ("[]", 422, "body"),
            (r#"[{"number": 1}]"#, 422, "body"),
            ("{}", 422, "inner"),
            (r#"{"inner": {"number": 1}, "more": 1}"#, 422, "more"),
            (r#"{"inner": {"number": 1, "more": 1}}"#, 422, "inner.more"),
            (r#"{"inner": {"number": 300}}"#, 422, "inner.number"),
            (r#"{"inner": {}}"#, 422, "inner.number"),
            (r#"{"inner": "a\u0000b"}"#, 422, "inner"),
            ("7", 422, "body"),
        ];
        for (text, status, field) in cases {
            let (found, named) = refusal(text).await;
            assert_eq!((found.as_u16(), named.as_str()), (status, field), "{text}");
        }
        assert!(parse::<Outer>(br#"{"inner": {"number": 1}}"#).is_ok());
    }
}
