//! Errors of the drivers, as what a caller can act on.

use rusqlite::ErrorCode;
use rusqlite::ffi;
use std::path::Path;
use steward_core::ports::{BlobError, StoreError};

/// Message of a uniqueness clash before the caller has said what it means.
const CLASH: &str = "such a row exists already";

/// Message of a transaction that PostgreSQL wants tried again.
pub(crate) const TRY_AGAIN: &str = "the transaction clashed with another one; try again";

/// An error of SQLite.
pub(crate) fn sqlite(error: &rusqlite::Error) -> StoreError {
    let text = error.to_string();
    let extended = error.sqlite_error().map_or(0, |e| e.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(text),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Corrupt(text),
        _ if extended == ffi::SQLITE_IOERR_SHMSIZE => StoreError::Full(text),
        Some(ErrorCode::ConstraintViolation)
            if extended == ffi::SQLITE_CONSTRAINT_UNIQUE || extended == ffi::SQLITE_CONSTRAINT_PRIMARYKEY =>
        {
            StoreError::Conflict(CLASH.to_owned())
        }
        Some(ErrorCode::ConstraintViolation) if extended == ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
            StoreError::NotFound("the run, conversation or user that a row belongs to".to_owned())
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Backend("the database file is locked by another program; close it and try again".to_owned())
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            StoreError::Backend(format!("{text}; give this user the right to read and write the data directory"))
        }
        _ => StoreError::Backend(text),
    }
}

/// An error of PostgreSQL.
pub(crate) fn postgres(error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(db) => match db.code().as_deref() {
            Some("23505") => StoreError::Conflict(CLASH.to_owned()),
            Some("23503") => StoreError::NotFound("the run, conversation or user that a row belongs to".to_owned()),
            Some("40001" | "40P01") => StoreError::Backend(TRY_AGAIN.to_owned()),
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
        sqlx::Error::Io(io) => {
            StoreError::Backend(format!("PostgreSQL cannot be reached ({io}); check that it runs and the database URL"))
        }
        other => StoreError::Backend(other.to_string()),
    }
}

/// An error of the file system at `path`.
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

/// An error of the blob store.
pub(crate) fn blob(error: &BlobError) -> StoreError {
    match error {
        BlobError::Io(io) if io.kind() == std::io::ErrorKind::StorageFull => StoreError::Full(io.to_string()),
        BlobError::Io(io) => StoreError::Backend(format!("cannot use a blob: {io}")),
        BlobError::Missing(_) | BlobError::Damaged(_) => StoreError::Corrupt(error.to_string()),
    }
}

/// The same error for another caller of a failed batch.
pub(crate) fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::NotFound(text) => StoreError::NotFound(text.clone()),
        StoreError::Conflict(text) => StoreError::Conflict(text.clone()),
        StoreError::Busy { run } => StoreError::Busy { run: *run },
        StoreError::CommandsWaiting { run } => StoreError::CommandsWaiting { run: *run },
        StoreError::Fenced { run, epoch } => StoreError::Fenced { run: *run, epoch: *epoch },
        StoreError::InUse { path, pid } => StoreError::InUse { path: path.clone(), pid: *pid },
        StoreError::Newer { found, known } => StoreError::Newer { found: *found, known: *known },
        StoreError::Corrupt(text) => StoreError::Corrupt(text.clone()),
        StoreError::Full(text) => StoreError::Full(text.clone()),
        StoreError::Backend(text) => StoreError::Backend(text.clone()),
    }
}

/// Says what a uniqueness clash means.
pub(crate) fn clash(error: StoreError, message: impl FnOnce() -> String) -> StoreError {
    match error {
        StoreError::Conflict(text) if text == CLASH => StoreError::Conflict(message()),
        other => other,
    }
}
