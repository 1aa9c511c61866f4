use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use super::error::FilesError;

/// Linux's limit, bytes.
const MAX_PATH: usize = 4096;

/// Relative to the workspace, without `.` and `..`; empty for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RelPath {
    pub(super) path: PathBuf,
    /// As the caller wrote it.
    pub(super) given: String,
}

impl RelPath {
    /// `..` is resolved in the text; leaving the workspace is refused. An absolute path must lie under one of `roots`.
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

    /// Empty for the workspace itself.
    pub fn as_path(&self) -> &Path {
        &self.path
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

/// Set once the kernel turned out to lack `openat2` (before 5.6, or filtered by a container's seccomp profile).
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Opens `path` beneath `root`. Links that stay inside are followed, others give `EXDEV` or `ELOOP`.
pub(super) fn open(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_beneath(root, path, flags, ResolveFlags::NO_MAGICLINKS)
}

/// The same, where no link is followed: one in the path gives `ELOOP`, or `ENOTDIR` without `openat2`.
pub(crate) fn open_without_links(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_beneath(root, path, flags, ResolveFlags::NO_SYMLINKS)
}

fn open_beneath(root: BorrowedFd<'_>, path: &Path, flags: OFlags, links: ResolveFlags) -> Result<OwnedFd, Errno> {
    let mut flags = flags | OFlags::CLOEXEC;
    // openat2 refuses flags that make no sense together.
    if !flags.contains(OFlags::PATH) {
        flags |= OFlags::NOCTTY;
    }
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if !NO_OPENAT2.load(Ordering::Relaxed) {
        let resolve = ResolveFlags::BENEATH | links;
        loop {
            match openat2(root, path, flags, Mode::empty(), resolve) {
                // The kernel asks for another try when something was renamed during the walk.
                Err(Errno::AGAIN | Errno::INTR) => {}
                // Seccomp filters answer EPERM for calls they don't know, but so can the file itself: the walk decides.
                Err(Errno::NOSYS) => {
                    NO_OPENAT2.store(true, Ordering::Relaxed);
                    break;
                }
                Err(Errno::PERM) => break,
                done => return done,
            }
        }
    }
    walk(root, path, flags)
}

/// The same without `openat2`; follows no links.
pub(super) fn walk(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = path
        .components()
        .filter_map(|c| match c {
            Component::Normal(name) => Some(Ok(name)),
            Component::CurDir => None,
            _ => Some(Err(Errno::XDEV)),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let last = names.pop();
    let mut folder: Option<OwnedFd> = None;
    for name in names {
        let at = folder.as_ref().map_or(root, AsFd::as_fd);
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        folder = Some(openat(at, name, step, Mode::empty())?);
    }
    let at = folder.as_ref().map_or(root, AsFd::as_fd);
    match last {
        Some(name) => openat(at, name, flags | OFlags::NOFOLLOW, Mode::empty()),
        None => openat(at, ".", flags, Mode::empty()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_walk_follows_no_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/f"), "x").unwrap();
        symlink("/etc", dir.path().join("etc")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        let root = OwnedFd::from(fs::File::open(dir.path()).unwrap());
        let at = |path: &str| walk(root.as_fd(), Path::new(path), OFlags::RDONLY);
        assert!(at("a/f").is_ok() && at("").is_ok());
        for bad in ["etc/passwd", "b/f", "b", "../x", "/etc/passwd", "a/../a/f"] {
            assert!(at(bad).is_err(), "{bad}");
        }
    }
}
