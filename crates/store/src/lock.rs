//! One process per data directory.

use crate::error;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use steward_core::ports::{StoreError, StoreResult};

/// An exclusive lock on `steward.lock`, which holds our process id. It ends with the process; the file stays.
#[derive(Debug)]
pub(crate) struct DirLock {
    _file: File,
}

/// Longest wait for what a process that is gone has left: a child between fork and exec holds the lock as well.
const HEIRS: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
pub(crate) fn lock(data_dir: &Path) -> StoreResult<DirLock> {
    let path = data_dir.join("steward.lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| error::io(&path, &e))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(error::io(&path, &e)),
        }
        let pid = holder(&mut file);
        if !is_gone(pid) || started.elapsed() >= HEIRS {
            return Err(StoreError::InUse { path: data_dir.display().to_string(), pid });
        }
        std::thread::sleep(PAUSE);
    }
    let pid = std::process::id().to_string();
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(pid.as_bytes()))
        .map_err(|e| error::io(&path, &e))?;
    Ok(DirLock { _file: file })
}

/// Whether a process holds the directory, asked without writing anything.
pub(crate) enum Holding {
    /// Nobody does, nor will before this is dropped; `None`: there is no file to hold.
    Free(Option<File>),
    InUse,
}

pub(crate) fn look(data_dir: &Path) -> StoreResult<Holding> {
    let path = data_dir.join("steward.lock");
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Holding::Free(None)),
        Err(error) => return Err(error::io(&path, &error)),
    };
    match file.try_lock() {
        Ok(()) => Ok(Holding::Free(Some(file))),
        Err(TryLockError::WouldBlock) => Ok(Holding::InUse),
        Err(TryLockError::Error(error)) => Err(error::io(&path, &error)),
    }
}

/// The process id that the file holds; 0 where it holds none.
fn holder(file: &mut File) -> u32 {
    let mut text = String::new();
    match file.rewind().and_then(|()| file.read_to_string(&mut text)) {
        Ok(_) => text.trim().parse().unwrap_or(0),
        Err(_) => 0,
    }
}

/// Whether there is certainly no such process any more.
fn is_gone(pid: u32) -> bool {
    let processes = Path::new("/proc");
    pid != 0 && processes.join("self").exists() && !processes.join(pid.to_string()).exists()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{File, StoreError, lock};
    use std::time::Duration;

    #[test]
    fn what_a_process_that_is_gone_left_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        let refused = lock(folder.path()).unwrap_err();
        let own = std::process::id();
        assert!(matches!(refused, StoreError::InUse { pid, .. } if pid == own));
        drop(held);

        // Held by somebody who never wrote a name; the one in the file is of a process that has ended.
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let path = folder.path().join("steward.lock");
        std::fs::write(&path, child.id().to_string()).unwrap();
        let heir = File::open(&path).unwrap();
        heir.try_lock().unwrap();
        let freed = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(heir);
        });
        lock(folder.path()).unwrap();
        freed.join().unwrap();
    }
}
