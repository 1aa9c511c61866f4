use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, mkdirat, open, statat};
use rustix::io::Errno;

use super::beneath;
use super::error::FilesError;
use super::list::names_in;
use super::near::near_matches;
use super::path::RelPath;

/// Size limits of file operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Largest file read whole, in bytes. Default 8 MiB.
    pub read_bytes: u64,
    /// Largest file written, in bytes. Default 8 MiB.
    pub write_bytes: u64,
    /// Most entries of a folder listed. Default 2000.
    pub entries: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { read_bytes: 8 << 20, write_bytes: 8 << 20, entries: 2000 }
    }
}

/// A folder that file operations cannot leave. Its methods block.
#[derive(Debug)]
pub struct Workspace {
    pub(super) root: OwnedFd,
    pub(super) limits: FileLimits,
    given: PathBuf,
    real: PathBuf,
}

impl Workspace {
    /// Opens an existing folder as a workspace.
    pub fn open(dir: impl AsRef<Path>, limits: FileLimits) -> Result<Self, FilesError> {
        let given = dir.as_ref();
        let shown = given.display().to_string();
        let io = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound => FilesError::NotFound { path: shown.clone(), near: Vec::new() },
            _ => FilesError::io(&shown, e),
        };
        let real = given.canonicalize().map_err(io)?;
        if !real.is_dir() {
            return Err(FilesError::Kind { path: shown, actual: "a file", expected: "a folder" });
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(&real, flags, Mode::empty()).map_err(|e| FilesError::io(&shown, e))?;
        Ok(Self { root, limits, given: given.to_owned(), real })
    }

    /// The real path of the workspace.
    pub fn root(&self) -> &Path {
        &self.real
    }

    /// The limits it was opened with.
    pub fn limits(&self) -> FileLimits {
        self.limits
    }

    /// Checks a path as a person or a model wrote it. Does not touch the file.
    pub fn resolve(&self, path: &str) -> Result<RelPath, FilesError> {
        RelPath::parse(path, &[&self.real, &self.given])
    }

    /// Whether something exists there that is reachable without leaving the workspace.
    pub fn exists(&self, path: &str) -> Result<bool, FilesError> {
        let path = self.resolve(path)?;
        match self.open_at(&path, OFlags::PATH, Mode::empty()) {
            Ok(_) => Ok(true),
            Err(FilesError::NotFound { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Makes a folder and the folders above it; one that exists already is no error.
    pub fn create_dir_all(&self, path: &str) -> Result<(), FilesError> {
        let path = self.resolve(path)?;
        self.make_folders(&path, path.as_path())
    }

    pub(super) fn make_folders(&self, path: &RelPath, folder: &Path) -> Result<(), FilesError> {
        let mut at = PathBuf::new();
        for name in folder.components() {
            let parent = self.open_folder(path, &at)?;
            at.push(name);
            match mkdirat(&parent, name.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(self.explain(path, e)),
            }
        }
        self.open_folder(path, folder).map(drop)
    }

    pub(super) fn open_folder(&self, path: &RelPath, folder: &Path) -> Result<OwnedFd, FilesError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        beneath::open(self.root.as_fd(), folder, flags, Mode::empty()).map_err(|e| self.explain(path, e))
    }

    pub(super) fn open_at(&self, path: &RelPath, flags: OFlags, mode: Mode) -> Result<OwnedFd, FilesError> {
        beneath::open(self.root.as_fd(), path.as_path(), flags, mode).map_err(|e| self.explain(path, e))
    }

    /// An opened file that is a regular one.
    pub(super) fn regular(path: &RelPath, file: &OwnedFd) -> Result<Stat, FilesError> {
        let stat = fstat(file).map_err(|e| FilesError::io(&path.given, e))?;
        match kind_of(&stat) {
            FileType::RegularFile => Ok(stat),
            other => Err(FilesError::Kind { path: path.given.clone(), actual: word(other), expected: "a file" }),
        }
    }

    /// The entry itself, not what it points to; `None` if there is none.
    pub(super) fn entry(path: &RelPath, folder: &OwnedFd, name: &std::ffi::OsStr) -> Result<Option<Stat>, FilesError> {
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(FilesError::io(&path.given, e)),
        }
    }

    pub(super) fn explain(&self, path: &RelPath, error: Errno) -> FilesError {
        let given = path.given.clone();
        match error {
            Errno::XDEV | Errno::LOOP => FilesError::Outside { path: given },
            Errno::NOENT => FilesError::NotFound { path: given, near: self.near(path) },
            Errno::NOTDIR => {
                FilesError::Kind { path: given, actual: "below something that is no folder", expected: "in a folder" }
            }
            Errno::ISDIR => FilesError::Kind { path: given, actual: "a folder", expected: "a file" },
            Errno::EXIST => FilesError::Exists { path: given },
            // Opening a socket, or a fifo for writing that nobody reads.
            Errno::NXIO => FilesError::Kind { path: given, actual: "a special file", expected: "a file" },
            other => FilesError::io(&given, other),
        }
    }

    /// Names like the missing one in its folder, or the first folder above it that exists.
    fn near(&self, path: &RelPath) -> Vec<String> {
        let mut parts: Vec<_> = path.as_path().components().collect();
        while let Some(name) = parts.pop() {
            let folder: PathBuf = parts.iter().collect();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let Ok(fd) = beneath::open(self.root.as_fd(), &folder, flags, Mode::empty()) else {
                continue;
            };
            let Ok(names) = names_in(&fd, self.limits.entries) else {
                return Vec::new();
            };
            let wanted = name.as_os_str().to_string_lossy();
            return near_matches(&wanted, names.iter().map(String::as_str))
                .into_iter()
                .map(|n| folder.join(n).display().to_string())
                .collect();
        }
        Vec::new()
    }
}

pub(super) fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(super) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    }
}
