use steward_sandbox::sql::SqlError;

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
    #[error("{0}")]
    Failed(String),
}

impl From<SqlError> for DatabaseError {
    fn from(error: SqlError) -> Self {
        let message = error.to_string();
        match error {
            SqlError::Syntax { message: inner, .. } if inner.starts_with("no such table: ") => Self::NotFound(inner),
            SqlError::NoUndo(why) => Self::Conflict(why),
            SqlError::Open { .. } | SqlError::Sqlite(_) | SqlError::Busy => Self::Failed(message),
            _ => Self::Refused(message),
        }
    }
}
