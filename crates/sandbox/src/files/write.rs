use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fchmod, fsync, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use super::error::FilesError;
use super::path::RelPath;
use super::{Workspace, kind_of, no_file, too_large};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    Absent,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// Too large to keep; the change cannot be undone.
    TooLarge {
        /// Bytes.
        size: u64,
        mode: u32,
    },
    /// Only appended to: cutting the file to this size undoes the change.
    Size {
        /// Bytes before the change.
        size: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub path: PathBuf,
    pub before: Before,
    /// Bytes now; 0 if it was removed.
    pub size: u64,
}

/// A file written in full beside its target, which it replaces in one step; removed if dropped before that.
#[derive(Debug)]
pub struct Staged {
    pub path: PathBuf,
    pub before: Before,
    size: u64,
    given: String,
    folder: OwnedFd,
    name: OsString,
    temporary: OsString,
    /// Not removed on drop.
    stays: bool,
}

impl Staged {
    /// Keeps it from being removed on drop, since others know of it.
    pub fn leave(&mut self) {
        self.stays = true;
    }

    /// Readers see the old content or the new one. A file that did not exist before is not overwritten.
    pub fn place(mut self) -> Result<Written, FilesError> {
        self.stays = false;
        let io = |error: Errno| FilesError::io(&self.given, error);
        let (folder, temporary, name) = (&self.folder, &self.temporary, &self.name);
        let fresh = self.before == Before::Absent;
        let flags = if fresh { RenameFlags::NOREPLACE } else { RenameFlags::empty() };
        match renameat_with(folder, temporary, folder, name, flags) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(FilesError::Exists { path: self.given.clone() }),
            // Some file systems have no flags.
            Err(Errno::INVAL | Errno::NOSYS) if fresh => renameat(folder, temporary, folder, name).map_err(io)?,
            Err(error) => return Err(io(error)),
        }
        self.stays = true;
        fsync(&self.folder).map_err(|error| FilesError::io(&self.given, error))?;
        Ok(Written {
            path: std::mem::take(&mut self.path),
            before: std::mem::replace(&mut self.before, Before::Absent),
            size: self.size,
        })
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.stays {
            let _ = unlinkat(&self.folder, &self.temporary, AtFlags::empty());
        }
    }
}

/// Makes the names of temporary files unique within this process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Workspace {
    pub fn snapshot(&self, path: &str) -> Result<Before, FilesError> {
        let path = self.resolve(path)?;
        let (folder, name) = path.split()?;
        self.before_at(&path, folder, name)
    }

    /// Also where there is no such folder.
    fn before_at(&self, path: &RelPath, folder: &Path, name: &OsStr) -> Result<Before, FilesError> {
        match self.open_folder(path, folder) {
            Ok(folder) => self.before(path, &folder, name),
            Err(FilesError::NotFound { .. }) => Ok(Before::Absent),
            Err(other) => Err(other),
        }
    }

    /// In one step: readers see the old content or the new. Creates folders, keeps permission bits, follows no link.
    pub fn write_atomic(&self, path: &str, bytes: &[u8]) -> Result<Written, FilesError> {
        self.replace(path, bytes, None)
    }

    /// Writes beside `path`, under a name made unique by `tag`; [`Staged::place`] moves it. Replaces a leftover.
    pub fn stage(&self, path: &str, bytes: &[u8], tag: &str) -> Result<Staged, FilesError> {
        self.prepare(path, bytes, None, tag)
    }

    /// What is still staged for `path` under this tag.
    pub fn staged(&self, path: &str, tag: &str) -> Result<Option<Vec<u8>>, FilesError> {
        let path = self.resolve(path)?;
        let (folder, name) = path.split()?;
        match self.before_at(&path, folder, &temporary_name(name, tag))? {
            Before::File { bytes, .. } => Ok(Some(bytes)),
            Before::Absent | Before::Size { .. } => Ok(None),
            Before::TooLarge { size, .. } => Err(too_large(&path, size, self.limits.read_bytes)),
        }
    }

    pub fn unstage(&self, path: &str, tag: &str) -> Result<(), FilesError> {
        let path = self.resolve(path)?;
        let (folder, name) = path.split()?;
        let folder = self.open_folder(&path, folder)?;
        match unlinkat(&folder, temporary_name(name, tag), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(self.explain(&path, e)),
        }
    }

    /// Folders are refused.
    pub fn remove(&self, path: &str) -> Result<Written, FilesError> {
        let path = self.resolve(path)?;
        let (folder, name) = path.split()?;
        let folder = self.open_folder(&path, folder)?;
        let before = match Self::entry(&path, &folder, name)? {
            None => return Err(self.explain(&path, Errno::NOENT)),
            Some(stat) if kind_of(&stat) == FileType::Directory => {
                return Err(no_file(&path, FileType::Directory));
            }
            Some(stat) if kind_of(&stat) == FileType::RegularFile => self.before(&path, &folder, name)?,
            Some(stat) => Before::TooLarge { size: 0, mode: stat.st_mode & 0o7777 },
        };
        unlinkat(&folder, name, AtFlags::empty()).map_err(|e| self.explain(&path, e))?;
        fsync(&folder).map_err(|e| FilesError::io(&path.given, e))?;
        Ok(Written { path: path.path, before, size: 0 })
    }

    /// Restores what a [`Written`] reported. If that was too large to keep, this is an error and nothing changes.
    pub fn restore(&self, path: &str, before: &Before) -> Result<(), FilesError> {
        match before {
            Before::Absent => match self.remove(path) {
                Ok(_) | Err(FilesError::NotFound { .. }) => Ok(()),
                Err(other) => Err(other),
            },
            Before::File { bytes, mode } => self.replace(path, bytes, Some(*mode)).map(drop),
            Before::Size { size } => {
                let path = self.resolve(path)?;
                let fd = self.open_at(&path, OFlags::WRONLY | OFlags::NONBLOCK)?;
                Self::regular(&path, &fd)?;
                let file = File::from(fd);
                file.set_len(*size).and_then(|()| file.sync_all()).map_err(|e| FilesError::io(&path.given, e))
            }
            Before::TooLarge { size, .. } => {
                Err(FilesError::TooLarge { path: path.to_owned(), size: *size, max: self.limits.read_bytes })
            }
        }
    }

    fn replace(&self, path: &str, bytes: &[u8], mode: Option<u32>) -> Result<Written, FilesError> {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let tag = format!("{}-{count}", std::process::id());
        self.prepare(path, bytes, mode, &tag)?.place()
    }

    fn prepare(&self, path: &str, bytes: &[u8], mode: Option<u32>, tag: &str) -> Result<Staged, FilesError> {
        let path = self.resolve(path)?;
        let (size, max) = (bytes.len() as u64, self.limits.write_bytes);
        if size > max {
            return Err(too_large(&path, size, max));
        }
        let (parent, name) = path.split()?;
        let name = name.to_owned();
        self.make_folders(&path, parent)?;
        let folder = self.open_folder(&path, parent)?;
        let before = self.before(&path, &folder, &name)?;
        let mode = mode.or(match &before {
            Before::File { mode, .. } | Before::TooLarge { mode, .. } => Some(*mode),
            Before::Absent | Before::Size { .. } => None,
        });
        let temporary = temporary_name(&name, tag);
        let io = |error| FilesError::io(&path.given, error);
        match unlinkat(&folder, &temporary, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(io(error.into())),
        }
        let filled = fill(&folder, &temporary, bytes, mode).and_then(|()| fsync(&folder).map_err(Into::into));
        if let Err(error) = filled {
            let _ = unlinkat(&folder, &temporary, AtFlags::empty());
            return Err(io(error));
        }
        Ok(Staged { before, size, given: path.given, path: path.path, folder, name, temporary, stays: false })
    }

    fn before(&self, path: &RelPath, folder: &OwnedFd, name: &OsStr) -> Result<Before, FilesError> {
        let Some(entry) = Self::entry(path, folder, name)? else {
            return Ok(Before::Absent);
        };
        let kind = kind_of(&entry);
        if kind != FileType::RegularFile {
            return Err(no_file(path, kind));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = openat(folder.as_fd(), name, flags, Mode::empty()).map_err(|e| self.explain(path, e))?;
        let stat = Self::regular(path, &fd)?;
        let mode = stat.st_mode & 0o7777;
        let max = self.limits.read_bytes;
        let mut bytes = Vec::new();
        File::from(fd).take(max + 1).read_to_end(&mut bytes).map_err(|e| FilesError::io(&path.given, e))?;
        if bytes.len() as u64 > max {
            return Ok(Before::TooLarge { size: u64::try_from(stat.st_size).unwrap_or(u64::MAX), mode });
        }
        Ok(Before::File { bytes, mode })
    }
}

fn fill(folder: &OwnedFd, name: &OsStr, bytes: &[u8], mode: Option<u32>) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = openat(folder, name, flags, Mode::from_raw_mode(0o666))?;
    if let Some(mode) = mode {
        fchmod(&fd, Mode::from_raw_mode(mode))?;
    }
    let mut file = File::from(fd);
    file.write_all(bytes)?;
    file.sync_all()
}

/// Hidden, so that most listings and watchers skip it; short, since names end at 255 bytes.
fn temporary_name(name: &OsStr, tag: &str) -> OsString {
    let stem: String = name.to_string_lossy().chars().take(40).collect();
    format!(".{stem}.{tag}.tmp").into()
}
