//! File access that cannot leave a workspace: the kernel resolves each path beneath an open folder (`openat2`), or each
//! component is opened without following links. Writes are atomic and report what was there before, for an undo.

mod error;
mod path;
mod tree;
mod write;

pub use error::{FilesError, near_matches};
pub use path::RelPath;
pub(crate) use path::open_without_links;
pub use tree::{Node, Present, PutBack, Tree};
pub use write::{Before, Staged, Written};

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, open, statat};
use rustix::io::Errno;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Largest file read whole, bytes. Default 8 MiB.
    pub read_bytes: u64,
    /// Largest file written, bytes. Default 8 MiB.
    pub write_bytes: u64,
    /// Most entries listed of a folder. Default 2000.
    pub entries: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { read_bytes: 8 << 20, write_bytes: 8 << 20, entries: 2000 }
    }
}

/// All methods block.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
    limits: FileLimits,
    given: PathBuf,
    real: PathBuf,
}

impl Workspace {
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

    /// With links resolved.
    pub fn root(&self) -> &Path {
        &self.real
    }

    /// Checks a path as a person or a model wrote it. Does not touch the file.
    pub fn resolve(&self, path: &str) -> Result<RelPath, FilesError> {
        RelPath::parse(path, &[&self.real, &self.given])
    }

    /// Whether it exists and can be reached without leaving the workspace.
    pub fn exists(&self, path: &str) -> Result<bool, FilesError> {
        let path = self.resolve(path)?;
        match self.open_at(&path, OFlags::PATH) {
            Ok(_) => Ok(true),
            Err(FilesError::NotFound { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// An existing folder is no error.
    pub fn create_dir_all(&self, path: &str) -> Result<(), FilesError> {
        let path = self.resolve(path)?;
        self.make_folders(&path, path.as_path())
    }

    fn make_folders(&self, path: &RelPath, folder: &Path) -> Result<(), FilesError> {
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

    fn open_folder(&self, path: &RelPath, folder: &Path) -> Result<OwnedFd, FilesError> {
        path::open(self.root.as_fd(), folder, OFlags::RDONLY | OFlags::DIRECTORY).map_err(|e| self.explain(path, e))
    }

    fn open_at(&self, path: &RelPath, flags: OFlags) -> Result<OwnedFd, FilesError> {
        path::open(self.root.as_fd(), path.as_path(), flags).map_err(|e| self.explain(path, e))
    }

    /// Refuses anything but a regular file.
    fn regular(path: &RelPath, file: &OwnedFd) -> Result<Stat, FilesError> {
        let stat = fstat(file).map_err(|e| FilesError::io(&path.given, e))?;
        match kind_of(&stat) {
            FileType::RegularFile => Ok(stat),
            other => Err(no_file(path, other)),
        }
    }

    /// The entry itself, not what it points to; `None` if there is none.
    fn entry(path: &RelPath, folder: &OwnedFd, name: &std::ffi::OsStr) -> Result<Option<Stat>, FilesError> {
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(FilesError::io(&path.given, e)),
        }
    }

    fn explain(&self, path: &RelPath, error: Errno) -> FilesError {
        let given = path.given.clone();
        match error {
            Errno::XDEV | Errno::LOOP => FilesError::Outside { path: given },
            Errno::NOENT => FilesError::NotFound { path: given, near: self.near(path) },
            Errno::NOTDIR => {
                FilesError::Kind { path: given, actual: "below something that is no folder", expected: "in a folder" }
            }
            Errno::ISDIR => FilesError::Kind { path: given, actual: "a folder", expected: "a file" },
            Errno::EXIST => FilesError::Exists { path: given },
            // Opening a socket, or a pipe for writing without a reader.
            Errno::NXIO => FilesError::Kind { path: given, actual: "a special file", expected: "a file" },
            other => FilesError::io(&given, other),
        }
    }

    /// Names similar to the missing one, in its folder or the first existing folder above it.
    fn near(&self, path: &RelPath) -> Vec<String> {
        let mut parts: Vec<_> = path.as_path().components().collect();
        while let Some(name) = parts.pop() {
            let folder: PathBuf = parts.iter().collect();
            let Ok(fd) = path::open(self.root.as_fd(), &folder, OFlags::RDONLY | OFlags::DIRECTORY) else {
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

    pub fn open_read(&self, path: &str) -> Result<File, FilesError> {
        let path = self.resolve(path)?;
        self.open_regular(&path).map(|(file, _)| file)
    }

    /// Up to the workspace's limit.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FilesError> {
        let path = self.resolve(path)?;
        let (file, size) = self.open_regular(&path)?;
        let max = self.limits.read_bytes;
        if size > max {
            return Err(too_large(&path, size, max));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The file can grow while it is read, and files of /proc have size 0.
        file.take(max + 1).read_to_end(&mut bytes).map_err(|e| FilesError::io(&path.given, e))?;
        let read = bytes.len() as u64;
        if read > max { Err(too_large(&path, read, max)) } else { Ok(bytes) }
    }

    fn open_regular(&self, path: &RelPath) -> Result<(File, u64), FilesError> {
        // NONBLOCK: opening a pipe must not wait for a writer before it is refused.
        let fd = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let stat = Self::regular(path, &fd)?;
        Ok((File::from(fd), u64::try_from(stat.st_size).unwrap_or(0)))
    }
}

fn too_large(path: &RelPath, size: u64, max: u64) -> FilesError {
    FilesError::TooLarge { path: path.given.clone(), size, max }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    Folder,
    File,
    /// Not followed.
    Link,
    /// A pipe, socket or device.
    Special,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Bytes that are no UTF-8 are replaced.
    pub name: String,
    pub kind: EntryKind,
    /// Bytes of a file, else 0.
    pub size: u64,
    /// Seconds since 1970.
    pub modified: i64,
}

impl Workspace {
    /// The entries sorted by name, and whether there are more than the limit.
    pub fn list(&self, path: &str) -> Result<(Vec<Entry>, bool), FilesError> {
        let path = self.resolve(path)?;
        let folder = self.open_folder(&path, path.as_path())?;
        let io = |e: Errno| FilesError::io(&path.given, e);
        let mut entries = Vec::new();
        let mut more = false;
        for item in Dir::read_from(&folder).map_err(io)? {
            let item = item.map_err(io)?;
            let name = item.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if entries.len() >= self.limits.entries {
                more = true;
                break;
            }
            // An entry can vanish after it was listed.
            let Ok(stat) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let kind = match kind_of(&stat) {
                FileType::Directory => EntryKind::Folder,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Special,
            };
            let size = if kind == EntryKind::File { u64::try_from(stat.st_size).unwrap_or(0) } else { 0 };
            let name = name.to_string_lossy().into_owned();
            entries.push(Entry { name, kind, size, modified: stat.st_mtime });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((entries, more))
    }
}

fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn no_file(path: &RelPath, kind: FileType) -> FilesError {
    let actual = match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    };
    FilesError::Kind { path: path.given.clone(), actual, expected: "a file" }
}

fn names_in(folder: &OwnedFd, limit: usize) -> Result<Vec<String>, Errno> {
    Dir::read_from(folder)?
        .filter_map(|item| match item {
            Ok(item) if matches!(item.file_name().to_bytes(), b"." | b"..") => None,
            Ok(item) => Some(Ok(item.file_name().to_string_lossy().into_owned())),
            Err(e) => Some(Err(e)),
        })
        .take(limit)
        .collect()
}
