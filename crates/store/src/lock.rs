//! One process per data directory.

use crate::error;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use steward_core::ports::{StoreError, StoreResult};

/// An exclusive lock of the operating system on `steward.lock`, which holds our process id. It
/// ends with the process, however that ends; the file stays.
#[derive(Debug)]
pub(crate) struct DirLock {
    _file: File,
}

/// Takes the lock of `data_dir`.
pub(crate) fn lock(data_dir: &Path) -> StoreResult<DirLock> {
    let path = data_dir.join("steward.lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| error::io(&path, &e))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let pid = match file.read_to_string(&mut text) {
                Ok(_) => text.trim().parse().unwrap_or(0),
                Err(_) => 0,
            };
            return Err(StoreError::InUse {
                path: data_dir.display().to_string(),
                pid,
            });
        }
        Err(TryLockError::Error(e)) => return Err(error::io(&path, &e)),
    }
    let pid = std::process::id().to_string();
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(pid.as_bytes()))
        .map_err(|e| error::io(&path, &e))?;
    Ok(DirLock { _file: file })
}
