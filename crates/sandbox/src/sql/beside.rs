//! The files beside a database, which SQLite obeys when it opens one for writing.
//!
//! A journal may name any file of the machine as its "super-journal", which SQLite deletes once the journal is played
//! back: whoever can put a file beside a database could have any file of this program's user removed. So no super-journal
//! is opened at all, and a database with a change in flight is not opened for writing, but where a write of our own
//! that was cut off is looked for or taken back.
#![expect(unsafe_code, reason = "a file system of SQLite's is a table of functions")]

use std::ffi::{CStr, c_char, c_int};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rusqlite::ffi;

/// How long another program is given to end a change.
const PATIENCE: Duration = Duration::from_millis(500);

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether there is something in a write-ahead log beside it.
pub(super) fn has_wal(path: &Path) -> bool {
    beside(path, "-wal").metadata().is_ok_and(|m| m.len() > 0)
}

/// Why a database may not be opened for writing, if so. `ours`: a write of our own may have been cut off there, so that
/// the pages of a journal are played back.
pub(super) fn unsettled(path: &Path, ours: bool) -> Option<String> {
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

/// A journal whose first byte is not 0 is played back; the others are leftovers that SQLite ignores.
fn is_hot(journal: &Path) -> bool {
    let mut first = [0];
    std::fs::File::open(journal).is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first != [0])
}

/// The name of SQLite's own file system but for super-journals, which it has none of.
pub(super) fn file_system() -> Option<&'static CStr> {
    const NAME: &CStr = c"without-super-journals";
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    // SAFETY: the default one lives as long as the process, as does the copy, which differs from it in its name, the
    // link of SQLite's list and the function that opens. Registering takes SQLite's own lock.
    let registered = REGISTERED.get_or_init(|| unsafe {
        let Some(usual) = ffi::sqlite3_vfs_find(std::ptr::null()).as_ref() else {
            return false;
        };
        let copy = ffi::sqlite3_vfs { zName: NAME.as_ptr(), pNext: std::ptr::null_mut(), xOpen: Some(open), ..*usual };
        ffi::sqlite3_vfs_register(Box::leak(Box::new(copy)), 0) == ffi::SQLITE_OK
    });
    registered.then_some(NAME)
}

/// SQLite calls it with a file to fill in; what is not opened has no methods.
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
