use rusqlite::ErrorCode;
use rusqlite::ffi;
use std::path::Path;
use steward_core::ports::{BlobError, StoreError, StoreResult};

/// What a statement failed for, before the caller has said what that means.
#[derive(Debug)]
pub(crate) enum DbError {
    Duplicate,
    /// The row that this one belongs to does not exist.
    MissingParent,
    Other(StoreError),
}

impl From<DbError> for StoreError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Duplicate => Self::Conflict("such a row exists already".to_owned()),
            DbError::MissingParent => Self::NotFound("the run, conversation or user that a row belongs to".to_owned()),
            DbError::Other(error) => error,
        }
    }
}

impl DbError {
    pub(crate) fn sqlite(error: &rusqlite::Error) -> Self {
        let text = error.to_string();
        let extended = error.sqlite_error().map_or(0, |e| e.extended_code);
        Self::Other(match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full(text),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Corrupt(text),
            _ if extended == ffi::SQLITE_IOERR_SHMSIZE => StoreError::Full(text),
            Some(ErrorCode::ConstraintViolation)
                if extended == ffi::SQLITE_CONSTRAINT_UNIQUE || extended == ffi::SQLITE_CONSTRAINT_PRIMARYKEY =>
            {
                return Self::Duplicate;
            }
            Some(ErrorCode::ConstraintViolation) if extended == ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
                return Self::MissingParent;
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Backend("the database file is locked by another program; close it and try again".to_owned())
            }
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::Backend(format!("{text}; give this user the right to read and write the data directory"))
            }
            _ => StoreError::Backend(text),
        })
    }

    pub(crate) fn postgres(error: &sqlx::Error) -> Self {
        Self::Other(match error {
            _ if is_retryable(error) => clashed(),
            sqlx::Error::Database(db) => match db.code().as_deref() {
                Some("23505") => return Self::Duplicate,
                Some("23503") => return Self::MissingParent,
                Some("53100") => StoreError::Full(db.message().to_owned()),
                Some("XX001" | "XX002") => StoreError::Corrupt(db.message().to_owned()),
                Some("28000" | "28P01") => {
                    StoreError::Backend(format!("{}; check user and password in the database URL", db.message()))
                }
                Some("3D000") => {
                    StoreError::Backend(format!("{}; create it, or name another in the database URL", db.message()))
                }
                _ => StoreError::Backend(db.message().to_owned()),
            },
            sqlx::Error::PoolTimedOut => StoreError::Backend(
                "no free connection to PostgreSQL in time; it may be overloaded or unreachable".to_owned(),
            ),
            sqlx::Error::Io(io) => StoreError::Backend(format!(
                "PostgreSQL cannot be reached ({io}); check that it runs and the database URL"
            )),
            other => StoreError::Backend(other.to_string()),
        })
    }
}

pub(crate) fn sqlite(error: &rusqlite::Error) -> StoreError {
    DbError::sqlite(error).into()
}

pub(crate) fn postgres(error: &sqlx::Error) -> StoreError {
    DbError::postgres(error).into()
}

/// The transaction met another one, and may work when it is tried again.
pub(crate) fn clashed() -> StoreError {
    StoreError::Backend("the transaction clashed with another one; try again".to_owned())
}

/// Whether PostgreSQL wants the transaction tried again: a serialization failure or a deadlock.
pub(crate) fn is_retryable(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(db) if matches!(db.code().as_deref(), Some("40001" | "40P01")))
}

pub(crate) fn io(path: &Path, error: &std::io::Error) -> StoreError {
    let path = path.display();
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            StoreError::Full(format!("{path}: {error}"))
        }
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => StoreError::Backend(format!(
            "cannot write {path}: {error}; give this user the right to, or choose another \
                 directory with --data-dir"
        )),
        _ => StoreError::Backend(format!("cannot use {path}: {error}")),
    }
}

pub(crate) fn blob(error: &BlobError) -> StoreError {
    match error {
        BlobError::Io(io) if io.kind() == std::io::ErrorKind::StorageFull => StoreError::Full(io.to_string()),
        BlobError::Io(io) => StoreError::Backend(format!("cannot use a blob: {io}")),
        BlobError::Missing(_) | BlobError::Damaged(_) => StoreError::Corrupt(error.to_string()),
    }
}

/// The refusal of a statement that found no row to change.
pub(crate) fn require_changed(changed: u64, what: impl FnOnce() -> String) -> StoreResult<()> {
    if changed == 0 { Err(StoreError::NotFound(what())) } else { Ok(()) }
}

/// The error of a statement, with the message of a conflict where its row exists already.
pub(crate) fn on_duplicate(error: DbError, message: impl FnOnce() -> String) -> StoreError {
    match error {
        DbError::Duplicate => StoreError::Conflict(message()),
        other => other.into(),
    }
}
