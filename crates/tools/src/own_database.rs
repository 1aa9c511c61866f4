//! What an agent keeps in a private database, and what it writes down about it.

mod files;
mod manage;
mod metatron;
mod query;
mod result;
mod update_schema;

pub use files::OwnDatabases;
pub use manage::DatabaseFacts;
pub use metatron::Instruction;
pub use query::DbQuery;
pub use update_schema::{MAX_DOC_CHARS, UpdateDbSchema};

pub use steward_sandbox::sql::Rows;
use steward_sandbox::sql::SqlError;
pub use steward_sandbox::sql::private_database::Imported;

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("{0}")]
    NotFound(String),
    /// The statement or the file can't be that.
    #[error("{0}")]
    Refused(String),
    /// It is not in a state for that.
    #[error("{0}")]
    Conflict(String),
    /// Too many statements wait for it.
    #[error("{0}")]
    Busy(String),
    #[error("{0}")]
    Failed(String),
}

impl From<SqlError> for DatabaseError {
    fn from(error: SqlError) -> Self {
        let message = error.to_string();
        match error {
            SqlError::Syntax { message: inner, .. } if inner.starts_with("no such table: ") => Self::NotFound(inner),
            SqlError::NoUndo(why) => Self::Conflict(why),
            SqlError::TooMany => Self::Busy(message),
            SqlError::Open { .. } | SqlError::Sqlite(_) | SqlError::Busy => Self::Failed(message),
            _ => Self::Refused(message),
        }
    }
}
