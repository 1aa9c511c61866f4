mod body_field;
mod other_rooms;

use serde::Serialize;
use std::fmt;
use steward_core::RunId;
use utoipa::ToSchema;

/// What kind of failure it is; skins such as HTTP have a status for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nobody has proved who they are.
    Unauthorized,
    /// The role or the key does not allow it.
    Forbidden,
    /// It isn't there, or isn't the caller's to see.
    NotFound,
    /// It is not in a state for that.
    Conflict,
    /// A field or the request can't be that.
    Invalid,
    /// A limit of attempts or of spending is reached.
    Exhausted,
    /// There is no room for it on the disk, or within a quota.
    StorageFull,
    /// Something that this needs doesn't answer.
    Unavailable,
    /// The configuration of an agent or of this program is at fault.
    Internal,
}

#[derive(Debug, Clone)]
pub struct AppError {
    pub kind: ErrorKind,
    pub detail: Box<ErrorDetail>,
}

pub type AppResult<T> = Result<T, AppError>;

#[derive(Debug, Clone)]
pub struct ErrorDetail {
    pub title: String,
    pub hint: String,
    /// A word for programs, where the kind doesn't say enough.
    pub code: Option<&'static str>,
    pub run: Option<RunId>,
    pub field: Option<String>,
    /// Seconds to wait before the next try.
    pub retry_after: Option<u64>,
    /// All fields at fault, where more than one may be.
    pub problems: Vec<FieldProblem>,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldProblem {
    /// Its name.
    pub field: String,
    /// What is wrong.
    pub title: String,
    /// What to do.
    pub hint: String,
}

impl AppError {
    /// `title` says what happened, `hint` what to do about it.
    pub fn new(kind: ErrorKind, title: impl Into<String>, hint: impl Into<String>) -> Self {
        let detail = ErrorDetail {
            title: title.into(),
            hint: hint.into(),
            code: None,
            run: None,
            field: None,
            retry_after: None,
            problems: Vec::new(),
        };
        Self { kind, detail: Box::new(detail) }
    }

    pub fn invalid(field: impl Into<String>, title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, title, hint).field(field)
    }

    /// `problems` is not empty; the first one stands for all where only one is told.
    pub fn several(problems: Vec<FieldProblem>) -> Self {
        let first = problems.first().cloned();
        let first =
            first.unwrap_or_else(|| FieldProblem { field: String::new(), title: String::new(), hint: String::new() });
        let title = match problems.len() {
            0 | 1 => first.title,
            count => format!("{count} values are wrong: {}", all_titles(&problems)),
        };
        let mut error = Self::invalid(first.field, title, first.hint);
        error.detail.problems = problems;
        error
    }

    /// `what` (`run 0199…`) isn't there or isn't theirs to see.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::NotFound, format!("{what} was not found"), "check the id; the list shows what there is")
    }

    pub fn forbidden(title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, title, hint)
    }

    pub fn conflict(code: &'static str, title: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, title, hint).code(code)
    }

    pub fn unavailable(title: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, title, "see /readyz for what is failing; try again soon")
    }

    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.detail.code = Some(code);
        self
    }

    #[must_use]
    pub fn run(mut self, run: RunId) -> Self {
        self.detail.run = Some(run);
        self
    }

    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.detail.field = Some(field.into());
        self
    }

    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.detail.retry_after = Some(seconds);
        self
    }
}

fn all_titles(problems: &[FieldProblem]) -> String {
    problems.iter().map(|problem| problem.title.as_str()).collect::<Vec<_>>().join("; ")
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.detail.title, self.detail.hint)
    }
}

impl std::error::Error for AppError {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{AppError, ErrorKind};
    use steward_core::RunId;
    use steward_core::model::{ModelError, ModelErrorClass};
    use steward_core::ports::{ConnectionsError, LoginError, StoreError};
    use steward_engine::EngineError;
    use uuid::Uuid;

    fn model(class: ModelErrorClass) -> ModelError {
        ModelError {
            class,
            message: "no".to_owned(),
            hint: "do this".to_owned(),
            detail: None,
            retry_after_ms: Some(1500),
            status: None,
        }
    }

    #[test]
    fn errors_have_the_kind_and_the_word_that_programs_go_by() {
        let run = RunId(Uuid::from_u128(5));
        assert_eq!(AppError::from(StoreError::Busy { run }).detail.run, Some(run));
        let cases: Vec<(AppError, ErrorKind, Option<&str>)> = vec![
            (StoreError::Busy { run }.into(), ErrorKind::Conflict, Some("conversation_busy")),
            (StoreError::NotFound("run 5".to_owned()).into(), ErrorKind::NotFound, None),
            (StoreError::Conflict("taken".to_owned()).into(), ErrorKind::Conflict, Some("conflict")),
            (StoreError::Fenced { run, epoch: 2 }.into(), ErrorKind::Conflict, Some("run_taken_over")),
            (StoreError::Full("db".to_owned()).into(), ErrorKind::Unavailable, None),
            (EngineError::Invalid("no".to_owned()).into(), ErrorKind::Invalid, None),
            (
                EngineError::TooManyWaiting { waiting: 9, wait_s: 5 }.into(),
                ErrorKind::Exhausted,
                Some("too_many_waiting"),
            ),
            (model(ModelErrorClass::Auth).into(), ErrorKind::Conflict, Some("model")),
            (model(ModelErrorClass::Connect).into(), ErrorKind::Unavailable, Some("model")),
            (ConnectionsError::Fixed("no".to_owned()).into(), ErrorKind::Conflict, Some("fixed")),
            (LoginError::TooMany { seconds: 7 }.into(), ErrorKind::Exhausted, None),
        ];
        for (error, kind, code) in cases {
            assert_eq!((error.kind, error.detail.code), (kind, code), "{error:?}");
            assert!(!error.detail.hint.is_empty(), "{error:?}");
        }
        let wait = AppError::from(model(ModelErrorClass::RateLimit));
        assert_eq!(wait.detail.retry_after, Some(2));
    }
}
