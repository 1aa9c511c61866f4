//! What each class of error means for the request and the connection, and the router's own errors.

use std::time::Duration;
use steward_core::model::{Connection, ModelError, ModelErrorClass as Class};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Anyone,
    /// Only a model with a larger window.
    Larger,
    /// It would be the same everywhere.
    Nobody,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It answered, but the request was wrong, which says nothing bad about the connection.
    Requests,
    Unknown,
    /// Several of these in a row open the circuit.
    Once,
    Dead,
    /// It said how long it wants no requests.
    Wait(Duration),
    /// Its settings are wrong until a person changes them.
    Settings,
}

pub(crate) fn next(class: Class) -> Next {
    match class {
        Class::ContextLength => Next::Larger,
        Class::BadRequest | Class::Cancelled | Class::BlockedByPolicy => Next::Nobody,
        _ => Next::Anyone,
    }
}

pub(crate) fn fault(error: &ModelError) -> Fault {
    match error.class {
        Class::BadRequest | Class::ContextLength => Fault::Requests,
        Class::Cancelled | Class::BlockedByPolicy => Fault::Unknown,
        Class::Connect => Fault::Dead,
        Class::Auth | Class::UnknownModel => Fault::Settings,
        Class::RateLimit | Class::Server => match error.retry_after_ms {
            Some(ms) => Fault::Wait(Duration::from_millis(ms)),
            None => Fault::Once,
        },
        Class::Timeout | Class::Broken | Class::Empty => Fault::Once,
    }
}

pub(crate) fn no_connection() -> ModelError {
    ModelError::new(
        Class::UnknownModel,
        "there is no model to ask",
        "set OPENAI_API_KEY, start Ollama or a llama.cpp server, or run `make setup` for the local model",
    )
}

pub(crate) fn out_of_time(connection: &Connection) -> ModelError {
    ModelError::new(
        Class::Timeout,
        format!("connection `{}`: no answer came before the deadline of the whole call", connection.name),
        "see whether the server is busy or stuck; for slow models raise the timeout setting `timeout_ms`",
    )
}

pub(crate) fn nothing_came(connection: &Connection, finish: Option<&str>) -> ModelError {
    let (class, what) = match finish {
        // The same request would be kept back again.
        Some("content_filter") => (Class::BadRequest, "the provider's filter kept the answer back".to_owned()),
        Some(finish) => (Class::Empty, format!("the answer is empty (finish reason `{finish}`)")),
        None => (Class::Broken, "the answer broke off before it began".to_owned()),
    };
    ModelError::new(class, format!("connection `{}`: {what}", connection.name), "ask again, or choose another model")
}

/// The most useful of several errors: the one that ended the call if the request itself is wrong; else a transient one,
/// the soonest first; else the first, which is that of the preferred connection.
pub(crate) fn worth_telling(errors: Vec<ModelError>) -> ModelError {
    let others = errors.len().saturating_sub(1);
    let ended = errors.iter().position(|error| next(error.class) == Next::Nobody);
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
