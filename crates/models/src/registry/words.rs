//! Errors of the router itself.

use steward_core::model::{Connection, ModelError, ModelErrorClass};

use super::policy;

fn error(class: ModelErrorClass, message: String, hint: &str) -> ModelError {
    ModelError { class, message, hint: hint.to_owned(), detail: None, retry_after_ms: None }
}

/// There is no connection at all.
pub(super) fn no_connection() -> ModelError {
    error(
        ModelErrorClass::UnknownModel,
        "there is no model to ask".to_owned(),
        "set OPENAI_API_KEY, start Ollama or a llama.cpp server, or run `make setup` for the local model",
    )
}

/// The overall deadline has passed.
pub(super) fn out_of_time(connection: &Connection) -> ModelError {
    error(
        ModelErrorClass::Timeout,
        format!("connection `{}`: no answer came before the deadline of the whole call", connection.name),
        "see whether the server is busy or stuck; for slow models raise the timeout setting `timeout_ms`",
    )
}

/// The reply ended before its first content.
pub(super) fn nothing_came(connection: &Connection, finish: Option<&str>) -> ModelError {
    let (class, what) = match finish {
        Some(finish) => (ModelErrorClass::Empty, format!("the answer is empty (finish reason `{finish}`)")),
        None => (ModelErrorClass::Broken, "the answer broke off before it began".to_owned()),
    };
    error(class, format!("connection `{}`: {what}", connection.name), "ask again, or choose another model")
}

/// Of several errors the one that says most about what to do: the one that ended it, if it is the
/// request's own fault; else one that passes, the soonest first; else the first, which is that of the
/// connection that was wanted most.
pub(super) fn worth_telling(errors: Vec<ModelError>) -> ModelError {
    let others = errors.len().saturating_sub(1);
    let ended = errors.iter().position(|error| policy::next(error.class) == policy::Next::Nobody);
    let passing = errors
        .iter()
        .enumerate()
        .filter(|(_, error)| error.class.is_transient())
        .min_by_key(|(_, error)| error.retry_after_ms.unwrap_or(0))
        .map_or(0, |(at, _)| at);
    let Some(mut told) = errors.into_iter().nth(ended.unwrap_or(passing)) else {
        return no_connection();
    };
    if others > 0 {
        let attempts = if others == 1 { "attempt" } else { "attempts" };
        told.message = format!("{}; {others} other {attempts} failed too", told.message);
    }
    told
}
