use serde::Serialize;
use std::fmt;
use steward_access::AccessError;
use steward_core::RunId;
use steward_core::model::{ModelError, ModelErrorClass};
use steward_core::ports::{ConnectionsError, LoginError, ReserveError, StoreError, VaultError};
use steward_engine::EngineError;
use steward_tools::mcp::McpError;
use steward_tools::package::PackageError;
use steward_tools::skills::HostKeysError;
use steward_tools::work_pool::{PoolError, RETRY_AFTER_S};
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

impl From<StoreError> for AppError {
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
            | StoreError::OtherSchema { .. }
            | StoreError::Corrupt(_)
            | StoreError::Full(_)
            | StoreError::Backend(_) => {
                tracing::error!(error = title, "the store failed");
                Self::unavailable(title)
            }
        }
    }
}

impl From<ReserveError> for AppError {
    fn from(error: ReserveError) -> Self {
        match error {
            ReserveError::Store(error) => error.into(),
            ReserveError::Exceeded(state, resets_at) => Self::new(
                ErrorKind::Exhausted,
                state.used_up(None, resets_at),
                "wait until the budget begins anew, or ask an operator to raise it",
            )
            .code("budget_exceeded"),
        }
    }
}

impl From<EngineError> for AppError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Model(error) => error.into(),
            EngineError::NotFound(what) => Self::not_found(what),
            EngineError::Busy { run } => StoreError::Busy { run }.into(),
            EngineError::TooManyWaiting { wait_s, .. } => {
                let title = error.to_string();
                Self::new(
                    ErrorKind::Exhausted,
                    title,
                    "wait until some of them have begun, or stop those that nobody needs",
                )
                .code("too_many_waiting")
                .retry_after(wait_s)
            }
            EngineError::AlreadyDecided(title) => {
                Self::conflict("already_decided", title, "load it anew; the first decision counts")
            }
            EngineError::Tools(title) => Self::new(ErrorKind::Internal, title, "look at the agent's skills"),
            EngineError::Invalid(title) => Self::new(ErrorKind::Invalid, title, "correct the request"),
        }
    }
}

impl From<ModelError> for AppError {
    fn from(error: ModelError) -> Self {
        let kind = match error.class {
            ModelErrorClass::ContextLength | ModelErrorClass::BadRequest => ErrorKind::Invalid,
            // The connection must be set right first; the request itself may stay.
            ModelErrorClass::Auth | ModelErrorClass::UnknownModel | ModelErrorClass::Cancelled => ErrorKind::Conflict,
            ModelErrorClass::BlockedByPolicy => ErrorKind::Forbidden,
            ModelErrorClass::RateLimit
            | ModelErrorClass::Server
            | ModelErrorClass::Connect
            | ModelErrorClass::Timeout
            | ModelErrorClass::Broken
            | ModelErrorClass::Empty => ErrorKind::Unavailable,
        };
        let code = if error.class == ModelErrorClass::BlockedByPolicy { "blocked_by_policy" } else { "model" };
        let refused = Self::new(kind, error.message, error.hint).code(code);
        match error.retry_after_ms {
            Some(ms) => refused.retry_after(ms.div_ceil(1000)),
            None => refused,
        }
    }
}

impl From<ConnectionsError> for AppError {
    fn from(error: ConnectionsError) -> Self {
        match error {
            // `field: what is wrong with it`.
            ConnectionsError::Invalid(title) => match title.split_once(": ") {
                Some((field, _)) if !field.contains(' ') => {
                    Self::invalid(field.to_owned(), title, "correct the connection")
                }
                _ => Self::new(ErrorKind::Invalid, title, "correct the connection"),
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

impl From<LoginError> for AppError {
    fn from(error: LoginError) -> Self {
        let title = error.to_string();
        match error {
            LoginError::Wrong => Self::new(
                ErrorKind::Unauthorized,
                title,
                "check email and password; five failures close the login for 15 minutes",
            )
            .code("wrong_password"),
            LoginError::TooMany { seconds } => {
                Self::new(ErrorKind::Exhausted, title, "wait, then try again").retry_after(seconds)
            }
            LoginError::Token | LoginError::Stolen { .. } => Self::new(
                ErrorKind::Unauthorized,
                title,
                "send `Authorization: Bearer …` with an API key, or a token from POST /api/auth/login",
            ),
            LoginError::SecondFactor(_) => Self::new(
                ErrorKind::Unauthorized,
                title,
                "log in with POST /api/auth/login, which leads to the second step; programs use an API key",
            )
            .code("second_factor_required"),
            LoginError::Code => Self::new(
                ErrorKind::Unauthorized,
                title,
                "wait for the next code of the app, or use a recovery code; five failures close the login for 15 minutes",
            )
            .code("wrong_code"),
            LoginError::VirtualKey => {
                Self::forbidden(title, "send it to /v1; here, log in or send your own API key").code("virtual_key")
            }
            LoginError::ScimToken => {
                Self::forbidden(title, "send it to /scim/v2; here, log in or send your own API key").code("scim_token")
            }
            LoginError::Invalid(_) => Self::new(ErrorKind::Invalid, title, "correct the request"),
            LoginError::Unavailable(_) => {
                tracing::error!(error = title, "logins cannot be checked");
                Self::unavailable(title)
            }
        }
    }
}

impl From<AccessError> for AppError {
    fn from(error: AccessError) -> Self {
        let title = error.to_string();
        match error {
            AccessError::Invalid { field, .. } => Self::invalid(field, title, "correct the request"),
            AccessError::Invitation => Self::forbidden(title, "ask an administrator for a new link").code("invitation"),
            AccessError::EmailTaken(_) => {
                Self::conflict("email_taken", title, "look them up in the list of users; a new link is made there")
                    .field("email")
            }
            AccessError::GroupTaken(_) => {
                Self::conflict("group_exists", title, "choose another name, or change that group").field("name")
            }
            AccessError::FixedEmail => {
                Self::conflict("email_fixed", title, "leave the email as it is, or remove the account first")
            }
            AccessError::Disabled => Self::conflict("user_disabled", title, "enable them first"),
            AccessError::LastAdministrator => Self::conflict(
                "last_administrator",
                title,
                "make somebody else an administrator first; somebody invited counts once they have accepted",
            ),
            AccessError::SetupToken => Self::forbidden(
                title,
                "read the token from the terminal where steward runs; once there is an administrator, log in instead",
            ),
            AccessError::CurrentPassword => {
                Self::invalid("current", title, "type the password that you log in with now").code("wrong_password")
            }
            AccessError::Unknown(what) => Self::not_found(what),
            AccessError::SecondFactor(_) => {
                Self::conflict("second_factor", title, "see GET /api/auth/totp for whether there is one")
            }
            AccessError::Vault(error) => error.into(),
            AccessError::Store(error) => error.into(),
            AccessError::Login(error) => error.into(),
            AccessError::Hash(_) => {
                tracing::error!(error = title, "a password could not be hashed");
                Self::unavailable(title)
            }
        }
    }
}

impl From<VaultError> for AppError {
    fn from(error: VaultError) -> Self {
        let title = error.to_string();
        match error {
            VaultError::Unknown(what) => Self::not_found(format!("credential {what}")),
            VaultError::Invalid(_) => {
                Self::invalid("fields", title, "see GET /api/credentials/kinds for what each kind takes")
            }
            VaultError::Ambiguous(_) | VaultError::Missing(_) => {
                Self::conflict("credential", title, "name a credential in the skill or in the agent")
            }
            VaultError::OfConnection(_) => {
                Self::conflict("of_connection", title, "change the connection, or remove it, under Connections")
            }
            VaultError::Store(error) => error.into(),
            VaultError::Sealed(_) | VaultError::Key(_) => {
                tracing::error!(error = title, "the vault can't be opened");
                Self::unavailable(title)
            }
        }
    }
}

impl From<McpError> for AppError {
    fn from(error: McpError) -> Self {
        let title = error.to_string();
        match error {
            McpError::Unknown(_) | McpError::NoTool { .. } => {
                Self::new(ErrorKind::NotFound, title, "see GET /api/mcp/servers")
            }
            McpError::Store(error) => error.into(),
            McpError::Vault(error) => error.into(),
            McpError::Disabled(_) | McpError::NotAccepted { .. } | McpError::Changed { .. } => {
                Self::conflict("mcp_tool", title, "look at the server's tools and accept them")
            }
            _ => Self::invalid("", title, "correct the server's settings, or try again later"),
        }
    }
}

impl From<PoolError> for AppError {
    fn from(error: PoolError) -> Self {
        let title = error.to_string();
        match error {
            PoolError::Busy => {
                Self::new(ErrorKind::Exhausted, title, "wait for the answers to your other requests, then try again")
                    .code("too_busy")
                    .retry_after(RETRY_AFTER_S)
            }
            PoolError::BrokeOff(_) => {
                tracing::error!(error = title, "work broke off");
                Self::new(ErrorKind::Internal, "the work broke off", "see the program's log")
            }
        }
    }
}

impl From<PackageError> for AppError {
    fn from(error: PackageError) -> Self {
        let title = error.to_string();
        match error {
            PackageError::Store(error) => error.into(),
            PackageError::Pool(error) => error.into(),
            PackageError::Unknown(_) => Self::new(ErrorKind::NotFound, title, "see GET /api/skills/packages"),
            PackageError::Dangerous { .. } => Self::conflict(
                "package_dangerous",
                title,
                "look at its findings; an administrator accepts them with `dangers: true`",
            ),
            PackageError::Undeclared { .. } => Self::conflict(
                "package_undeclared",
                title,
                "declare it in the front matter of SKILL.md and import the package again",
            ),
            PackageError::OtherHash { .. } | PackageError::Taken { .. } => {
                Self::conflict("package", title, "load the package anew")
            }
            PackageError::Damaged { .. } | PackageError::Data { .. } | PackageError::Blob(_) => {
                tracing::error!(error = title, "a package can't be read");
                Self::unavailable(title)
            }
            _ => Self::invalid("file", title, "see docs/skill-packages.md for the form of a package"),
        }
    }
}

impl From<HostKeysError> for AppError {
    fn from(error: HostKeysError) -> Self {
        let title = error.to_string();
        match error {
            HostKeysError::Host(_) => Self::invalid("host", title, "write host and port apart"),
            HostKeysError::Fingerprint(_) => {
                Self::invalid("fingerprint", title, "copy it from the refusal, after you compared it with the server's")
            }
            HostKeysError::File { .. } => {
                tracing::error!(error = title, "host keys can't be read or written");
                Self::unavailable(title)
            }
        }
    }
}

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
