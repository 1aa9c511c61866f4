//! Each request under `/api` that changes something becomes an entry of the audit trail, before it is answered. What
//! only makes events of runs stands there with the runs.

mod actions;
mod changes;
mod refusals;

use super::audit_note::AuditNote;
use super::{BodyBudget, TIMED_OUT, handled};
use crate::auth::{Client, caller_of, identify, identify_provider};
use crate::headers::content_type;
use crate::problem::Problem;
use crate::tenant_app::TenantApp;
use crate::{ApiState, Hosts};
use actions::{Recorded, action_of, recorded};
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequestParts as _, MatchedPath, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use changes::{Shown, changes};
use refusals::Refusals;
use serde_json::Value;
use std::sync::Arc;
use steward_app::{Identity, Metrics};
use steward_core::audit::{AuditEntry, AuditResult};
use steward_core::event::Origin;
use tokio::runtime::Handle;

/// Longest answer that is read for the name of what was made, bytes.
const MAX_ANSWER: u64 = 64 * 1024;

pub(crate) struct AuditGuard {
    state: Arc<ApiState>,
    pub(super) bodies: Arc<BodyBudget>,
    refusals: Refusals,
    shown: Shown,
}

impl AuditGuard {
    /// `handlers`: without this guard.
    pub fn new(state: ApiState, bodies: Arc<BodyBudget>, handlers: Router) -> Arc<Self> {
        Arc::new(Self { state: Arc::new(state), bodies, refusals: Refusals::default(), shown: Shown::new(handlers) })
    }

    pub(super) fn hosts(&self) -> Arc<Hosts> {
        self.state.hosts.get()
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.state.tenants.installation().metrics
    }

    /// An entry of somebody who is known, or one of a bounded number of strangers'.
    fn admit(&self, entry: AuditEntry) -> Option<AuditEntry> {
        let provider = entry.action.starts_with("scim.") && !entry.actor.is_empty();
        if entry.actor_id.is_some() || provider || entry.result == AuditResult::Ok {
            return Some(entry);
        }
        let left_out = self.refusals.admit(entry.address.as_deref(), self.state.tenants.installation().now())?;
        Some(entry.with("left_out", (left_out > 0).then_some(left_out)))
    }
}

pub(super) async fn audit(guard: &Arc<AuditGuard>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let matched = matched.as_ref().map_or("", MatchedPath::as_str);
    let recorded = recorded(request.method(), matched);
    if recorded == Recorded::Never {
        return handled(&guard.state, request, next).await;
    }
    let (mut parts, body) = request.into_parts();
    let (app, entry) = begun(&guard.state, &mut parts, matched).await;
    let mut pending = PendingEntry::new(Arc::clone(guard), app, entry, recorded == Recorded::Always);
    let before = guard.shown.look(&parts).await;
    let asked = before.is_some().then(|| parts.clone());
    let response = handled(&guard.state, Request::from_parts(parts, body), next).await;
    let note = response.extensions().get::<AuditNote>().cloned();
    let wanted = match recorded {
        Recorded::Never => false,
        Recorded::Always => !response.headers().contains_key("idempotency-replayed"),
        Recorded::Refused => is_refusal(response.status()),
        Recorded::Noted => note.is_some(),
    };
    if !wanted {
        pending.forget();
        return response;
    }
    let (response, answer) = read_answer(response).await;
    let status = response.status();
    if let Some(app) = note.as_ref().and_then(|note| guard.state.app_of_tenant(note.tenant?)) {
        pending.app = app;
    }
    let changed = match before.zip(asked).filter(|_| status.is_success()) {
        Some((before, asked)) => guard.shown.look(&asked).await.map(|after| changes(&before, &after)),
        None => None,
    };
    let changed = changed.filter(|changed| !changed.is_empty());
    match pending.record(move |entry| ended(entry, status, note, answer).with("changed", changed)).await {
        Err(problem) if status.is_success() => problem.into_response(),
        _ => response,
    }
}

/// The entry of a request whose end is not known, and in whose trail it stands: the caller's, or the installation's.
async fn begun(state: &ApiState, parts: &mut Parts, matched: &str) -> (TenantApp, AuditEntry) {
    let action = action_of(&parts.method, matched);
    let known = parts.headers.contains_key(header::AUTHORIZATION) || parts.extensions.get::<Identity>().is_some();
    let of_somebody_else = |app: &TenantApp, parts: &Parts, actor: String, origin: Origin| {
        let address = Client::of_request(parts).address.map(|address| address.to_canonical().to_string());
        app.audit_fact(action.clone()).by(actor, None).via(Some(origin), address)
    };
    let (app, entry) = if matched.starts_with("/scim/") {
        let (app, actor) = match identify_provider(parts, state).await {
            Ok((app, caller)) => (app, caller.by()),
            Err(_) => (state.installation(), String::new()),
        };
        let entry = of_somebody_else(&app, parts, actor, Origin::Api);
        (app, entry)
    } else if known && let Ok((app, identity)) = identify(parts, state).await {
        let entry = app.audit_entry_of(&caller_of(identity, parts), action);
        (app, entry)
    } else {
        // Only browsers send this header.
        let origin = if parts.headers.contains_key("sec-fetch-site") { Origin::Chat } else { Origin::Api };
        let app = state.installation();
        let entry = of_somebody_else(&app, parts, String::new(), origin);
        (app, entry)
    };
    (app, entry.on(target_of(parts).await).ended(AuditResult::Uncertain))
}

async fn target_of(parts: &mut Parts) -> String {
    match RawPathParams::from_request_parts(parts, &()).await {
        Ok(params) => params.iter().map(|(_, value)| value).collect::<Vec<_>>().join("/"),
        Err(_) => String::new(),
    }
}

fn ended(entry: AuditEntry, status: StatusCode, note: Option<AuditNote>, answer: Answer) -> AuditEntry {
    let result = if is_refusal(status) || note.as_ref().is_some_and(|note| note.refused) {
        AuditResult::Refused
    } else if status.is_success() || status.is_redirection() {
        AuditResult::Ok
    } else if answer.code.as_deref() == Some(TIMED_OUT) {
        AuditResult::Uncertain
    } else {
        AuditResult::Failed
    };
    let mut entry = entry.ended(result).with("status", status.as_u16());
    let made = answer.id.filter(|_| status == StatusCode::CREATED);
    if entry.target.is_empty() {
        entry.target = made.unwrap_or_default();
    } else {
        entry = entry.with("made", made);
    }
    let entry = entry.with("name", answer.name).with("code", answer.code).with("field", answer.field);
    let Some(note) = note else { return entry };
    let mut entry = entry.with("reason", note.reason).with("changes", note.changes);
    if let Some(target) = note.target {
        entry.target = target;
    }
    match note.actor {
        Some((email, user)) => entry.by(email, user),
        None => entry,
    }
}

fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS)
}

/// Where answers have the id of what was made.
const MADE: [&str; 5] = ["/id", "/limit/id", "/server/id", "/skill/id", "/path"];

/// What an entry takes from an answer: the name of what was made, or a problem's words for programs.
#[derive(Debug, Default)]
struct Answer {
    id: Option<String>,
    name: Option<String>,
    code: Option<String>,
    field: Option<String>,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        Self { id: MADE.into_iter().find_map(text), name: text("/name"), code: text("/code"), field: text("/field") }
    }
}

async fn read_answer(response: Response) -> (Response, Answer) {
    let telling =
        content_type(response.headers()) == "application/problem+json" || response.status() == StatusCode::CREATED;
    let short = response.body().size_hint().upper().is_some_and(|length| length <= MAX_ANSWER);
    if !telling || !short {
        return (response, Answer::default());
    }
    let (parts, body) = response.into_parts();
    // It is in memory already.
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let answer = Answer::read(&bytes);
    (Response::from_parts(parts, Body::from(bytes)), answer)
}

/// An entry that is to be written; if the client goes away in between, by a task of its own.
pub(crate) struct PendingEntry {
    guard: Arc<AuditGuard>,
    app: TenantApp,
    entry: Option<AuditEntry>,
    /// Whether it is written although nobody knows how the request ended.
    in_any_case: bool,
    runtime: Handle,
}

impl PendingEntry {
    pub fn new(guard: Arc<AuditGuard>, app: TenantApp, entry: AuditEntry, in_any_case: bool) -> Self {
        Self { guard, app, entry: Some(entry), in_any_case, runtime: Handle::current() }
    }

    fn forget(&mut self) {
        self.entry = None;
    }

    pub async fn record(&mut self, end: impl FnOnce(AuditEntry) -> AuditEntry) -> Result<(), Problem> {
        let Some(entry) = self.entry.take().and_then(|entry| self.guard.admit(end(entry))) else {
            return Ok(());
        };
        // Until it is written, for whoever drops this.
        self.entry = Some(entry.clone());
        self.in_any_case = true;
        let done = self.app.record_audit(&entry).await;
        self.entry = None;
        done.map_err(|error| {
            tracing::error!(%error, action = entry.action, "an entry of the audit trail could not be written");
            Problem::unavailable("it was done, but could not be written into the audit trail")
        })
    }
}

impl Drop for PendingEntry {
    fn drop(&mut self) {
        let Some(entry) = self.entry.take().filter(|_| self.in_any_case) else { return };
        let entry = if entry.result == AuditResult::Uncertain { self.guard.admit(entry) } else { Some(entry) };
        let Some(entry) = entry else { return };
        let app = self.app.clone();
        self.runtime.spawn(async move {
            // It may have been written just before; then its id is taken.
            if let Err(error) = app.record_audit(&entry).await {
                tracing::debug!(%error, action = entry.action, "an entry was not written a second time");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, ended};
    use axum::http::StatusCode;
    use steward_core::Timestamp;
    use steward_core::audit::{AuditEntry, AuditResult};
    use uuid::Uuid;

    #[test]
    fn an_entry_takes_names_and_codes_from_the_answer_and_no_other_words() {
        let of = |status, answer: &str| {
            let entry = AuditEntry::new(Uuid::nil(), Timestamp(0), "agents.create");
            ended(entry, status, None, Answer::read(answer.as_bytes()))
        };
        let made = of(StatusCode::CREATED, r#"{"name": "a", "title": "Head of Sales"}"#);
        assert_eq!((made.result, made.detail["name"].as_str()), (AuditResult::Ok, Some("a")));
        // A person's job title, in the answer to a directory that keeps users here.
        let made = of(StatusCode::CREATED, r#"{"name": {"formatted": "Ada"}, "title": "Head of Sales"}"#);
        assert_eq!(made.detail.get("name"), None);
        let cut_off = of(StatusCode::SERVICE_UNAVAILABLE, r#"{"title": "no answer", "code": "timeout"}"#);
        assert_eq!((cut_off.result, cut_off.detail["code"].as_str()), (AuditResult::Uncertain, Some("timeout")));
        let failed = of(StatusCode::SERVICE_UNAVAILABLE, r#"{"title": "closed"}"#);
        assert_eq!(failed.result, AuditResult::Failed);
    }
}
