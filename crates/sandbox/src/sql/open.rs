//! Opening a database: so that nothing can be written through the connection, unless writing is asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::beside;
use super::error::SqlError;
use super::policy::Limits;

/// How long a query waits for another process to release its lock.
const BUSY: Duration = Duration::from_millis(500);

/// Triggers that set each other off.
const TRIGGERS: usize = 10;

/// Page cache of one connection, in KiB; larger sorts go to temporary files rather than memory.
const CACHE_KIB: i64 = 8192;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Queries.
    Read,
    /// Statements that change rows, with the database's own triggers and foreign keys.
    Write,
    /// Rows put back as they were: neither triggers nor foreign keys may change others.
    PutBack,
}

pub(super) fn connection(path: &Path, limits: &Limits, purpose: Use) -> Result<(Connection, PathBuf), SqlError> {
    let open = |reason: String| SqlError::Open { path: path.to_owned(), reason };
    let real = path.canonicalize().map_err(|e| open(e.to_string()))?;
    let meta = real.metadata().map_err(|e| open(e.to_string()))?;
    if !meta.is_file() {
        return Err(open("it is not a regular file".to_owned()));
    }
    // An empty file is a valid empty database to SQLite, but never what somebody meant to query.
    if meta.len() == 0 {
        return Err(open("the file is empty".to_owned()));
    }
    let access =
        if purpose == Use::Read { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    let flags =
        access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let conn = if purpose == Use::Read {
        Connection::open_with_flags(&real, flags)
    } else {
        if let Some(reason) = beside::unsettled(&real, purpose == Use::PutBack) {
            return Err(open(reason));
        }
        let files = beside::file_system().ok_or_else(|| open("SQLite has no files".to_owned()))?;
        Connection::open_with_flags_and_vfs(&real, flags, files)
    };
    let conn = conn.map_err(|e| classify_open(path, e))?;
    let conn = match harden(&conn, limits, purpose) {
        Ok(()) => conn,
        Err(e) if purpose == Use::Read && is_cant_open(&e) && !beside::has_wal(&real) => {
            // A WAL database in a folder that cannot be written: no -shm can be made. Without a -wal there is
            // nothing in flight, so it can be read as an unchanging file.
            let uri = immutable_uri(&real);
            let conn = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
                .map_err(|e| classify_open(path, e))?;
            harden(&conn, limits, purpose).map_err(|e| classify_open(path, e))?;
            conn
        }
        Err(e) => return Err(classify_open(path, e)),
    };
    Ok((conn, real))
}

pub(super) fn harden(conn: &Connection, limits: &Limits, purpose: Use) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, purpose == Use::Write)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false)?;
    // Plans that do not depend on bound values: the program that was checked is the one that runs.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "query_only", purpose == Use::Read)?;
    conn.pragma_update(None, "foreign_keys", purpose == Use::Write)?;
    conn.pragma_update(None, "ignore_check_constraints", purpose == Use::PutBack)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "mmap_size", 0)?;
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, limits.value_bytes),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, limits.sql_bytes),
        (Limit::SQLITE_LIMIT_COLUMN, limits.columns),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, limits.expr_depth),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, limits.compound),
        (Limit::SQLITE_LIMIT_VDBE_OP, limits.program),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 500),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, if purpose == Use::Write { TRIGGERS } else { 1 }),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        conn.set_limit(limit, i32::try_from(value).unwrap_or(i32::MAX))?;
    }
    // Reads the header and the schema, so that a file that is no database fails here with its own error.
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get::<_, i64>(0))?;
    Ok(())
}

fn is_cant_open(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn immutable_uri(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn classify_open(path: &Path, error: rusqlite::Error) -> SqlError {
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            SqlError::Corrupt { path: path.to_owned(), reason }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            SqlError::Open { path: path.to_owned(), reason }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqlError::Busy,
        _ => SqlError::Sqlite(error),
    }
}
