use std::path::PathBuf;

use super::policy::Limits;

#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    #[error("not allowed: {what}. {hint}")]
    Denied {
        /// Such as `table secrets`.
        what: String,
        hint: String,
    },
    #[error("the query was stopped after {ms} ms; narrow it with WHERE or LIMIT, or join on fewer rows")]
    Timeout {
        /// The allowed wall time.
        ms: u64,
    },
    #[error("the query is over a limit: {what}; make it smaller")]
    Limit {
        /// In SQLite's words if it has some.
        what: String,
    },
    #[error("the SQL is not valid: {message}{}", hint_suffix(.hint.as_deref()))]
    Syntax {
        /// SQLite's message, such as `no such column: nme`.
        message: String,
        hint: Option<String>,
    },
    #[error("the database is locked by another program; try again in a moment")]
    Busy,
    #[error("too many statements wait for this database; try again in a moment")]
    TooMany,
    #[error("cannot open the database {path}: {reason}")]
    Open { path: PathBuf, reason: String },
    #[error("{path} is not a usable SQLite database: {reason}")]
    Corrupt { path: PathBuf, reason: String },
    #[error("parameter {index} cannot be bound: {reason}")]
    Parameter {
        /// Counted from 1.
        index: usize,
        reason: String,
    },
    #[error("cannot use the database: {reason}")]
    Connect { reason: String },
    #[error("{rows} changed since; compare them with the run's trace and change them by hand")]
    Conflict {
        /// Such as `orders id=7`.
        rows: String,
    },
    #[error("the rows cannot be put back: {0}")]
    NoUndo(String),
    #[error("what it would change cannot be told: {0}")]
    NoPreview(String),
    #[error("{0}")]
    Refused(String),
    #[error("the database failed: {0}")]
    Server(String),
    #[error("SQLite failed: {}", shorten(&.0.to_string()))]
    Sqlite(rusqlite::Error),
}

/// Shortens a database's message: some repeat values of the statement, which can be long.
pub(super) fn shorten(message: &str) -> String {
    const MOST: usize = 600;
    if message.len() <= MOST {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MOST);
    format!("{} … ({} bytes in all)", &message[..end], message.len())
}

pub(super) fn denied(what: &str, hint: &str) -> SqlError {
    SqlError::Denied { what: shorten(what), hint: hint.to_owned() }
}

pub(super) fn limit(what: impl Into<String>) -> SqlError {
    SqlError::Limit { what: what.into() }
}

pub(super) fn syntax(message: impl Into<String>) -> SqlError {
    SqlError::Syntax { message: message.into(), hint: None }
}

pub(super) fn timeout(limits: &Limits) -> SqlError {
    SqlError::Timeout { ms: u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX) }
}

fn hint_suffix(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |h| format!(" ({h})"))
}

impl SqlError {
    /// A short stable word: `denied`, `timeout`, `limit`, `syntax`, `busy`, `open`, `corrupt`, `parameter`,
    /// `connect`, `conflict`, `no_undo`, `untold`, `refused`, `server` or `sqlite`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Denied { .. } => "denied",
            Self::Timeout { .. } => "timeout",
            Self::Limit { .. } => "limit",
            Self::Syntax { .. } => "syntax",
            Self::Busy | Self::TooMany => "busy",
            Self::Open { .. } => "open",
            Self::Corrupt { .. } => "corrupt",
            Self::Parameter { .. } => "parameter",
            Self::Connect { .. } => "connect",
            Self::Conflict { .. } => "conflict",
            Self::NoUndo(_) => "no_undo",
            Self::NoPreview(_) => "untold",
            Self::Refused(_) => "refused",
            Self::Server(_) => "server",
            Self::Sqlite(_) => "sqlite",
        }
    }
}
