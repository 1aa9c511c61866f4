//! How errors of other rooms are told.

use super::{AppError, ErrorKind};
use steward_access::AccessError;
use steward_core::model::{ModelError, ModelErrorClass};
use steward_core::ports::{ConnectionsError, LoginError, ReserveError, StoreError, VaultError};
use steward_engine::EngineError;
use steward_tools::mcp::McpError;
use steward_tools::package::PackageError;
use steward_tools::skills::HostKeysError;
use steward_tools::work_pool::{PoolError, RETRY_AFTER_S};

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
