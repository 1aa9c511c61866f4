//! `Idempotency-Key`: a write that is sent twice happens once.

use super::body_limit;
use super::request_body::RequestBody;
use crate::ApiState;
use crate::auth::identify;
use crate::extract::broken_off;
use crate::headers::content_type;
use crate::problem::Problem;
use crate::tenant_app::TenantApp;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use steward_core::hash::sha256;
use steward_core::ports::Remembered;

const HEADER: &str = "idempotency-key";
/// Longest key, characters.
const MAX_KEY: usize = 128;
/// Longest answer that is kept, bytes; and while the disk is nearly full.
const MAX_ANSWER: u64 = 1 << 20;
const MAX_ANSWER_WITHOUT_ROOM: u64 = 64 << 10;

/// What is kept in the place of an answer's body, where that holds a secret.
#[derive(Debug, Clone)]
pub(crate) struct KeptAs(pub String);

struct Known {
    owner: String,
    key: String,
}

/// For requests under `/api`.
pub(super) async fn once(state: Arc<ApiState>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let guarded =
        !request.method().is_safe() && !path.starts_with("/api/auth/") && request.headers().contains_key(HEADER);
    if !guarded {
        return next.run(request).await;
    }
    match guard(state, request, next).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn guard(state: Arc<ApiState>, request: Request, next: Next) -> Result<Response, Problem> {
    let Some(key) = idempotency_key(request.headers())
        .map_err(|hint| Problem::invalid("Idempotency-Key", "the idempotency key can't be used", hint))?
    else {
        return Ok(next.run(request).await);
    };
    let (mut parts, body) = request.into_parts();
    let (app, identity) = identify(&mut parts, &state).await?;
    let known = Known { owner: identity.principal.user.to_string(), key };
    let most = body_limit(parts.uri.path());
    let line = sha256(format!("{} {}", parts.method, parts.uri).as_bytes());
    let request = Request::from_parts(parts, body);
    // The handler reads the body as it comes, if it may come at all: here only its hash is kept.
    let sent = RequestBody::of(&request);
    if let Some(sent) = &sent {
        sent.hash();
    }
    match app.begin_request(&known.owner, &known.key, &line).await? {
        Remembered::New => {}
        Remembered::Begun => return Err(in_progress()),
        Remembered::Other => return Err(mismatch()),
        Remembered::Done { status, body, body_hash } => {
            drop(request);
            return match (hash_of(sent.as_deref(), most).await, body_hash) {
                (None, _) => Err(broken_off("body", "its end is missing")),
                (Some(hash), Some(kept)) if hash != kept => Err(mismatch()),
                _ => Ok(replayed(status, body)),
            };
        }
    }
    // A task of its own: a client that goes away must not leave the key half done.
    let task = tokio::spawn(async move {
        let response = next.run(request).await;
        remember(&app, &known, response, hash_of(sent.as_deref(), most)).await
    });
    match task.await {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Problem::unavailable("the request was given up")),
    }
}

/// The hash of all of a body up to `most` bytes; `None`: it did not come whole.
async fn hash_of(sent: Option<&RequestBody>, most: usize) -> Option<String> {
    match sent {
        Some(sent) => sent.hash_of_all(most).await,
        None => Some(sha256(b"")),
    }
}

/// The request's key, if it has one; else what is wrong with it.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, String> {
    let mut all = headers.get_all(HEADER).iter();
    let Some(first) = all.next() else {
        return Ok(None);
    };
    let key = first.to_str().ok().filter(|key| (1..=MAX_KEY).contains(&key.len()));
    match (key, all.next()) {
        (Some(key), None) => Ok(Some(key.to_owned())),
        _ => Err(format!("send one idempotency key of 1 to {MAX_KEY} ASCII characters, such as a UUID")),
    }
}

/// Keeps a success. A refusal frees its key; what failed halfway is not known, so its key stays taken.
async fn remember(
    state: &TenantApp,
    known: &Known,
    response: Response,
    body_hash: impl Future<Output = Option<String>>,
) -> Result<Response, Problem> {
    let Known { owner, key } = known;
    let status = response.status();
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        return Ok(response);
    }
    if !status.is_success() {
        state.forget_request(owner, key).await?;
        return Ok(response);
    }
    let most = if state.disk.shortage().is_some() { MAX_ANSWER_WITHOUT_ROOM } else { MAX_ANSWER };
    let is_json = matches!(content_type(response.headers()), "" | "application/json");
    match response.body().size_hint().exact().filter(|_| is_json) {
        Some(length) if length <= most => {}
        // It is known that it was done, but not what was answered: whoever asks again is told that.
        Some(_) => return Ok(response),
        // What comes as a stream tells of what is there, and has changed nothing.
        None => {
            state.forget_request(owner, key).await?;
            return Ok(response);
        }
    }
    let (parts, body) = response.into_parts();
    // It is in memory already.
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let text = match parts.extensions.get::<KeptAs>() {
        Some(KeptAs(text)) => text.as_str().into(),
        None => String::from_utf8_lossy(&bytes),
    };
    let body_hash = body_hash.await;
    state.remember_request(owner, key, (status.as_u16(), &text), body_hash.as_deref()).await?;
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

fn replayed(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    if status == StatusCode::NO_CONTENT {
        headers.remove(header::CONTENT_TYPE);
    } else {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    response
}

fn in_progress() -> Problem {
    Problem::conflict(
        "idempotency_in_progress",
        "a request with this idempotency key was begun, and its end is not known",
        "ask again in a moment; if it stays so, look at what there is before you send it with a new key",
    )
    .retry_after(1)
}

fn mismatch() -> Problem {
    Problem::invalid(
        "Idempotency-Key",
        "this idempotency key was used for another request",
        "take a new key for each request; repeat a key only with the very same request",
    )
    .code("idempotency_mismatch")
}
