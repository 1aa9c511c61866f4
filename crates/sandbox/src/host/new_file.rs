//! A new file in a folder that somebody named: it stands under its name whole, or not at all.

use super::{HostPath, HostPathError, refused, unreadable};
use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, fstatvfs, openat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

/// Removed again when it is dropped without [`HostNewFile::keep`].
#[derive(Debug)]
pub struct HostNewFile {
    folder: File,
    path: PathBuf,
    name: OsString,
    /// What it is called until it is whole.
    partial: OsString,
    file: File,
    kept: bool,
}

impl HostPath {
    /// A file that isn't there yet. Folders of what Steward or the machine starts take none. What a killed process left
    /// under the name of a part is taken over.
    pub fn create(&self, name: &OsStr) -> Result<HostNewFile, HostPathError> {
        let path = self.path.join(name);
        if !self.is_folder() || Path::new(name).file_name() != Some(name) {
            return Err(HostPathError::Kind(path));
        }
        self.refuse_programs(&path)?;
        let failed = |errno| refused(&path, errno);
        // What is opened with O_PATH can't be made durable.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = File::from(openat(&self.folder, ".", flags, Mode::empty()).map_err(failed)?);
        refuse_existing(&folder, &path, name)?;
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(".partial");
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&folder, &partial, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?);
        if !file.metadata().map_err(|error| unreadable(&path, error))?.is_file() {
            return Err(HostPathError::Kind(path));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(HostPathError::Busy(path)),
            Err(TryLockError::Error(error)) => return Err(unreadable(&path, error)),
        }
        file.set_len(0).map_err(|error| unreadable(&path, error))?;
        Ok(HostNewFile { folder, path, name: name.to_owned(), partial, file, kept: false })
    }
}

impl HostNewFile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Bytes that are free where it is.
    pub fn free_space(&self) -> io::Result<u64> {
        let found = fstatvfs(&self.file)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Gives it its name; durable when this returns.
    pub fn keep(mut self) -> Result<(), HostPathError> {
        self.file.sync_all().map_err(|error| unreadable(&self.path, error))?;
        let renamed = renameat_with(&self.folder, &self.partial, &self.folder, &self.name, RenameFlags::NOREPLACE);
        match renamed {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(HostPathError::Exists(self.path.clone())),
            // Some file systems of networks can't refuse by themselves.
            Err(Errno::INVAL | Errno::NOSYS) => {
                refuse_existing(&self.folder, &self.path, &self.name)?;
                renameat(&self.folder, &self.partial, &self.folder, &self.name)
                    .map_err(|errno| refused(&self.path, errno))?;
            }
            Err(errno) => return Err(refused(&self.path, errno)),
        }
        self.kept = true;
        self.folder.sync_all().map_err(|error| unreadable(&self.path, error))
    }
}

impl Drop for HostNewFile {
    fn drop(&mut self) {
        if !self.kept {
            // What stays is taken over by the next one of the same name.
            let _left = unlinkat(&self.folder, &self.partial, AtFlags::empty());
        }
    }
}

fn refuse_existing(folder: &File, path: &Path, name: &OsStr) -> Result<(), HostPathError> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(()),
        Ok(_) => Err(HostPathError::Exists(path.to_owned())),
        Err(errno) => Err(refused(path, errno)),
    }
}
