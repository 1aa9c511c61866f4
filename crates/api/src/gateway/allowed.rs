//! What a caller's virtual key opens. Without one, it is the role that counts.

use crate::openai::OpenAiError;
use axum::http::StatusCode;
use steward_core::ports::Principal;

/// Whether the caller may use the connection of this name.
pub(crate) fn may_use_connection(principal: &Principal, name: &str) -> bool {
    principal.key.as_ref().is_none_or(|key| key.connections.is_empty() || key.connections.iter().any(|one| one == name))
}

/// Whether the caller may use the agent of this name.
pub(crate) fn may_use_agent(principal: &Principal, name: &str) -> bool {
    principal.key.as_ref().is_none_or(|key| {
        key.agents.as_ref().is_some_and(|agents| agents.is_empty() || agents.iter().any(|one| one == name))
    })
}

/// 403 for what the key does not open.
pub(super) fn not_for_this_key(what: &str) -> OpenAiError {
    OpenAiError {
        status: StatusCode::FORBIDDEN,
        code: "key_not_allowed",
        ..OpenAiError::forbidden(format!(
            "this key may not use {what}; GET /v1/models lists what it may use, its owner can change that"
        ))
    }
}
