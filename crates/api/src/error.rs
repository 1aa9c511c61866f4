//! Errors as `application/problem+json` (RFC 9457) with a `hint`.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use steward_access::AccessError;
use steward_core::ports::LoginError;

/// A refused or failed request.
#[derive(Debug)]
pub(crate) struct Problem {
    pub status: StatusCode,
    pub title: String,
    pub hint: String,
    pub retry_after: Option<u64>,
}

impl Problem {
    pub fn new(status: StatusCode, title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status,
            title: title.into(),
            hint: hint.into(),
            retry_after: None,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({
            "type": "about:blank",
            "title": self.title,
            "status": self.status.as_u16(),
            "hint": self.hint,
        });
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            header::HeaderValue::from_static("application/problem+json"),
        );
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<LoginError> for Problem {
    fn from(error: LoginError) -> Self {
        let title = error.to_string();
        match error {
            LoginError::Wrong => Self::new(
                StatusCode::UNAUTHORIZED,
                title,
                "check email and password; five failures close the login for 15 minutes",
            ),
            LoginError::TooMany { seconds } => Self {
                retry_after: Some(seconds),
                ..Self::new(StatusCode::TOO_MANY_REQUESTS, title, "wait, then try again")
            },
            LoginError::Token => Self::new(
                StatusCode::UNAUTHORIZED,
                title,
                "send `Authorization: Bearer …` with an API key, or a token from POST /api/auth/login",
            ),
            LoginError::Invalid(_) => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                title,
                "correct the request",
            ),
            LoginError::Unavailable(_) => {
                tracing::error!(error = title, "logins cannot be checked");
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    title,
                    "see /readyz; try again soon",
                )
            }
        }
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        let title = error.to_string();
        match error {
            AccessError::Invalid(_) => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                title,
                "correct the request",
            ),
            AccessError::SetupToken => Self::new(
                StatusCode::FORBIDDEN,
                title,
                "read the token from the terminal where steward runs; once there is an administrator, log in instead",
            ),
            AccessError::Store(_) | AccessError::Hash(_) => {
                tracing::error!(error = title, "a user could not be saved");
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    title,
                    "see /readyz; try again soon",
                )
            }
        }
    }
}
