use std::path::PathBuf;

/// Why a query or a database was refused.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The statement wants something the policy does not allow, or does more than read.
    #[error("not allowed: {what}. {hint}")]
    Denied {
        /// What was asked for, such as `table secrets`.
        what: String,
        /// What may be done instead.
        hint: String,
    },
    /// The statement ran longer than the policy's wall time.
    #[error("the query was stopped after {ms} ms; narrow it with WHERE or LIMIT, or join on fewer rows")]
    Timeout {
        /// The wall time that was allowed, in milliseconds.
        ms: u64,
    },
    /// The statement or one of its values is larger than a limit.
    #[error("the query is over a limit: {what}; make it smaller")]
    Limit {
        /// Which limit, in `SQLite`'s words where it has some.
        what: String,
    },
    /// `SQLite` cannot make sense of the statement.
    #[error("the SQL is not valid: {message}{}", hint_suffix(.hint.as_deref()))]
    Syntax {
        /// `SQLite`'s message, such as `no such column: nme`.
        message: String,
        /// A near match, where there is one.
        hint: Option<String>,
    },
    /// Another process holds a lock on the database.
    #[error("the database is locked by another program; try again in a moment")]
    Busy,
    /// The file is missing, or is not something that can be opened.
    #[error("cannot open the database {path}: {reason}")]
    Open {
        /// The path as it was given.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file is not a database, or is damaged.
    #[error("{path} is not a usable SQLite database: {reason}")]
    Corrupt {
        /// The path of the database.
        path: PathBuf,
        /// `SQLite`'s message.
        reason: String,
    },
    /// A parameter cannot be bound (arrays and objects have no SQL value).
    #[error("parameter {index} cannot be bound: {reason}")]
    Parameter {
        /// Counted from 1.
        index: usize,
        /// Why.
        reason: String,
    },
    /// The server cannot be reached, or its user is not one to be used here.
    #[error("cannot use the database: {reason}")]
    Connect {
        /// Why.
        reason: String,
    },
    /// Rows are not as a write left them.
    #[error("{rows} changed since; compare them with the run's trace and change them by hand")]
    Conflict {
        /// Which, such as `orders id=7`.
        rows: String,
    },
    /// A write that cannot be taken back.
    #[error("the rows cannot be put back: {0}")]
    NoUndo(String),
    /// A write whose effect cannot be told without having it.
    #[error("what it would change cannot be told: {0}")]
    Untold(String),
    /// Whoever was told of the changes is against them.
    #[error("{0}")]
    Refused(String),
    /// Anything else that a server reports.
    #[error("the database failed: {0}")]
    Server(String),
    /// Anything else that `SQLite` reports.
    #[error("SQLite failed: {}", told(&.0.to_string()))]
    Sqlite(rusqlite::Error),
}

/// A database's message as it is told: some repeat values of the statement, which can be as long as a limit allows.
pub(super) fn told(message: &str) -> String {
    const MOST: usize = 600;
    if message.len() <= MOST {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MOST);
    format!("{} … ({} bytes in all)", &message[..end], message.len())
}

fn hint_suffix(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |h| format!(" ({h})"))
}

impl SqlError {
    /// A short stable word for the outcome: `denied`, `timeout`, `limit`, `syntax`, `busy`, `open`, `corrupt`,
    /// `parameter`, `connect`, `conflict`, `no_undo`, `untold`, `refused`, `server` or `sqlite`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Denied { .. } => "denied",
            Self::Timeout { .. } => "timeout",
            Self::Limit { .. } => "limit",
            Self::Syntax { .. } => "syntax",
            Self::Busy => "busy",
            Self::Open { .. } => "open",
            Self::Corrupt { .. } => "corrupt",
            Self::Parameter { .. } => "parameter",
            Self::Connect { .. } => "connect",
            Self::Conflict { .. } => "conflict",
            Self::NoUndo(_) => "no_undo",
            Self::Untold(_) => "untold",
            Self::Refused(_) => "refused",
            Self::Server(_) => "server",
            Self::Sqlite(_) => "sqlite",
        }
    }
}
