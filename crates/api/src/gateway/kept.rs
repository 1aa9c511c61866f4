//! Answers that a connection keeps: who asked for which is noted as they pass, so that the same key may ask for them again.

use super::mark;
use crate::openai::{OpenAiError, model_error};
use crate::tenant_app::TenantApp;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use memchr::memmem;
use serde_json::Value;
use steward_app::{AnswerRequest, Caller};
use steward_core::ConnectionId;
use steward_core::model::{Connection, Provider};
use steward_core::ports::KeptResponse;

/// How much of an answer is looked through for its id, bytes.
const LOOKED_THROUGH: usize = 64 << 10;
/// Longest id.
const MAX_ID: usize = 256;
const DEADLINE_MS: u64 = 60_000;

/// Whether it keeps answers by their id; those that are translated for it are kept nowhere.
pub(crate) fn keeps_answers(connection: &Connection) -> bool {
    connection.speaks_openai_dialect() && connection.provider != Provider::Local
}

/// The answer of a connection to `/v1/responses`; who asked for it is noted before its client sees its id.
pub(crate) async fn note_answer_of_connection(state: TenantApp, caller: Caller, answer: Response) -> Response {
    let name = answer.headers().get("x-steward-connection").and_then(|name| name.to_str().ok()).map(str::to_owned);
    let Some(name) = name.filter(|_| answer.status().is_success()) else {
        return answer;
    };
    let Ok(connection) = state.usable_connection(&caller, &name).await else {
        return answer;
    };
    if !keeps_answers(&connection) {
        return answer;
    }
    let connection = connection.id;
    answer.map(|body| {
        let mut pieces = body.into_data_stream();
        Body::from_stream(async_stream::stream! {
            let mut begin = Some(BytesMut::new());
            while let Some(piece) = pieces.next().await {
                if let (Some(seen), Ok(piece)) = (&mut begin, &piece) {
                    let room = LOOKED_THROUGH.saturating_sub(seen.len());
                    seen.extend_from_slice(&piece[..piece.len().min(room)]);
                    if let Some(id) = id_in(seen) {
                        note(&state, &caller, connection, id).await;
                        begin = None;
                    } else if seen.len() >= LOOKED_THROUGH {
                        begin = None;
                    }
                }
                yield piece;
            }
        })
    })
}

async fn note(state: &TenantApp, caller: &Caller, connection: ConnectionId, id: String) {
    let request = AnswerRequest { repeated: Value::Null, hash: String::new(), stored: true };
    if let Err(error) = state.note_answer(caller, id, (None, Some(connection)), &request).await {
        tracing::warn!(%error, "it was not noted who asked for an answer: it can't be asked for again");
    }
}

/// The first text of a field `id`: in a document and in the first event of a stream it is the answer's own.
fn id_in(begin: &[u8]) -> Option<String> {
    const FIELD: &[u8] = b"\"id\"";
    memmem::find_iter(begin, FIELD).find_map(|at| {
        let rest = begin[at + FIELD.len()..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let text = rest.strip_prefix(b"\"")?;
        let id = std::str::from_utf8(&text[..memchr::memchr(b'"', text)?]).ok()?;
        // Those of messages and calls in it have other beginnings, where the endpoint follows OpenAI at all.
        (is_id(id) && !["msg_", "rs_", "fc_"].iter().any(|other| id.starts_with(other))).then(|| id.to_owned())
    })
}

fn is_id(id: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=MAX_ID).contains(&id.len()) && id.chars().all(letters)
}

/// Asks the connection that made an answer; what it says comes back as it is.
pub(crate) async fn ask_where_made(
    state: &TenantApp,
    caller: &Caller,
    connection: ConnectionId,
    id: &str,
    (method, part, query): (&Method, Option<&'static str>, &[(String, String)]),
) -> Result<Response, OpenAiError> {
    let Some(connection) = state.connection_of_answer(caller, connection).await.filter(|_| is_id(id)) else {
        let message =
            format!("the connection that made response `{id}` isn't there any more, or this key may not use it");
        return Err(OpenAiError {
            status: StatusCode::NOT_FOUND,
            code: "response_not_found",
            ..OpenAiError::invalid(message, "id")
        });
    };
    let asked = KeptResponse { method: method.to_string(), id: id.to_owned(), part, query: query.to_vec() };
    let passed = state.gateway.kept_response(&connection, &asked, DEADLINE_MS).await;
    let passed = passed.map_err(|error| model_error(&error))?;
    let body = passed.body.map(|piece: Result<Bytes, _>| piece);
    let mut response = Response::new(Body::from_stream(body));
    *response.status_mut() = StatusCode::from_u16(passed.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in passed.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    mark(&mut response, &connection, &passed.attempts);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::id_in;

    #[test]
    fn the_id_of_an_answer_is_found() {
        for (begin, expect) in [
            (r#"{"id":"resp_1","object":"response"}"#, Some("resp_1")),
            (r#"{"object": "response", "id" : "resp-2" }"#, Some("resp-2")),
            (r#"data: {"type":"response.created","response":{"id":"resp_3"}}"#, Some("resp_3")),
            (r#"{"output":[{"id":"msg_9"}],"id":"resp_4"}"#, Some("resp_4")),
            (r#"{"id":"resp_5"#, None),
            (r#"{"id":"../x"}"#, None),
            (r#"{"id":7}"#, None),
        ] {
            assert_eq!(id_in(begin.as_bytes()).as_deref(), expect, "{begin}");
        }
    }
}
