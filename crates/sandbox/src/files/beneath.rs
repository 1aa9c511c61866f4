//! Opening a path beneath a folder.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// Set once the kernel turned out to lack `openat2` (before 5.6, or filtered by a container's seccomp profile).
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Opens `path` beneath `root`. Links that stay inside are followed, others are `EXDEV` or `ELOOP`.
pub(super) fn open(root: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut flags = flags | OFlags::CLOEXEC;
    // openat2 refuses flags that make no sense together.
    if !flags.contains(OFlags::PATH) {
        flags |= OFlags::NOCTTY;
    }
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if !NO_OPENAT2.load(Ordering::Relaxed) {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        loop {
            match openat2(root, path, flags, mode, resolve) {
                // The kernel asks for another try when something was renamed during the walk.
                Err(Errno::AGAIN | Errno::INTR) => {}
                // Filters answer EPERM for calls they don't know; so can the file itself. The walk decides.
                Err(Errno::NOSYS) => {
                    NO_OPENAT2.store(true, Ordering::Relaxed);
                    break;
                }
                Err(Errno::PERM) => break,
                done => return done,
            }
        }
    }
    walk(root, path, flags, mode)
}

/// The same without `openat2`: no link is followed at all.
pub(super) fn walk(root: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
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
        Some(name) => openat(at, name, flags | OFlags::NOFOLLOW, mode),
        None => openat(at, ".", flags, mode),
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
        let at = |path: &str| walk(root.as_fd(), Path::new(path), OFlags::RDONLY, Mode::empty());
        assert!(at("a/f").is_ok() && at("").is_ok());
        for bad in ["etc/passwd", "b/f", "b", "../x", "/etc/passwd", "a/../a/f"] {
            assert!(at(bad).is_err(), "{bad}");
        }
    }
}
