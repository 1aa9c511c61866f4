use crate::openai::OpenAiError;
use axum::http::StatusCode;
use steward_core::Timestamp;
use steward_core::model::{ModelError, ModelErrorClass};
use steward_core::ports::{NoAnswer, ReserveError};

pub(super) fn no_answer(no_answer: &NoAnswer) -> OpenAiError {
    let mut told = model_error(&no_answer.error);
    told.headers.push(("x-steward-attempts", no_answer.attempts.len().to_string()));
    told
}

pub(super) fn stopping() -> OpenAiError {
    let message = "Steward is being stopped; send the request again in a moment";
    OpenAiError::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", "stopping", message).retry_after(Some(5))
}

pub(crate) fn model_error(error: &ModelError) -> OpenAiError {
    use ModelErrorClass as Class;
    let (status, kind, code) = match error.class {
        // As the provider says it, so that no client tries again in vain; the message names the connection.
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
    };
    let wait = error.retry_after_ms.map(|ms| ms.div_ceil(1000));
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    OpenAiError::new(status, kind, code, error.to_string()).retry_after(wait)
}

pub(super) fn not_reserved(error: ReserveError, now: Timestamp) -> OpenAiError {
    let (state, resets_at) = match error {
        ReserveError::Store(error) => return error.into(),
        ReserveError::Exceeded(state, resets_at) => (state, resets_at),
    };
    let wait = resets_at.map(|at| at.0.saturating_sub(now.0).max(0).cast_unsigned().div_ceil(1000));
    OpenAiError::over_budget(state.used_up(None, resets_at)).retry_after(wait)
}
