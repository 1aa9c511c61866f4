//! The OpenAI dialect under `/v1`: its errors and shapes here, its operations in the modules.

mod agent_start;
pub(crate) mod chat;
mod chat_frame;
mod chat_stream;
mod delta_projector;
mod message_fields;
mod misplaced;
pub(crate) mod models;
pub(crate) mod responses;
mod run_events;
mod unknown_model;
mod unsupported_fields;

use crate::headers::bearer;
use crate::model_name::PREFIX;
use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use steward_app::{Action, AppError, Caller, EngineError, NotPassed, Resource, authorize};
use steward_core::Timestamp;
use steward_core::approval::Subject;
use steward_core::model::{ModelError, ModelErrorClass, Usage};
use steward_core::ports::{LoginError, NoAnswer, ReserveError, StoreError};

pub(crate) use chat_frame::ChatFrame;
pub(crate) use misplaced::misplaced;
pub(crate) use unknown_model::unknown_model;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenAiError {
    pub status: StatusCode,
    pub kind: &'static str,
    pub code: &'static str,
    pub message: String,
    pub param: Option<Cow<'static, str>>,
    /// Further headers, names in lower case.
    pub headers: Vec<(&'static str, String)>,
}

impl OpenAiError {
    pub fn new(status: StatusCode, kind: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, code, message: message.into(), param: None, headers: Vec::new() }
    }

    pub fn invalid(message: impl Into<String>, param: impl Into<Cow<'static, str>>) -> Self {
        let error = Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", "invalid_value", message);
        Self { param: Some(param.into()), ..error }
    }

    /// `headers`: those of the request, which may have its key in another place.
    pub fn unauthorized(error: &LoginError, headers: &HeaderMap) -> Self {
        let (status, code) = match error {
            LoginError::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            _ => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
        };
        Self::new(status, "authentication_error", code, key_problem(error, headers))
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "permission_error", "forbidden", message)
    }

    /// 403: viewers only look.
    pub fn for_viewers() -> Self {
        Self::forbidden("a viewer can't ask agents; ask an administrator for the role developer")
    }

    /// 404: there is no model of that name.
    pub fn unknown(message: impl Into<String>, param: &'static str) -> Self {
        Self { status: StatusCode::NOT_FOUND, code: "model_not_found", ..Self::invalid(message, param) }
    }

    /// `known`: connections by the models behind them.
    pub fn unknown_connection(name: &str, known: &[(String, String)], param: &'static str) -> Self {
        let names: Vec<String> = known.iter().map(|(_, name)| format!("{PREFIX}{name}")).collect();
        Self { param: Some(param.into()), ..unknown_model(&format!("{PREFIX}{name}"), &names, known) }
    }

    /// 429: a budget has no room.
    pub fn over_budget(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "insufficient_quota", "insufficient_quota", message)
    }

    /// 429: wait so many seconds.
    pub fn too_many(message: impl Into<String>, wait_s: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", "rate_limit_exceeded", message)
            .retry_after(Some(wait_s))
    }

    /// 429 if the error says how long to wait.
    pub fn not_now(error: &AppError) -> Self {
        match error.detail.retry_after {
            Some(wait_s) => Self::too_many(error.to_string(), wait_s),
            None => Self::failed(error.to_string()),
        }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "server_error", "run_failed", message)
    }

    #[must_use]
    pub fn retry_after(mut self, seconds: Option<u64>) -> Self {
        self.headers.extend(seconds.map(|seconds| ("retry-after", seconds.to_string())));
        self
    }

    /// `refused`: the model's error that ended the run. One that may pass is the client's to try again, which goes on with the
    /// run; after any other end that would be in vain.
    pub fn run_failed(message: String, refused: Option<&ModelError>) -> Self {
        let mut error = match refused {
            Some(refused) => Self { message, ..model_error(refused) },
            None => Self::failed(message),
        };
        if !refused.is_some_and(|refused| refused.class.is_transient()) {
            error.headers.push(("x-should-retry", "false".to_owned()));
        }
        error
    }

    pub fn body(&self) -> Value {
        json!({"error": {"message": self.message, "type": self.kind, "code": self.code, "param": self.param}})
    }
}

impl IntoResponse for OpenAiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

impl From<EngineError> for OpenAiError {
    fn from(error: EngineError) -> Self {
        let message = error.to_string();
        match error {
            EngineError::Invalid(_) => Self::invalid(message, "messages"),
            EngineError::Model(error) if error.class == ModelErrorClass::ContextLength => {
                Self { code: "context_length_exceeded", ..Self::invalid(message, "messages") }
            }
            EngineError::Model(_) | EngineError::Tools(_) => Self::failed(message),
            EngineError::Store(error) => error.into(),
            EngineError::TooManyWaiting { wait_s, .. } => Self::too_many(message, wait_s),
            EngineError::NotFound(_) | EngineError::Busy { .. } | EngineError::AlreadyDecided(_) => {
                Self::invalid(message, "model")
            }
        }
    }
}

impl From<NotPassed> for OpenAiError {
    fn from(error: NotPassed) -> Self {
        match error {
            NotPassed::Policy(refused) => model_error(&refused),
            NotPassed::Store(error) => error.into(),
            NotPassed::Busy(error) => Self::not_now(&error),
        }
    }
}

impl From<StoreError> for OpenAiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store refused");
        Self { status: StatusCode::SERVICE_UNAVAILABLE, code: "store_unavailable", ..Self::failed(error.to_string()) }
    }
}

/// What a program is told whose key opens nothing.
pub(crate) fn key_problem(error: &LoginError, headers: &HeaderMap) -> String {
    match (error, no_key(headers)) {
        (LoginError::Unavailable(_), _) => error.to_string(),
        (_, Some(missing)) => missing,
        (LoginError::Token | LoginError::Stolen { .. }, None) => "the API key is not valid: it is unknown, expired or was \
             withdrawn; send `Authorization: Bearer …` with one of this Steward (Settings → API key, or `steward key create`)"
            .to_owned(),
        (_, None) => format!("{error}; send `Authorization: Bearer …` with an API key of this Steward"),
    }
}

/// What is wrong where a request has no bearer token; `None`: it has one.
fn no_key(headers: &HeaderMap) -> Option<String> {
    const SEND: &str = "send it as `Authorization: Bearer …`";
    if bearer(headers).is_some() {
        return None;
    }
    let other = ["x-api-key", "api-key", "x-goog-api-key"].into_iter().find(|name| headers.contains_key(*name));
    Some(match other {
        Some(name) => format!("the key is in the header `{name}`, which isn't read here; {SEND}"),
        None if headers.contains_key(header::AUTHORIZATION) => {
            format!("the header `Authorization` has no bearer token; {SEND} with an API key of this Steward")
        }
        None => "the request has no API key; send `Authorization: Bearer …` with one of this Steward (Settings → API \
                 key, or `steward key create`)"
            .to_owned(),
    })
}

/// A model's error.
pub(crate) fn model_error(error: &ModelError) -> OpenAiError {
    use ModelErrorClass as Class;
    let (status, kind, code) = match error.class {
        // As the provider says it, so that no client tries again in vain; the message names the connection.
        Class::Auth if error.status == Some(403) => (403, "permission_error", "upstream_auth"),
        Class::Auth => (401, "authentication_error", "upstream_auth"),
        Class::UnknownModel => (404, "invalid_request_error", "model_not_found"),
        Class::ContextLength => (400, "invalid_request_error", "context_length_exceeded"),
        Class::BadRequest => (400, "invalid_request_error", "invalid_value"),
        Class::RateLimit => (429, "rate_limit_error", "rate_limit_exceeded"),
        Class::Server => (502, "server_error", "upstream_error"),
        Class::Connect => (503, "server_error", "upstream_unreachable"),
        Class::Timeout => (504, "server_error", "upstream_timeout"),
        Class::Broken => (502, "server_error", "upstream_broken"),
        Class::Empty => (502, "server_error", "upstream_empty"),
        Class::Cancelled => (503, "server_error", "cancelled"),
        Class::BlockedByPolicy => (403, "permission_error", "blocked_by_policy"),
    };
    let wait = error.retry_after_ms.map(|ms| ms.div_ceil(1000));
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    OpenAiError::new(status, kind, code, error.to_string()).retry_after(wait)
}

/// Nobody answered.
pub(crate) fn no_answer(no_answer: &NoAnswer) -> OpenAiError {
    let mut told = model_error(&no_answer.error);
    told.headers.push(("x-steward-attempts", no_answer.attempts.len().to_string()));
    if no_answer.error.class == ModelErrorClass::BadRequest {
        told.headers.push(("x-should-retry", "false".to_owned()));
    }
    told
}

/// The program stops while a call is open.
pub(crate) fn stopping() -> OpenAiError {
    let message = "Steward is being stopped; send the request again in a moment";
    OpenAiError::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", "stopping", message).retry_after(Some(5))
}

/// Nothing could be set aside for the call.
pub(crate) fn not_reserved(error: ReserveError, now: Timestamp) -> OpenAiError {
    let (state, resets_at) = match error {
        ReserveError::Store(error) => return error.into(),
        ReserveError::Exceeded(state, resets_at) => (state, resets_at),
    };
    let wait = resets_at.map(|at| at.0.saturating_sub(now.0).max(0).cast_unsigned().div_ceil(1000));
    OpenAiError::over_budget(state.used_up(None, resets_at)).retry_after(wait)
}

/// Viewers only look.
pub(crate) fn may_ask(caller: &Caller) -> Result<(), OpenAiError> {
    authorize(caller, Action::Ask, Resource::Agents).map_err(|_| OpenAiError::for_viewers())
}

/// What a caller without an inbox is told: nothing runs unasked, and nothing waits silently.
pub(crate) fn waiting(subject: &Subject) -> String {
    let what = match subject {
        Subject::Call { tool, arguments, preview, .. } => {
            format!("{tool} {arguments} ({})", preview.summary)
        }
        Subject::Plan { .. } => "a plan".to_owned(),
        Subject::Uncertain { tool, .. } => format!("{tool} was interrupted: did it happen?"),
        Subject::Question { text, .. } => return text.clone(),
    };
    format!(
        "This needs a person's approval before it runs: {what}. See `steward approvals`; the run goes on when it is answered."
    )
}

/// Body of a chat completion, as far as agents read it; [`crate::openai::unsupported_fields`] refuses the rest.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatRequest {
    pub model: String,
    pub messages: Vec<ChatMessage>,
    #[serde(default)]
    pub stream: bool,
    #[serde(default)]
    pub stream_options: Option<StreamOptions>,
    #[serde(default)]
    pub temperature: Option<f32>,
    #[serde(default)]
    pub max_tokens: Option<u32>,
    #[serde(default)]
    pub max_completion_tokens: Option<u32>,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default, rename = "store")]
    pub keep: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct StreamOptions {
    #[serde(default)]
    pub include_usage: bool,
}

/// A message; content is text or parts of which the text ones count.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatMessage {
    pub role: String,
    #[serde(default)]
    pub content: Value,
}

impl ChatMessage {
    /// Its text; an error where it holds something else than text.
    pub fn text(&self) -> Result<String, OpenAiError> {
        if self.content.is_null() { Ok(String::new()) } else { text_of(&self.content, "messages") }
    }
}

/// The text of a message's content; `param` is where it stands.
pub(crate) fn text_of(content: &Value, param: &'static str) -> Result<String, OpenAiError> {
    let parts = match content {
        Value::String(text) => return Ok(text.clone()),
        Value::Array(parts) => parts,
        _ => return Err(OpenAiError::invalid("content must be text or a list of parts", param)),
    };
    let text = |part: &Value| {
        part["text"].as_str().map(str::to_owned).ok_or_else(|| {
            let kind = part["type"].as_str().unwrap_or("unknown");
            OpenAiError::invalid(format!("content of type `{kind}` is not taken; send text"), param)
        })
    };
    Ok(parts.iter().map(text).collect::<Result<Vec<_>, _>>()?.join("\n"))
}

pub(crate) fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    })
}
