//! Errors of the other rooms as problems.

use super::Problem;
use axum::http::StatusCode;
use steward_access::AccessError;
use steward_core::model::{ModelError, ModelErrorClass};
use steward_core::ports::{ConnectionsError, LoginError, ReserveError, StoreError};
use steward_engine::EngineError;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let title = error.to_string();
        match error {
            StoreError::NotFound(what) => Self::not_found(what),
            StoreError::Busy { run } => Self::conflict(
                "conversation_busy",
                title,
                "wait for the run, steer it with POST /api/runs/{id}/steer, or stop it",
            )
            .run(run),
            StoreError::CommandsWaiting { run } => {
                Self::conflict("run_open", title, "the run takes them in first; try again in a moment").run(run)
            }
            StoreError::Conflict(_) => Self::conflict("conflict", title, "load it anew, then choose another value"),
            StoreError::Fenced { run, .. } => {
                Self::conflict("run_taken_over", title, "another process works on this run; load it anew").run(run)
            }
            StoreError::InUse { .. }
            | StoreError::Newer { .. }
            | StoreError::Corrupt(_)
            | StoreError::Full(_)
            | StoreError::Backend(_) => {
                tracing::error!(error = title, "the store failed");
                Self::unavailable(title)
            }
        }
    }
}

impl From<ReserveError> for Problem {
    fn from(error: ReserveError) -> Self {
        match error {
            ReserveError::Store(error) => error.into(),
            ReserveError::Exceeded(state, resets_at) => Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                state.used_up(None, resets_at),
                "wait until the budget begins anew, or ask an operator to raise it",
            )
            .code("budget_exceeded"),
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Model(error) => error.into(),
            EngineError::NotFound(what) => Self::not_found(what),
            EngineError::Busy { run } => StoreError::Busy { run }.into(),
            EngineError::AlreadyDecided(title) => {
                Self::conflict("already_decided", title, "load it anew; the first decision counts")
            }
            EngineError::Tools(title) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, title, "look at the agent's skills")
            }
            EngineError::Invalid(title) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, title, "correct the request"),
        }
    }
}

impl From<ModelError> for Problem {
    fn from(error: ModelError) -> Self {
        let status = match error.class {
            ModelErrorClass::ContextLength | ModelErrorClass::BadRequest => StatusCode::UNPROCESSABLE_ENTITY,
            // The connection must be set right first; the request itself may stay.
            ModelErrorClass::Auth | ModelErrorClass::UnknownModel | ModelErrorClass::Cancelled => StatusCode::CONFLICT,
            ModelErrorClass::RateLimit
            | ModelErrorClass::Server
            | ModelErrorClass::Connect
            | ModelErrorClass::Timeout
            | ModelErrorClass::Broken
            | ModelErrorClass::Empty => StatusCode::SERVICE_UNAVAILABLE,
        };
        let problem = Self::new(status, error.message, error.hint).code("model");
        match error.retry_after_ms {
            Some(ms) => problem.retry_after(ms.div_ceil(1000)),
            None => problem,
        }
    }
}

impl From<ConnectionsError> for Problem {
    fn from(error: ConnectionsError) -> Self {
        match error {
            // `field: what is wrong with it`.
            ConnectionsError::Invalid(title) => match title.split_once(": ") {
                Some((field, _)) if !field.contains(' ') => {
                    Self::invalid(field.to_owned(), title, "correct the connection")
                }
                _ => Self::new(StatusCode::UNPROCESSABLE_ENTITY, title, "correct the connection"),
            },
            ConnectionsError::Fixed(title) => Self::conflict(
                "fixed",
                title,
                "it was found by itself; change it where it was found, or add a connection of your own",
            ),
            ConnectionsError::Store(error) => error.into(),
            ConnectionsError::Vault(error) => error.into(),
        }
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
            )
            .code("wrong_password"),
            LoginError::TooMany { seconds } => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, title, "wait, then try again").retry_after(seconds)
            }
            LoginError::Token => Self::new(
                StatusCode::UNAUTHORIZED,
                title,
                "send `Authorization: Bearer …` with an API key, or a token from POST /api/auth/login",
            ),
            LoginError::VirtualKey => {
                Self::forbidden(title, "send it to /v1; here, log in or send your own API key").code("virtual_key")
            }
            LoginError::Invalid(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, title, "correct the request"),
            LoginError::Unavailable(_) => {
                tracing::error!(error = title, "logins cannot be checked");
                Self::unavailable(title)
            }
        }
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        let title = error.to_string();
        match error {
            AccessError::Invalid(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, title, "correct the request"),
            AccessError::SetupToken => Self::forbidden(
                title,
                "read the token from the terminal where steward runs; once there is an administrator, log in instead",
            ),
            AccessError::CurrentPassword => {
                Self::invalid("current", title, "type the password that you log in with now").code("wrong_password")
            }
            AccessError::Store(error) => error.into(),
            AccessError::Login(error) => error.into(),
            AccessError::Hash(_) => {
                tracing::error!(error = title, "a password could not be hashed");
                Self::unavailable(title)
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::Problem;
    use axum::response::IntoResponse;
    use serde_json::{Value, json};
    use steward_core::RunId;
    use steward_core::model::{ModelError, ModelErrorClass};
    use steward_core::ports::{ConnectionsError, LoginError, StoreError};
    use steward_engine::EngineError;
    use uuid::Uuid;

    async fn seen(problem: Problem) -> Value {
        let response = problem.into_response();
        let body = axum::body::to_bytes(response.into_body(), 10_000).await;
        serde_json::from_slice(&body.unwrap()).unwrap()
    }

    fn model(class: ModelErrorClass) -> ModelError {
        ModelError {
            class,
            message: "no".to_owned(),
            hint: "do this".to_owned(),
            detail: None,
            retry_after_ms: Some(1500),
        }
    }

    #[tokio::test]
    async fn errors_have_the_status_and_the_word_that_programs_go_by() {
        let run = RunId(Uuid::from_u128(5));
        let busy = seen(StoreError::Busy { run }.into()).await;
        assert_eq!(busy["run_id"], json!(run));
        let cases: Vec<(Problem, u16, Value)> = vec![
            (StoreError::Busy { run }.into(), 409, json!("conversation_busy")),
            (StoreError::NotFound("run 5".to_owned()).into(), 404, Value::Null),
            (StoreError::Conflict("taken".to_owned()).into(), 409, json!("conflict")),
            (StoreError::Fenced { run, epoch: 2 }.into(), 409, json!("run_taken_over")),
            (StoreError::Full("db".to_owned()).into(), 503, Value::Null),
            (EngineError::Invalid("no".to_owned()).into(), 422, Value::Null),
            (model(ModelErrorClass::Auth).into(), 409, json!("model")),
            (model(ModelErrorClass::Connect).into(), 503, json!("model")),
            (ConnectionsError::Fixed("no".to_owned()).into(), 409, json!("fixed")),
            (LoginError::TooMany { seconds: 7 }.into(), 429, Value::Null),
        ];
        for (problem, status, code) in cases {
            let shown = format!("{problem:?}");
            let body = seen(problem).await;
            assert_eq!((&body["status"], &body["code"]), (&json!(status), &code), "{shown}");
            assert!(!body["hint"].as_str().unwrap().is_empty(), "{shown}");
        }
        let wait = seen(model(ModelErrorClass::RateLimit).into()).await;
        assert_eq!(wait["retry_after"], 2);
    }
}
