use super::auth::AuthInput;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::exam::{ExamReport, Grade};
use steward_core::model::{ModelError, ModelErrorClass};
use steward_core::ports::{self, Breaker};
use steward_core::routing::Task;
use steward_core::{ConnectionId, Timestamp};
use utoipa::ToSchema;

/// A few words about an exam, for lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExamBrief {
    /// When, milliseconds since 1970 UTC.
    pub at: Timestamp,
    /// Version of the exam.
    pub version: u16,
    /// What the server said it is.
    pub server: String,
    /// How good it is at each kind of request.
    #[schema(value_type = BTreeMap<String, Grade>)]
    pub grades: BTreeMap<Task, Grade>,
}

/// How a connection has fared since the server started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionHealth {
    /// The connection.
    pub connection: ConnectionId,
    /// Whether it is asked at the moment.
    pub breaker: Breaker,
    /// How long it is not asked yet, milliseconds.
    #[schema(required)]
    pub retry_in_ms: Option<u64>,
    /// Requests.
    pub requests: u64,
    /// Of these, failed.
    pub failures: u64,
    /// Median time to first content of the last ones, milliseconds.
    #[schema(required)]
    pub first_ms: Option<u64>,
    /// The last failure.
    #[schema(required)]
    pub last_error: Option<ConnectionError>,
    /// When it last answered.
    #[schema(required)]
    pub last_ok_at: Option<Timestamp>,
    /// When it last failed.
    #[schema(required)]
    pub last_failed_at: Option<Timestamp>,
}

/// Why a connection did not answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionError {
    /// A word for programs, such as `rate_limit`.
    #[schema(value_type = String)]
    pub class: ModelErrorClass,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// The endpoint's own words.
    #[schema(required)]
    pub detail: Option<String>,
    /// Wait asked for by the endpoint, milliseconds.
    #[schema(required)]
    pub retry_after_ms: Option<u64>,
}

/// A URL that is to be recognised.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecogniseInput {
    /// Any address of the server.
    #[schema(min_length = 1, max_length = 500)]
    pub base_url: String,
    /// How to prove who asks.
    #[serde(default)]
    pub auth: AuthInput,
}

impl From<&ExamReport> for ExamBrief {
    fn from(report: &ExamReport) -> Self {
        Self { at: report.at, version: report.version, server: report.server.clone(), grades: report.grades.clone() }
    }
}

impl From<ModelError> for ConnectionError {
    fn from(error: ModelError) -> Self {
        let ModelError { class, message, hint, detail, retry_after_ms, .. } = error;
        Self { class, message, hint, detail, retry_after_ms }
    }
}

impl From<ports::ConnectionHealth> for ConnectionHealth {
    fn from(health: ports::ConnectionHealth) -> Self {
        Self {
            connection: health.connection,
            breaker: health.breaker,
            retry_in_ms: health.retry_in_ms,
            requests: health.requests,
            failures: health.failures,
            first_ms: health.first_ms,
            last_error: health.last_error.map(Into::into),
            last_ok_at: health.last_ok_at,
            last_failed_at: health.last_failed_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ConnectionHealth;
    use serde_json::json;
    use steward_core::model::{ModelError, ModelErrorClass};
    use steward_core::ports::{self, Breaker};
    use steward_core::{ConnectionId, Timestamp};
    use uuid::Uuid;

    #[test]
    fn health_is_written_as_the_core_writes_it() {
        let health = ports::ConnectionHealth {
            connection: ConnectionId(Uuid::from_u128(4)),
            breaker: Breaker::HalfOpen,
            retry_in_ms: Some(5),
            requests: 3,
            failures: 2,
            first_ms: None,
            last_error: Some(ModelError {
                class: ModelErrorClass::RateLimit,
                message: "slow down".to_owned(),
                hint: "wait".to_owned(),
                detail: Some("raw".to_owned()),
                retry_after_ms: Some(1000),
                status: None,
            }),
            last_ok_at: None,
            last_failed_at: Some(Timestamp(8)),
        };
        assert_eq!(json!(ConnectionHealth::from(health.clone())), json!(health));
    }
}
