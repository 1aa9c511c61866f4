use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use serde::Serialize;

use super::error::FilesError;
use super::workspace::{Workspace, kind_of};

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link, not followed.
    Link,
    /// A pipe, socket or device.
    Special,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name; bytes that are no UTF-8 are replaced.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of a file, else 0.
    pub size: u64,
    /// Last change, in seconds since 1970.
    pub modified: i64,
}

impl Workspace {
    /// Entries of a folder by name, and whether there were more than the limit.
    pub fn list(&self, path: &str) -> Result<(Vec<Entry>, bool), FilesError> {
        let path = self.resolve(path)?;
        let folder = self.open_folder(&path, path.as_path())?;
        let io = |e: rustix::io::Errno| FilesError::io(path.given(), e);
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
            // An entry can vanish between being listed and being looked at.
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

pub(super) fn names_in(folder: &OwnedFd, limit: usize) -> Result<Vec<String>, rustix::io::Errno> {
    Dir::read_from(folder)?
        .filter_map(|item| match item {
            Ok(item) if matches!(item.file_name().to_bytes(), b"." | b"..") => None,
            Ok(item) => Some(Ok(item.file_name().to_string_lossy().into_owned())),
            Err(e) => Some(Err(e)),
        })
        .take(limit)
        .collect()
}
