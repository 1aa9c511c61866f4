//! Errors as `application/problem+json` (RFC 9457) with a `hint`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use steward_app::{AccessError, AppError, ErrorKind, FieldProblem};
use steward_core::ports::{LoginError, StoreError};
use utoipa::ToSchema;

pub(crate) type Answer<T> = Result<Json<T>, Problem>;
/// What was made ([`created`]) or begun ([`accepted`]).
pub(crate) type Created<T> = Result<(StatusCode, Json<T>), Problem>;
/// 204: there is nothing to say.
pub(crate) type Done = Result<StatusCode, Problem>;

#[expect(clippy::unnecessary_wraps, reason = "handlers end with it")]
pub(crate) fn created<T>(made: T) -> Created<T> {
    Ok((StatusCode::CREATED, Json(made)))
}

/// 202: it is begun.
#[expect(clippy::unnecessary_wraps, reason = "handlers end with it")]
pub(crate) fn accepted<T>(begun: T) -> Created<T> {
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

pub(crate) fn done<E>(result: Result<(), E>) -> Done
where
    Problem: From<E>,
{
    result?;
    Ok(StatusCode::NO_CONTENT)
}

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
    /// All fields at fault, where more than one may be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FieldProblem>,
}

#[derive(Debug)]
pub struct Problem {
    pub status: StatusCode,
    body: Box<ProblemBody>,
}

impl Problem {
    /// `title` says what happened, `hint` what to do about it.
    pub fn new(status: StatusCode, title: impl Into<String>, hint: impl Into<String>) -> Self {
        let mut problem = Self::from(AppError::new(ErrorKind::Internal, title, hint));
        problem.status = status;
        problem.body.status = status.as_u16();
        problem
    }

    /// 422: `field` can't be that.
    pub fn invalid(field: impl Into<String>, title: impl Into<String>, hint: impl Into<String>) -> Self {
        AppError::invalid(field, title, hint).into()
    }

    /// 404: `what` (`run 0199…`) isn't there or isn't theirs to see.
    pub fn not_found(what: impl std::fmt::Display) -> Self {
        AppError::not_found(what).into()
    }

    pub fn forbidden(title: impl Into<String>, hint: impl Into<String>) -> Self {
        AppError::forbidden(title, hint).into()
    }

    /// 409 with a word for programs.
    pub fn conflict(code: &'static str, title: impl Into<String>, hint: impl Into<String>) -> Self {
        AppError::conflict(code, title, hint).into()
    }

    /// 503: something that this needs doesn't answer.
    pub fn unavailable(title: impl Into<String>) -> Self {
        AppError::unavailable(title).into()
    }

    /// What happened and what to do, in one line.
    pub(crate) fn message(&self) -> String {
        format!("{}: {}", self.body.title, self.body.hint)
    }

    pub fn json(&self) -> String {
        serde_json::to_string(&self.body).unwrap_or_default()
    }

    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.body.code = Some(code.to_owned());
        self
    }

    /// Seconds to wait; also as header `Retry-After`.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.body.retry_after = Some(seconds);
        self
    }
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        let status = match error.kind {
            ErrorKind::Unauthorized => StatusCode::UNAUTHORIZED,
            ErrorKind::Forbidden => StatusCode::FORBIDDEN,
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::Exhausted => StatusCode::TOO_MANY_REQUESTS,
            ErrorKind::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
            ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let detail = *error.detail;
        let body = ProblemBody {
            kind: "about:blank",
            title: detail.title,
            status: status.as_u16(),
            hint: detail.hint,
            code: detail.code.map(str::to_owned),
            run_id: detail.run.map(|run| run.to_string()),
            field: detail.field,
            retry_after: detail.retry_after,
            errors: detail.problems,
        };
        Self { status, body: Box::new(body) }
    }
}

impl From<LoginError> for Problem {
    fn from(error: LoginError) -> Self {
        AppError::from(error).into()
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        AppError::from(error).into()
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        AppError::from(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let retry_after = self.body.retry_after;
        let mut response = (self.status, Json(self.body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Problem;
    use axum::http::StatusCode;
    use axum::response::IntoResponse;
    use serde_json::{Value, json};
    use steward_app::{AppError, ErrorKind};
    use steward_core::RunId;
    use steward_core::ports::StoreError;
    use uuid::Uuid;

    async fn seen(problem: Problem) -> Value {
        let response = problem.into_response();
        let body = axum::body::to_bytes(response.into_body(), 10_000).await;
        serde_json::from_slice(&body.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn every_kind_of_error_has_its_status() {
        for (kind, status) in [
            (ErrorKind::Unauthorized, 401),
            (ErrorKind::Forbidden, 403),
            (ErrorKind::NotFound, 404),
            (ErrorKind::Conflict, 409),
            (ErrorKind::Invalid, 422),
            (ErrorKind::Exhausted, 429),
            (ErrorKind::Internal, 500),
            (ErrorKind::Unavailable, 503),
        ] {
            let problem = Problem::from(AppError::new(kind, "no", "do this").code("word"));
            assert_eq!(problem.status.as_u16(), status, "{kind:?}");
            let body = seen(problem).await;
            assert_eq!((&body["status"], &body["code"]), (&json!(status), &json!("word")), "{kind:?}");
            assert_eq!(body["hint"], "do this");
        }
    }

    #[tokio::test]
    async fn errors_go_out_with_all_that_is_known_of_them() {
        let run = RunId(Uuid::from_u128(5));
        let busy = seen(StoreError::Busy { run }.into()).await;
        assert_eq!(
            (&busy["status"], &busy["code"], &busy["run_id"]),
            (&json!(409), &json!("conversation_busy"), &json!(run))
        );
        let bad = seen(AppError::invalid("name", "bad", "mend it").retry_after(2).into()).await;
        let expect = json!({
            "type": "about:blank", "title": "bad", "status": 422, "hint": "mend it", "field": "name", "retry_after": 2,
        });
        assert_eq!(bad, expect);
        let long = seen(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too long", "send less")).await;
        assert_eq!(long["status"], 413);
    }
}
