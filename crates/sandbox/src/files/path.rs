use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::error::FilesError;

/// Longest path accepted, in bytes: Linux's own limit.
const MAX_PATH: usize = 4096;

/// A path inside a workspace: relative, without `.` and `..`; empty for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RelPath {
    pub(super) path: PathBuf,
    pub(super) given: String,
}

impl RelPath {
    /// `..` is taken away by text, as a person means it; one that would leave the workspace is refused. An absolute
    /// path is accepted if it lies under one of `roots`.
    pub(super) fn parse(given: &str, roots: &[&Path]) -> Result<Self, FilesError> {
        let invalid = |reason| FilesError::Invalid { path: given.to_owned(), reason };
        let trimmed = given.trim();
        if trimmed.is_empty() {
            return Err(invalid("it is empty; use . for the workspace"));
        }
        if trimmed.contains('\0') {
            return Err(invalid("it holds a NUL character"));
        }
        if trimmed.len() > MAX_PATH {
            return Err(invalid("it is longer than 4096 bytes"));
        }
        let outside = || FilesError::Outside { path: given.to_owned() };
        let mut text = Path::new(trimmed);
        if text.is_absolute() {
            text = roots.iter().find_map(|root| text.strip_prefix(root).ok()).ok_or_else(outside)?;
        }
        let mut path = PathBuf::new();
        for component in text.components() {
            match component {
                Component::Normal(name) if name.len() > 255 => {
                    return Err(invalid("a name is longer than 255 bytes"));
                }
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir => {
                    if !path.pop() {
                        return Err(outside());
                    }
                }
                Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        Ok(Self { path, given: given.to_owned() })
    }

    /// Relative to the workspace; empty for the workspace itself.
    pub fn as_path(&self) -> &Path {
        &self.path
    }

    /// As the caller wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Folder and name, for operations on the entry rather than on what it points to.
    pub(super) fn split(&self) -> Result<(&Path, &OsStr), FilesError> {
        match (self.path.parent(), self.path.file_name()) {
            (Some(parent), Some(name)) => Ok((parent, name)),
            _ => Err(FilesError::Kind {
                path: self.given.clone(),
                actual: "the workspace itself",
                expected: "a file in it",
            }),
        }
    }
}
