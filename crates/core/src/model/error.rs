//! Why model calls fail.

use serde::{Deserialize, Serialize};

/// Why a model call failed, by what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorClass {
    /// The key is wrong or lacks a right.
    Auth,
    /// The model's name is not known there.
    UnknownModel,
    /// The prompt does not fit.
    ContextLength,
    /// The request was refused as wrong.
    BadRequest,
    /// Too many requests.
    RateLimit,
    /// 5xx.
    Server,
    /// No connection.
    Connect,
    /// No answer in time.
    Timeout,
    /// The answer broke off or was no answer.
    Broken,
    /// The answer had nothing in it.
    Empty,
    /// Stopped by us.
    Cancelled,
    /// A policy over data keeps it from every model that could be asked; none was.
    BlockedByPolicy,
}

impl ModelErrorClass {
    /// Whether the same request may succeed later.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::RateLimit | Self::Server | Self::Connect | Self::Timeout | Self::Broken | Self::Empty)
    }
}

impl ModelError {
    pub fn new(class: ModelErrorClass, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: hint.into(), detail: None, retry_after_ms: None, status: None }
    }
}

/// A failed model call. `detail` keeps the endpoint's own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, utoipa::ToSchema)]
#[error("{message} ({hint})")]
pub struct ModelError {
    /// What to do about it.
    pub class: ModelErrorClass,
    /// What happened, with the connection's name.
    pub message: String,
    /// What a person can do.
    pub hint: String,
    /// The raw error body, cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub detail: Option<String>,
    /// Wait asked for by the endpoint, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_after_ms: Option<u64>,
    /// The endpoint's HTTP status, if it refused the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<u16>,
}
