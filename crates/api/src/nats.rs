//! The subjects of OOS: a door beside HTTP to the use cases of domains. What carries the messages is not known here.

mod command;

use crate::ApiState;
use crate::guard::{AuditGuard, BodyBudget, MAX_BODY, PendingEntry};
use crate::tenant_app::TenantApp;
use command::Command;
use futures::FutureExt as _;
use serde_json::{Map, Value};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use steward_app::{AppError, Caller, ErrorKind, claimed_tenant};
use steward_core::audit::{AuditEntry, AuditResult};
use steward_core::event::Origin;
use steward_core::ports::LoginError;
use tokio::sync::Semaphore;

pub use command::NATS_SUBJECTS;

/// Requests at work at once; further ones wait.
const AT_ONCE: usize = 16;
/// Requests at work or waiting; further ones are refused.
const PLACES: usize = 256;
/// Longest wait for a turn.
const TURN: Duration = Duration::from_secs(10);
/// Longest work on one request.
const LONGEST: Duration = Duration::from_mins(1);

/// A request as it came.
#[derive(Debug, Clone, Copy)]
pub struct NatsMessage<'m> {
    pub subject: &'m str,
    /// Its header `Authorization`.
    pub authorization: Option<&'m str>,
    pub payload: &'m [u8],
    /// Longest answer that the server carries, bytes.
    pub longest_answer: usize,
}

pub struct NatsDoor {
    state: ApiState,
    guard: Arc<AuditGuard>,
    /// Email of the user of the default tenant as whom requests run that bring no key; `None`: they are refused.
    act_as: Option<String>,
    places: Semaphore,
    turns: Semaphore,
}

impl NatsDoor {
    pub fn new(state: ApiState, act_as: Option<&str>) -> Self {
        // It passes nothing on: what came writes its entries through it.
        let guard = AuditGuard::new(state.clone(), BodyBudget::of_this_process(), axum::Router::new());
        let act_as = act_as.map(|email| email.trim().to_lowercase());
        Self { state, guard, act_as, places: Semaphore::new(PLACES), turns: Semaphore::new(AT_ONCE) }
    }

    /// `{"ok": true, …}` or `{"ok": false, "error": …}`.
    pub async fn answer(&self, message: NatsMessage<'_>) -> Vec<u8> {
        let answer = AssertUnwindSafe(self.in_turn(message)).catch_unwind().await.unwrap_or_else(|_| {
            let hint = "what was acknowledged is safe; the log says more: please report it";
            Err(AppError::new(ErrorKind::Internal, "Steward made a mistake", hint))
        });
        let bytes = written(answer);
        if bytes.len() <= message.longest_answer {
            return bytes;
        }
        let title = format!("the answer has {} bytes, and NATS carries {}", bytes.len(), message.longest_answer);
        let hint = "ask for fewer rows or fields, or raise `max_payload` of the NATS server";
        written(Err(AppError::new(ErrorKind::Invalid, title, hint)))
    }

    async fn in_turn(&self, message: NatsMessage<'_>) -> Result<Value, AppError> {
        let _place = self.places.try_acquire().map_err(|_| too_many())?;
        let _turn = tokio::time::timeout(TURN, self.turns.acquire()).await.map_err(|_| too_many())?;
        if message.payload.len() > MAX_BODY {
            let title = format!("the payload is longer than {MAX_BODY} bytes");
            return Err(AppError::new(ErrorKind::Invalid, title, "divide it"));
        }
        let command = Command::of(message.subject)?;
        let mut body = command.body(message.payload)?;
        let token = token_of(message.authorization, &mut body);
        let target = command.target(&body);
        let known = match token {
            Ok(token) => self.who_asks(token.as_deref()).await,
            Err(error) => Err(error),
        };
        let Some(action) = command.action() else {
            let (app, caller) = known?;
            return in_time(Box::pin(command.run(&app, &caller, body))).await;
        };
        let begun = |entry: AuditEntry| entry.on(target).with("subject", message.subject).ended(AuditResult::Uncertain);
        let (app, entry) = if let Ok((app, caller)) = &known {
            (app.clone(), begun(app.audit_entry_of(caller, action)))
        } else {
            let app = self.state.installation();
            let entry = app.audit_fact(action).by("", None).via(Some(Origin::Api), None);
            (app, begun(entry))
        };
        let mut pending = PendingEntry::new(Arc::clone(&self.guard), app, entry, known.is_ok());
        let done = match known {
            Ok((app, caller)) => in_time(Box::pin(command.run(&app, &caller, body))).await,
            Err(error) => Err(error),
        };
        match pending.record(|entry| ended(entry, &done)).await {
            Err(_) if done.is_ok() => {
                Err(AppError::unavailable("it was done, but could not be written into the audit trail"))
            }
            _ => done,
        }
    }

    /// Whoever the token belongs to; without one, the user whom the operator chose.
    async fn who_asks(&self, token: Option<&str>) -> Result<(TenantApp, Caller), AppError> {
        let (app, identity) = if let Some(token) = token {
            let tenant = claimed_tenant(token);
            let app = tenant.map_or_else(|| Some(self.state.installation()), |id| self.state.app_of_tenant(id));
            let app = app.ok_or(LoginError::Token)?;
            let identity = app.access.identify(token).await?;
            if identity.principal.key.is_some() {
                return Err(LoginError::VirtualKey.into());
            }
            (app, identity)
        } else {
            let email = self.act_as.as_deref().ok_or_else(|| nobody("the request brings no API key"))?;
            let app = self.state.installation();
            let identity = app.access.identify_user(email).await.map_err(|error| match error {
                LoginError::Token => nobody(&format!("the user `{email}` is not there, or can't log in")),
                other => other.into(),
            })?;
            (app, identity)
        };
        Ok((app, Caller { origin: Origin::Api, ..Caller::new(identity, false) }))
    }
}

fn nobody(title: &str) -> AppError {
    AppError::new(
        ErrorKind::Unauthorized,
        title,
        "send the header `Authorization: Bearer …`, or `token` in the payload, with an API key of this Steward, or let its operator name a user by NATS_ACT_AS",
    )
}

fn too_many() -> AppError {
    AppError::new(ErrorKind::Exhausted, "too many requests are at work", "try again in a moment")
}

/// The token that a message brings, which is taken out of its body. A header that is none is not taken for no token.
fn token_of(header: Option<&str>, body: &mut Map<String, Value>) -> Result<Option<String>, AppError> {
    let in_body = body.remove("token");
    let token = match (header, &in_body) {
        (Some(header), _) => header
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim().to_owned()),
        (None, None) => return Ok(None),
        (None, Some(token)) => token.as_str().map(|token| token.trim().to_owned()),
    };
    Ok(Some(token.filter(|token| !token.is_empty()).ok_or(LoginError::Token)?))
}

async fn in_time(work: impl Future<Output = Result<Value, AppError>>) -> Result<Value, AppError> {
    let late = |_| Err(AppError::unavailable(format!("there was no answer within {} s", LONGEST.as_secs())));
    tokio::time::timeout(LONGEST, work).await.unwrap_or_else(late)
}

fn ended(entry: AuditEntry, done: &Result<Value, AppError>) -> AuditEntry {
    match done {
        Ok(_) => entry.ended(AuditResult::Ok),
        Err(error) => {
            let refused = matches!(error.kind, ErrorKind::Unauthorized | ErrorKind::Forbidden | ErrorKind::Exhausted);
            let result = if refused { AuditResult::Refused } else { AuditResult::Failed };
            entry.ended(result).with("code", error.detail.code).with("field", error.detail.field.clone())
        }
    }
}

/// An answer of GraphQL that has errors is none that is good.
fn written(answer: Result<Value, AppError>) -> Vec<u8> {
    let mut all = Map::new();
    match answer {
        Ok(Value::Object(found)) => {
            all.insert("ok".to_owned(), Value::Bool(!found.contains_key("error")));
            all.extend(found);
        }
        Ok(_) => drop(all.insert("ok".to_owned(), Value::Bool(true))),
        Err(error) => {
            all.insert("ok".to_owned(), Value::Bool(false));
            all.insert("error".to_owned(), Value::String(error.to_string()));
        }
    }
    Value::Object(all).to_string().into_bytes()
}
