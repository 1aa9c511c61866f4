//! A problem as JSON.

use serde::Serialize;
use utoipa::ToSchema;

/// Why a request was refused, and what to do about it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// Always `about:blank`: the status says the kind.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What happened.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What to do.
    pub hint: String,
    /// A word for programs, where the status doesn't say enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub code: Option<String>,
    /// The run that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run_id: Option<String>,
    /// The field or parameter at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
    /// Seconds to wait before the next try.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_after: Option<u64>,
}
