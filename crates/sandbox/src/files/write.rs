use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fsync, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::error::FilesError;
use super::path::RelPath;
use super::workspace::{Workspace, kind_of, word};

/// What a path held before it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Absent,
    /// A file with these bytes and permission bits.
    File {
        /// The content.
        bytes: Vec<u8>,
        /// Permission bits.
        mode: u32,
    },
    /// A file too large to keep; the change cannot be undone.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// Permission bits.
        mode: u32,
    },
    /// A file that was only appended to: cutting it to this size undoes the change.
    Size {
        /// Its size in bytes before.
        size: u64,
    },
}

/// A change that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The path in the workspace.
    pub path: PathBuf,
    /// What was there before.
    pub before: Before,
    /// Bytes of the file now; 0 when it was removed.
    pub size: u64,
}

/// Makes the names of temporary files differ within this process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Workspace {
    /// What is at `path` now, as an undo record.
    pub fn snapshot(&self, path: &str) -> Result<Before, FilesError> {
        let path = self.resolve(path)?;
        let (folder, name) = path.split()?;
        match self.open_folder(&path, folder) {
            Ok(folder) => self.before(&path, &folder, name),
            Err(FilesError::NotFound { .. }) => Ok(Before::Absent),
            Err(other) => Err(other),
        }
    }

    /// Replaces or creates a file in one step: readers see the old content or the new one. Folders on the way are
    /// made; the permission bits of an existing file are kept. A link is not written through.
    pub fn write_atomic(&self, path: &str, bytes: &[u8]) -> Result<Written, FilesError> {
        self.replace(path, bytes, None)
    }

    /// Adds to the end of a file, creating it if needed.
    pub fn append(&self, path: &str, bytes: &[u8]) -> Result<Written, FilesError> {
        let path = self.resolve(path)?;
        let (folder, name) = path.split()?;
        self.make_folders(&path, folder)?;
        let folder = self.open_folder(&path, folder)?;
        let existed = match Self::entry(&path, &folder, name)? {
            None => None,
            Some(stat) if kind_of(&stat) == FileType::RegularFile => {
                Some(u64::try_from(stat.st_size).unwrap_or(0))
            }
            Some(stat) => return Err(kind_error(&path, kind_of(&stat))),
        };
        let size = existed.unwrap_or(0) + bytes.len() as u64;
        self.fits(&path, size)?;
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK;
        let fd = openat(&folder, name, flags, Mode::from_raw_mode(0o666))
            .map_err(|e| self.explain(&path, e))?;
        Self::regular(&path, &fd)?;
        let io = |e| FilesError::io(path.given(), e);
        let mut file = File::from(fd);
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
            // A full disk must not leave half of it.
            let _ = file.set_len(existed.unwrap_or(0));
            return Err(io(error));
        }
        if existed.is_none() {
            fsync(&folder).map_err(|e| io(e.into()))?;
        }
        let before = existed.map_or(Before::Absent, |size| Before::Size { size });
        Ok(Written {
            path: path.path,
            before,
            size,
        })
    }

    /// Removes a file or a link. Folders are refused.
    pub fn remove(&self, path: &str) -> Result<Written, FilesError> {
        let path = self.resolve(path)?;
        let (folder, name) = path.split()?;
        let folder = self.open_folder(&path, folder)?;
        let before = match Self::entry(&path, &folder, name)? {
            None => return Err(self.explain(&path, Errno::NOENT)),
            Some(stat) if kind_of(&stat) == FileType::Directory => {
                return Err(kind_error(&path, FileType::Directory));
            }
            Some(stat) if kind_of(&stat) == FileType::RegularFile => {
                self.before(&path, &folder, name)?
            }
            Some(stat) => Before::TooLarge {
                size: 0,
                mode: stat.st_mode & 0o7777,
            },
        };
        unlinkat(&folder, name, AtFlags::empty()).map_err(|e| self.explain(&path, e))?;
        fsync(&folder).map_err(|e| FilesError::io(path.given(), e))?;
        Ok(Written {
            path: path.path,
            before,
            size: 0,
        })
    }

    /// Puts back what a [`Written`] reported. A file that was too large to keep is an error, and nothing changes.
    pub fn restore(&self, path: &str, before: &Before) -> Result<(), FilesError> {
        match before {
            Before::Absent => match self.remove(path) {
                Ok(_) | Err(FilesError::NotFound { .. }) => Ok(()),
                Err(other) => Err(other),
            },
            Before::File { bytes, mode } => self.replace(path, bytes, Some(*mode)).map(drop),
            Before::Size { size } => {
                let path = self.resolve(path)?;
                let fd = self.open_at(&path, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty())?;
                Self::regular(&path, &fd)?;
                let file = File::from(fd);
                file.set_len(*size)
                    .and_then(|()| file.sync_all())
                    .map_err(|e| FilesError::io(path.given(), e))
            }
            Before::TooLarge { size, .. } => Err(FilesError::TooLarge {
                path: path.to_owned(),
                size: *size,
                max: self.limits.read_bytes,
            }),
        }
    }

    fn replace(&self, path: &str, bytes: &[u8], mode: Option<u32>) -> Result<Written, FilesError> {
        let path = self.resolve(path)?;
        self.fits(&path, bytes.len() as u64)?;
        let (parent, name) = path.split()?;
        self.make_folders(&path, parent)?;
        let folder = self.open_folder(&path, parent)?;
        let before = self.before(&path, &folder, name)?;
        let mode = mode.or(match &before {
            Before::File { mode, .. } | Before::TooLarge { mode, .. } => Some(*mode),
            Before::Absent | Before::Size { .. } => None,
        });
        let temporary = temporary_name(name);
        let written = fill(&folder, &temporary, bytes, mode)
            .and_then(|()| renameat(&folder, &temporary, &folder, name).map_err(Into::into))
            .and_then(|()| fsync(&folder).map_err(Into::into));
        if let Err(error) = written {
            let _ = unlinkat(&folder, &temporary, AtFlags::empty());
            return Err(FilesError::io(path.given(), error));
        }
        Ok(Written {
            path: path.path,
            before,
            size: bytes.len() as u64,
        })
    }

    fn fits(&self, path: &RelPath, size: u64) -> Result<(), FilesError> {
        let max = self.limits.write_bytes;
        if size > max {
            return Err(FilesError::TooLarge {
                path: path.given().to_owned(),
                size,
                max,
            });
        }
        Ok(())
    }

    fn before(&self, path: &RelPath, folder: &OwnedFd, name: &OsStr) -> Result<Before, FilesError> {
        let Some(entry) = Self::entry(path, folder, name)? else {
            return Ok(Before::Absent);
        };
        let kind = kind_of(&entry);
        if kind != FileType::RegularFile {
            return Err(kind_error(path, kind));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = openat(folder.as_fd(), name, flags, Mode::empty())
            .map_err(|e| self.explain(path, e))?;
        let stat = Self::regular(path, &fd)?;
        let mode = stat.st_mode & 0o7777;
        let max = self.limits.read_bytes;
        let mut bytes = Vec::new();
        File::from(fd)
            .take(max + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| FilesError::io(path.given(), e))?;
        if bytes.len() as u64 > max {
            return Ok(Before::TooLarge {
                size: u64::try_from(stat.st_size).unwrap_or(u64::MAX),
                mode,
            });
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

/// Hidden, so that listings and watchers mostly pass over it; short, since names end at 255 bytes.
fn temporary_name(name: &OsStr) -> OsString {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let stem: String = name.to_string_lossy().chars().take(40).collect();
    format!(".{stem}.{}-{count}.tmp", std::process::id()).into()
}

fn kind_error(path: &RelPath, kind: FileType) -> FilesError {
    FilesError::Kind {
        path: path.given().to_owned(),
        actual: word(kind),
        expected: "a file",
    }
}
