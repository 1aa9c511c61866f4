//! A refused or failed request.

use super::ProblemBody;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use steward_core::RunId;

/// A refused or failed request.
#[derive(Debug)]
pub(crate) struct Problem {
    pub status: StatusCode,
    body: Box<ProblemBody>,
}

impl Problem {
    /// `title` says what happened, `hint` what to do about it.
    pub fn new(status: StatusCode, title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status,
            body: Box::new(ProblemBody {
                kind: "about:blank",
                title: title.into(),
                status: status.as_u16(),
                hint: hint.into(),
                code: None,
                run_id: None,
                field: None,
                retry_after: None,
            }),
        }
    }

    /// 422: `field` can't be that.
    pub fn invalid(field: impl Into<String>, title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, title, hint).field(field)
    }

    /// 404: `what` (`run 0199…`) isn't there or isn't theirs to see.
    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} was not found"), "check the id; the list shows what there is")
    }

    /// 403.
    pub fn forbidden(title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, title, hint)
    }

    /// 409 with a word for programs.
    pub fn conflict(code: &'static str, title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, title, hint).code(code)
    }

    /// 503: something that this needs doesn't answer.
    pub fn unavailable(title: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, title, "see /readyz for what is failing; try again soon")
    }

    /// The problem as an event of a stream carries it.
    pub fn json(&self) -> String {
        serde_json::to_string(&self.body).unwrap_or_default()
    }

    /// A word for programs.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.body.code = Some(code.to_owned());
        self
    }

    /// The run that is in the way.
    #[must_use]
    pub fn run(mut self, run: RunId) -> Self {
        self.body.run_id = Some(run.to_string());
        self
    }

    /// The field at fault.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.body.field = Some(field.into());
        self
    }

    /// Seconds to wait; also as header `Retry-After`.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.body.retry_after = Some(seconds);
        self
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
