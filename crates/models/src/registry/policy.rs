//! What each class of error means: for the request, and for the connection. A table.

use std::time::Duration;

use steward_core::model::{ModelError, ModelErrorClass as Class};

/// Who may be asked next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Whoever comes next.
    Anyone,
    /// Only a model with a larger window.
    Larger,
    /// Nobody: it would be the same everywhere.
    Nobody,
}

/// What an error says about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing bad: it answered, the request was at fault.
    Requests,
    /// Nothing at all.
    Unknown,
    /// It failed; several of these in a row are too many.
    Once,
    /// Nobody is there.
    Dead,
    /// It said how long it wants to be left alone.
    Wait(Duration),
    /// Its settings are wrong, and stay so until a person changes them.
    Settings,
}

/// Who may be asked after an error of this class.
pub(super) fn next(class: Class) -> Next {
    match class {
        Class::Timeout
        | Class::Connect
        | Class::RateLimit
        | Class::Server
        | Class::Broken
        | Class::Empty
        | Class::Auth
        | Class::UnknownModel => Next::Anyone,
        Class::ContextLength => Next::Larger,
        Class::BadRequest | Class::Cancelled => Next::Nobody,
    }
}

/// What the error says about the connection.
pub(super) fn fault(error: &ModelError) -> Fault {
    match error.class {
        Class::BadRequest | Class::ContextLength => Fault::Requests,
        Class::Cancelled => Fault::Unknown,
        Class::Connect => Fault::Dead,
        Class::Auth | Class::UnknownModel => Fault::Settings,
        Class::RateLimit | Class::Server => match error.retry_after_ms {
            Some(ms) => Fault::Wait(Duration::from_millis(ms)),
            None => Fault::Once,
        },
        Class::Timeout | Class::Broken | Class::Empty => Fault::Once,
    }
}

/// Whether the same connection is worth asking once more, right away, if there is no other. Not
/// where nobody listens: that may take a whole connect timeout again.
pub(super) fn worth_repeating(class: Class) -> bool {
    class.is_transient() && class != Class::Connect
}
