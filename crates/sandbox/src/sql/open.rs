//! Opens a database so that nothing can be written through the connection, unless writing is asked for.
#![expect(unsafe_code, reason = "a file system of SQLite's is a table of functions")]

use std::ffi::{CStr, c_char, c_int};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::error::SqlError;
use crate::files::open_without_links;

/// How long a query waits for another process to release its lock.
const BUSY: Duration = Duration::from_millis(500);

/// Deepest nesting of triggers that set each other off.
const TRIGGERS: usize = 10;

/// Most bytes of one string, blob or row, also inside the query.
pub(super) const VALUE_BYTES: usize = 1 << 20;

const SQL_BYTES: usize = 100 << 10;

/// Most columns of a result.
pub(super) const COLUMNS: usize = 200;

/// Page cache of one connection, KiB; larger sorts go to temporary files.
const CACHE_KIB: i64 = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenMode {
    Read,
    /// Statements that change rows, with the database's own triggers and foreign keys.
    Write,
    /// Rows are put back as they were: neither triggers nor foreign keys may change others.
    PutBack,
}

/// A connection, and the folder that its file is in, which stays open as long as the connection.
pub(super) struct Opened {
    pub conn: Connection,
    pub folder: OwnedFd,
}

/// Whoever names a file resolves the links in its path before they decide that it may be opened, so there are none here: one
/// that is there has come since, and isn't followed. SQLite gets the path through the opened folder, so it is in this one
/// that it finds the file and those beside it, whatever happens above.
pub(super) fn connection(path: &Path, purpose: OpenMode) -> Result<Opened, SqlError> {
    let open = |reason: String| SqlError::Open { path: path.to_owned(), reason };
    let (folder, held) = held_folder(path).map_err(|e| open(e.to_string()))?;
    let meta = held.symlink_metadata().map_err(|e| open(e.to_string()))?;
    if meta.is_symlink() {
        return Err(open(LINK.to_owned()));
    }
    if !meta.is_file() {
        return Err(open("it is not a regular file".to_owned()));
    }
    // An empty file is a valid empty database to SQLite, but never what somebody meant to query.
    if meta.len() == 0 {
        return Err(open("the file is empty".to_owned()));
    }
    let access =
        if purpose == OpenMode::Read { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    let flags =
        access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_EXRESCODE;
    if purpose != OpenMode::Read
        && let Some(reason) = unsettled(&held, purpose == OpenMode::PutBack)
    {
        return Err(open(reason));
    }
    let files = file_system().ok_or_else(|| open("SQLite has no files".to_owned()))?;
    let failed = |error| classify_open(path, &held, error);
    let conn = Connection::open_with_flags_and_vfs(&held, flags, files).map_err(failed)?;
    match harden(&conn, purpose) {
        Ok(()) => Ok(Opened { conn, folder }),
        Err(e) if purpose == OpenMode::Read && is_cant_open(&e) && !has_wal(&held) => {
            // A WAL database in an unwritable folder can have no -shm; without a -wal nothing is in flight.
            let (uri, flags) = (immutable_uri(&held), flags | OpenFlags::SQLITE_OPEN_URI);
            let conn = Connection::open_with_flags_and_vfs(uri, flags, files).map_err(failed)?;
            harden(&conn, purpose).map_err(failed)?;
            Ok(Opened { conn, folder })
        }
        Err(e) => Err(failed(e)),
    }
}

const LINK: &str = "there is a symbolic link in its path; name the file itself";

/// The folder of a file, and the file's path through it.
fn held_folder(path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let (Ok(folder), Some(name)) = (path.parent().unwrap_or(path).strip_prefix("/"), path.file_name()) else {
        return Err(io::Error::other("its path isn't absolute"));
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open("/", flags, Mode::empty())?;
    let folder = open_without_links(root.as_fd(), folder, flags)
        .map_err(|error| if error == Errno::LOOP { io::Error::other(LINK) } else { error.into() })?;
    let held = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok((folder, held))
}

pub(super) fn harden(conn: &Connection, purpose: OpenMode) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, purpose == OpenMode::Write)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false)?;
    // Plans that do not depend on bound values: the program that was checked is the one that runs.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "query_only", purpose == OpenMode::Read)?;
    conn.pragma_update(None, "foreign_keys", purpose == OpenMode::Write)?;
    conn.pragma_update(None, "ignore_check_constraints", purpose == OpenMode::PutBack)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "mmap_size", 0)?;
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES),
        (Limit::SQLITE_LIMIT_COLUMN, COLUMNS),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 500),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, if purpose == OpenMode::Write { TRIGGERS } else { 1 }),
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

fn classify_open(path: &Path, held: &Path, error: rusqlite::Error) -> SqlError {
    let reason = error.to_string().replace(&held.display().to_string(), &path.display().to_string());
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

// SQLite obeys files beside a database when it opens one for writing. A journal may name any file of the machine as
// its "super-journal", which SQLite deletes once the journal is played back: whoever can put a file beside a database
// could have any file of this program's user removed. So no super-journal is opened at all, and a database with a
// change in flight is not opened for writing, except to find or undo a write of our own that was cut off.
/// How long another program is given to end a change.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn has_wal(path: &Path) -> bool {
    beside(path, "-wal").metadata().is_ok_and(|m| m.len() > 0)
}

/// `ours`: a write of our own may have been cut off there, so the journal's pages are played back.
fn unsettled(path: &Path, ours: bool) -> Option<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = look(path, ours)?;
        if Instant::now() > until {
            return Some(found);
        }
        std::thread::sleep(PATIENCE / 20);
    }
}

fn look(path: &Path, ours: bool) -> Option<String> {
    let name = |file: &Path| file.file_name().unwrap_or_default().display().to_string();
    for suffix in ["-journal", "-wal", "-shm"] {
        let file = beside(path, suffix);
        if file.symlink_metadata().is_ok_and(|m| !m.is_file()) {
            return Some(format!("{} beside it is no ordinary file; remove it", name(&file)));
        }
    }
    let journal = beside(path, "-journal");
    if !ours && is_hot(&journal) {
        return Some(format!(
            "{} beside it holds a change that has not ended, and is not obeyed. If a program is writing to the database, \
             try again in a moment; if none is, let the program that left it open the database once, or move it away \
             where you don't know whence it is",
            name(&journal)
        ));
    }
    let wal = beside(path, "-wal");
    if has_wal(path) && !beside(path, "-shm").exists() {
        return Some(format!(
            "{} beside it was left by no program that still uses the database; let the program that made it open the \
             database once, or move it away where you don't know whence it is",
            name(&wal)
        ));
    }
    None
}

/// A journal whose first byte is not 0 is played back; others are leftovers that SQLite ignores.
fn is_hot(journal: &Path) -> bool {
    let mut first = [0];
    std::fs::File::open(journal).is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first != [0])
}

/// SQLite's own file system without super-journals, which takes paths as they are: it would look where `/proc/self/fd/N`
/// leads and go there by that name.
fn file_system() -> Option<&'static CStr> {
    const NAME: &CStr = c"held-folder";
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    // SAFETY: the default one lives as long as the process, as does the copy, which differs from it in its name, the
    // link of SQLite's list and the functions that open and name files. Registering takes SQLite's own lock.
    let registered = REGISTERED.get_or_init(|| unsafe {
        let Some(usual) = ffi::sqlite3_vfs_find(std::ptr::null()).as_ref() else {
            return false;
        };
        let copy = ffi::sqlite3_vfs {
            zName: NAME.as_ptr(),
            pNext: std::ptr::null_mut(),
            xOpen: Some(open),
            xFullPathname: Some(full_path),
            ..*usual
        };
        ffi::sqlite3_vfs_register(Box::leak(Box::new(copy)), 0) == ffi::SQLITE_OK
    });
    registered.then_some(NAME)
}

/// SQLite passes a file to fill in; one that is not opened has no methods.
unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    opened: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are SQLite's own, passed on to the function that it would have called; `file` is its room
    // for one, whose methods are null as long as it is not opened.
    unsafe {
        if flags & ffi::SQLITE_OPEN_SUPER_JOURNAL != 0 {
            (*file).pMethods = std::ptr::null();
            return ffi::SQLITE_CANTOPEN;
        }
        let usual = ffi::sqlite3_vfs_find(std::ptr::null());
        match usual.as_ref().and_then(|vfs| vfs.xOpen) {
            Some(open) => open(usual, name, file, flags, opened),
            None => ffi::SQLITE_CANTOPEN,
        }
    }
}

/// `out` has room for `size` bytes.
unsafe extern "C" fn full_path(_: *mut ffi::sqlite3_vfs, name: *const c_char, size: c_int, out: *mut c_char) -> c_int {
    // SAFETY: SQLite gives a name that ends with NUL and a buffer of `size` bytes; no more than these are written.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes_with_nul();
        if usize::try_from(size).is_ok_and(|size| name.len() <= size) {
            std::ptr::copy_nonoverlapping(name.as_ptr().cast(), out, name.len());
            return ffi::SQLITE_OK;
        }
        ffi::SQLITE_CANTOPEN
    }
}
