//! Looks at a database before anything in its folder is opened for writing: what is refused stays as it is, byte for byte.

use crate::engine::ready;
use crate::error;
use crate::lock::{Holding, look};
use crate::migrate::{self, Found, Migration};
use crate::tx::Tx;
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use steward_core::ports::{StoreError, StoreResult};

/// Refuses a database of a newer program, or one whose steps are not ours. What else may be wrong with it is told where it
/// is opened.
pub(super) fn refuse_others(data_dir: &Path, list: &[Migration]) -> StoreResult<()> {
    let path = data_dir.join("steward.db");
    // A second handle that is closed would drop the locks that this process may have on the file.
    let Holding::Free(_held) = look(data_dir)? else {
        return Ok(());
    };
    if !path.exists() {
        return Ok(());
    }
    let log = log_of(&path);
    let seen = match inspect(&path, list) {
        // All of it may still be in the log that a killed process left; then there is little of it.
        Ok(Found::Empty) if log.metadata().is_ok_and(|log| log.len() > 0) => inspect_copy(&path, &log, list),
        seen => seen,
    };
    match seen {
        Err(error @ (StoreError::Newer { .. } | StoreError::OtherSchema { .. })) => Err(error),
        _ => Ok(()),
    }
}

fn inspect(path: &Path, list: &[Migration]) -> StoreResult<Found> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(immutable(path), flags).map_err(|error| error::sqlite(&error))?;
    ready(Box::pin(migrate::inspect(&mut Tx::Sqlite(&mut connection), list)))
}

/// With what is in the log, which can't be read where it lies without writing beside it.
fn inspect_copy(path: &Path, log: &Path, list: &[Migration]) -> StoreResult<Found> {
    let copied = || {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("steward.db");
        std::fs::copy(path, &copy)?;
        std::fs::copy(log, log_of(&copy))?;
        std::io::Result::Ok((folder, copy))
    };
    let (_folder, copy) = copied().map_err(|error| error::io(path, &error))?;
    let mut connection = Connection::open(&copy).map_err(|error| error::sqlite(&error))?;
    ready(Box::pin(migrate::inspect(&mut Tx::Sqlite(&mut connection), list)))
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    name.into()
}

/// The address under which SQLite reads a file without locks, and without its log.
fn immutable(path: &Path) -> String {
    let mut address = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte) {
            address.push(byte.into());
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address + "?immutable=1"
}
