//! `Idempotency-Key`: a write that is sent twice happens once.

use super::{MAX_UPLOAD, body_limit};
use crate::ApiState;
use crate::auth::identify;
use crate::extract::too_long;
use crate::problem::Problem;
use crate::tenant_app::TenantApp;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use steward_core::hash::sha256_of;
use steward_core::ports::Remembered;
use tokio::sync::{Semaphore, SemaphorePermit};

const HEADER: &str = "idempotency-key";
/// Longest key, characters.
const MAX_KEY: usize = 128;
/// How long a large body waits for others.
const PATIENCE: Duration = Duration::from_mins(1);
/// Longest answer that is kept, bytes.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

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
    let most = body_limit(parts.uri.path());
    let room = if may_be_large(&parts.headers, most) { Some(room_for_large_body().await?) } else { None };
    let bytes = axum::body::to_bytes(body, most).await.map_err(|_| too_long())?;
    let known = Known { owner: identity.principal.user.to_string(), key };
    let line = format!("{} {}\n", parts.method, parts.uri);
    let hash = sha256_of([line.as_bytes(), &bytes]);
    match app.begin_request(&known.owner, &known.key, &hash).await? {
        Remembered::New => {}
        Remembered::Begun => return Err(in_progress()),
        Remembered::Other => return Err(mismatch()),
        Remembered::Done { status, body } => return Ok(replayed(status, body)),
    }
    let request = Request::from_parts(parts, Body::from(bytes));
    // A task of its own: a client that goes away must not leave the key half done.
    let task = tokio::spawn(async move {
        let response = next.run(request).await;
        drop(room);
        remember(&app, &known, response).await
    });
    match task.await {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Problem::unavailable("the request was given up")),
    }
}

/// Large bodies with a key are in memory as a whole, so only few may come at once; others wait.
static LARGE_BODIES: Semaphore = Semaphore::const_new(4);

async fn room_for_large_body() -> Result<SemaphorePermit<'static>, Problem> {
    match tokio::time::timeout(PATIENCE, LARGE_BODIES.acquire()).await {
        Ok(Ok(room)) => Ok(room),
        _ => Err(Problem::unavailable("other large uploads with an idempotency key are under way").retry_after(10)),
    }
}

/// `most`: bytes that the path takes.
fn may_be_large(headers: &HeaderMap, most: usize) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    most > MAX_UPLOAD && length.is_none_or(|length| length > MAX_UPLOAD)
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
async fn remember(state: &TenantApp, known: &Known, response: Response) -> Result<Response, Problem> {
    let Known { owner, key } = known;
    let status = response.status();
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        return Ok(response);
    }
    if !status.is_success() {
        state.forget_request(owner, key).await?;
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, MAX_ANSWER).await.unwrap_or_else(|error| {
        tracing::error!(%error, "an answer could not be kept for its idempotency key");
        Bytes::new()
    });
    let text = match parts.extensions.get::<KeptAs>() {
        Some(KeptAs(text)) => text.as_str().into(),
        None => String::from_utf8_lossy(&bytes),
    };
    state.remember_request(owner, key, status.as_u16(), &text).await?;
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
