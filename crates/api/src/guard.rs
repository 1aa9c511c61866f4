//! What every request passes before its handler, and every answer after it.

mod admission;
mod audit;
mod audit_note;
mod body_budget;
mod cors;
mod fallbacks;
mod hosts_and_origins;
mod idempotency;
mod request_body;
mod shut_out;

use crate::ApiState;
use crate::metrics::RequestCount;
use crate::problem::Problem;
use admission::admit;
use audit::audit;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cors::AllowedOrigin;
use fallbacks::{only_tls, secure};
use futures::FutureExt as _;
use hosts_and_origins::{check_host, check_origin};
use idempotency::once;
use request_body::RequestBody;
use shut_out::{Listener, end_with};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use admission::refuse_body;
pub(crate) use audit::{AuditGuard, PendingEntry};
pub(crate) use audit_note::AuditNote;
pub(crate) use body_budget::BodyBudget;
#[cfg(test)]
pub(crate) use body_budget::BodyRefusal;
pub(crate) use fallbacks::{no_such_method, nothing_here, nothing_in_the_dialect};
pub(crate) use hosts_and_origins::{serves, without_port};
pub(crate) use idempotency::{KeptAs, idempotency_key};

/// Longest JSON body, bytes.
pub(crate) const MAX_BODY: usize = 4 * 1024 * 1024;
/// Longest body of a request for a model, bytes: pictures and long contexts.
const MAX_MODEL_BODY: usize = 32 << 20;
/// Longest body of somebody who is not known yet, bytes: logins.
const MAX_STRANGER_BODY: usize = 64 << 10;
/// Longest uploaded file, bytes.
pub(crate) const MAX_UPLOAD: usize = 20_000_000;
/// Longest form with several uploaded files, bytes.
pub(crate) const MAX_FORM: usize = 256 << 20;
/// Longest that a form with one file is beside the file, bytes.
const FORM_REST: usize = 64 << 10;
/// Largest document, bytes.
pub(crate) const MAX_DOCUMENT: usize = 256 << 20;
/// Largest database that is imported, bytes.
pub(crate) const MAX_IMPORT: usize = 64 << 20;
/// Longest time until an answer under `/api` or `/scim` begins. A stream may go on for as long as it likes.
const LONGEST: Duration = Duration::from_mins(2);
/// The same where much is sent, over slow lines too.
const LONGEST_UPLOAD: Duration = Duration::from_mins(30);
const DOCUMENT_UPLOAD: &str = "/api/documents/upload";
const FILE_UPLOAD: &str = "/api/files";

fn body_limit(path: &str) -> usize {
    match path {
        FILE_UPLOAD => MAX_UPLOAD + FORM_REST,
        DOCUMENT_UPLOAD => MAX_DOCUMENT + FORM_REST,
        path if path.starts_with("/v1/") => MAX_MODEL_BODY,
        path if path.ends_with("/import-metatron") => MAX_IMPORT,
        path if is_form_upload(path) => MAX_FORM,
        _ => MAX_BODY,
    }
}

/// Whether forms with several files are taken there.
fn is_form_upload(path: &str) -> bool {
    path.ends_with("/import-package") || path.ends_with("/import-skill-pack")
}

/// The only layer around the handlers. What it does is in functions of their own: a layer more costs every request some
/// microseconds, those of the gateway too, as each request copies each layer with all that are within it.
pub(crate) async fn answered(State(guard): State<Arc<AuditGuard>>, request: Request, next: Next) -> Response {
    let (counted, only_tls) = (RequestCount::begin(&request), only_tls(&request));
    let version = request.version();
    let origin = AllowedOrigin::of(&guard.hosts(), &request);
    let question = origin.as_ref().and_then(|origin| origin.answer_question(&request));
    let (request, body) = RequestBody::meter(request, &guard.bodies);
    let mut response = match question {
        Some(answer) => answer,
        None => audit(&guard, request, next).boxed().await,
    };
    if let Some(body) = body {
        body.end(version, &mut response).await;
    }
    secure(&mut response, only_tls);
    if let Some(origin) = origin {
        origin.mark(&mut response);
    }
    counted.end(guard.metrics(), response)
}

/// What the handler answers to a request that may come to it; a panic is answered too.
async fn handled(state: &Arc<ApiState>, request: Request, next: Next) -> Response {
    match AssertUnwindSafe(checked(state, request, next)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => panicked(&*panic),
    }
}

/// What stands between the audit trail and the handlers.
async fn checked(state: &Arc<ApiState>, request: Request, next: Next) -> Response {
    let hosts = state.hosts.get();
    if let Err(problem) = check_host(&hosts, &request).and_then(|()| check_origin(&hosts, &request)) {
        return problem.into_response();
    }
    let Some(body) = RequestBody::of(&request) else {
        return dispatched(state, request, next).await;
    };
    let request = match admit(state, request, &body).await {
        Ok(request) => request,
        Err(refusal) => return refusal,
    };
    let path = request.uri().path().to_owned();
    let response = dispatched(state, request, next).await;
    body.refusal().map_or(response, |refusal| refuse_body(&path, refusal))
}

async fn dispatched(state: &Arc<ApiState>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if path.starts_with("/scim/") {
        return in_time(LONGEST, next.run(request)).await;
    }
    let longest = path
        .starts_with("/api/")
        .then(|| if body_limit(path) > MAX_UPLOAD + FORM_REST { LONGEST_UPLOAD } else { LONGEST });
    let (listener, request) = Listener::of(state, request).await;
    let response = match longest {
        Some(longest) => in_time(longest, once(Arc::clone(state), request, next)).await,
        None => next.run(request).await,
    };
    end_with(response, Arc::clone(state), listener)
}

/// The code of the problem that a request gets which took too long; what it had begun may still be done.
const TIMED_OUT: &str = "timeout";

/// Ends requests under `/api` and `/scim` that take too long. Answers of agents under `/v1` may take minutes.
async fn in_time(longest: Duration, answer: impl Future<Output = Response>) -> Response {
    match tokio::time::timeout(longest, answer).await {
        Ok(response) => response,
        Err(_) => Problem::unavailable(format!("there was no answer within {} s", longest.as_secs()))
            .code(TIMED_OUT)
            .retry_after(5)
            .into_response(),
    }
}

/// The panic's own message goes to the log (by the panic hook), not to the client.
fn panicked(panic: &(dyn Any + Send)) -> Response {
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

#[cfg(test)]
mod tests {
    use super::{MAX_DOCUMENT, MAX_UPLOAD};

    const STUDIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/api/upload.ts");

    #[test]
    fn the_studio_sends_what_is_taken() {
        let studio = std::fs::read_to_string(STUDIO).unwrap();
        let number = |name: &str| -> usize {
            let begin = format!("export const {name} = ");
            let line = studio.lines().find_map(|line| line.strip_prefix(begin.as_str()));
            let digits =
                line.and_then(|line| line.strip_suffix(';')).unwrap_or_else(|| panic!("{STUDIO} has no {name}"));
            digits.replace('_', "").parse().unwrap_or_else(|error| panic!("{name} in {STUDIO}: {error}"))
        };
        assert_eq!(number("MAX_UPLOAD"), MAX_UPLOAD);
        assert_eq!(number("MAX_DOCUMENT"), MAX_DOCUMENT);
    }
}
