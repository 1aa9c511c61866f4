//! Report cards of models, their health, and what answers at a URL.

use super::auth::AuthInput;
use super::connection::Capabilities;
use super::names::{Breaker, CheckOutcome, Constrained, Grade, Provider, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::{exam, model, ports};
use utoipa::ToSchema;
use uuid::Uuid;

/// What an exam found out about a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ExamReport {
    /// Version of the exam; a report of an older one is worth repeating.
    pub version: u16,
    /// Base URL of the endpoint; `local` for the built-in model.
    pub endpoint: String,
    /// Model name as the endpoint knows it.
    pub model: String,
    /// What the server says it is; empty if it does not.
    pub server: String,
    /// When, milliseconds since 1970 UTC.
    pub at: i64,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// Tokens it took.
    pub tokens: u64,
    /// What was tried, in order.
    pub checks: Vec<Check>,
    /// Ways to constrain output that work, best first.
    pub constrained: Vec<Constrained>,
    /// How good it is at each kind of request.
    #[schema(value_type = BTreeMap<String, Grade>)]
    pub grades: BTreeMap<String, Grade>,
    /// Tokens of reply a second.
    pub tokens_per_second: f32,
    /// Milliseconds to the first token of a short prompt.
    pub first_token_ms: u64,
    /// Tokens of prompt read a second.
    pub prompt_tokens_per_second: f32,
    /// Whether a repeated prompt is served from a cache.
    pub reuses_cache: bool,
    /// What the connection is used with from now on.
    pub capabilities: Capabilities,
    /// What was decided, for a person.
    pub notes: Vec<String>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Check {
    /// Its name.
    pub name: String,
    /// How it went.
    pub outcome: CheckOutcome,
    /// Points of `of`.
    pub points: u32,
    /// Most points.
    pub of: u32,
    /// What was seen, for a person.
    pub detail: String,
    /// How long it took, milliseconds.
    pub ms: u64,
}

/// A few words about an exam, for lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ExamBrief {
    /// When, milliseconds since 1970 UTC.
    pub at: i64,
    /// Version of the exam.
    pub version: u16,
    /// What the server said it is.
    pub server: String,
    /// How good it is at each kind of request.
    #[schema(value_type = BTreeMap<String, Grade>)]
    pub grades: BTreeMap<String, Grade>,
}

/// How a connection has fared since the server started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ConnectionHealth {
    /// The connection.
    pub connection: Uuid,
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
    pub last_ok_at: Option<i64>,
    /// When it last failed.
    #[schema(required)]
    pub last_failed_at: Option<i64>,
}

/// Why a connection did not answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ConnectionError {
    /// A word for programs, such as `rate_limit`.
    pub class: String,
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
pub(crate) struct RecogniseInput {
    /// Any address of the server.
    #[schema(min_length = 1, max_length = 500)]
    pub base_url: String,
    /// How to prove who asks.
    #[serde(default)]
    pub auth: AuthInput,
}

/// What seems to answer at a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Recognised {
    /// The provider.
    pub provider: Provider,
    /// The base URL, mended.
    pub base_url: String,
    /// Whether it answered when asked.
    pub confirmed: bool,
    /// Models it lists; empty if it does not tell.
    pub models: Vec<String>,
    /// What it says it is.
    pub server: String,
    /// Why, for a person.
    pub reason: String,
}

fn grades(grades: BTreeMap<steward_core::routing::Task, exam::Grade>) -> BTreeMap<String, Grade> {
    grades
        .into_iter()
        .filter_map(|(task, grade)| {
            let task = serde_json::to_value(Task::from(task)).ok()?;
            Some((task.as_str()?.to_owned(), grade.into()))
        })
        .collect()
}

impl From<exam::Check> for Check {
    fn from(check: exam::Check) -> Self {
        Self {
            name: check.name,
            outcome: check.outcome.into(),
            points: check.points,
            of: check.of,
            detail: check.detail,
            ms: check.ms,
        }
    }
}

impl From<exam::ExamReport> for ExamReport {
    fn from(report: exam::ExamReport) -> Self {
        Self {
            version: report.version,
            endpoint: report.endpoint,
            model: report.model,
            server: report.server,
            at: report.at.0,
            ms: report.ms,
            tokens: report.tokens,
            checks: report.checks.into_iter().map(Into::into).collect(),
            constrained: report.constrained.into_iter().map(Into::into).collect(),
            grades: grades(report.grades),
            tokens_per_second: report.tokens_per_second,
            first_token_ms: report.first_token_ms,
            prompt_tokens_per_second: report.prompt_tokens_per_second,
            reuses_cache: report.reuses_cache,
            capabilities: report.capabilities.into(),
            notes: report.notes,
        }
    }
}

impl From<&exam::ExamReport> for ExamBrief {
    fn from(report: &exam::ExamReport) -> Self {
        Self {
            at: report.at.0,
            version: report.version,
            server: report.server.clone(),
            grades: grades(report.grades.clone()),
        }
    }
}

impl From<model::ModelError> for ConnectionError {
    fn from(error: model::ModelError) -> Self {
        let class = serde_json::to_value(error.class).ok();
        Self {
            class: class.and_then(|class| class.as_str().map(str::to_owned)).unwrap_or_default(),
            message: error.message,
            hint: error.hint,
            detail: error.detail,
            retry_after_ms: error.retry_after_ms,
        }
    }
}

impl From<ports::ConnectionHealth> for ConnectionHealth {
    fn from(health: ports::ConnectionHealth) -> Self {
        Self {
            connection: health.connection.0,
            breaker: health.breaker.into(),
            retry_in_ms: health.retry_in_ms,
            requests: health.requests,
            failures: health.failures,
            first_ms: health.first_ms,
            last_error: health.last_error.map(Into::into),
            last_ok_at: health.last_ok_at.map(|at| at.0),
            last_failed_at: health.last_failed_at.map(|at| at.0),
        }
    }
}

impl From<ports::Recognised> for Recognised {
    fn from(found: ports::Recognised) -> Self {
        Self {
            provider: found.provider.into(),
            base_url: found.base_url,
            confirmed: found.confirmed,
            models: found.models,
            server: found.server,
            reason: found.reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectionHealth, ExamReport};
    use serde_json::json;
    use steward_core::exam::{self, CheckOutcome, Grade};
    use steward_core::model::{Capabilities, Constrained, ModelError, ModelErrorClass};
    use steward_core::ports::{self, Breaker};
    use steward_core::routing::Task;
    use steward_core::{ConnectionId, Timestamp};
    use uuid::Uuid;

    #[test]
    fn a_report_is_written_as_the_core_writes_it() {
        let report = exam::ExamReport {
            version: 1,
            endpoint: "http://127.0.0.1:9/v1".to_owned(),
            model: "m".to_owned(),
            server: "ollama 0.13.1".to_owned(),
            at: Timestamp(5),
            ms: 6,
            tokens: 7,
            checks: vec![exam::Check {
                name: "reach".to_owned(),
                outcome: CheckOutcome::Passed,
                points: 1,
                of: 1,
                detail: "answers".to_owned(),
                ms: 3,
            }],
            constrained: vec![Constrained::GuidedJson],
            grades: [(Task::CodeGen, Grade::B), (Task::ToolCall, Grade::E)].into(),
            tokens_per_second: 1.5,
            first_token_ms: 9,
            prompt_tokens_per_second: 2.5,
            reuses_cache: true,
            capabilities: Capabilities::tiny(2048),
            notes: vec!["a note".to_owned()],
        };
        let mut expect = json!(report);
        for field in ["constrained", "num_ctx", "prompt_tokens"] {
            expect["capabilities"][field] = json!(null);
        }
        assert_eq!(json!(ExamReport::from(report)), expect);
    }

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
            }),
            last_ok_at: None,
            last_failed_at: Some(Timestamp(8)),
        };
        assert_eq!(json!(ConnectionHealth::from(health.clone())), json!(health));
    }
}
