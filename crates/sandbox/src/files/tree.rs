//! Records the whole workspace before and after a program runs, and restores what it changed. Names are opened in their
//! folder without following a link, and what was opened counts, since the program may still be running.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, chmod, fchmod, fstat, linkat, mkdirat, openat, readlinkat, statat, symlinkat,
    unlinkat,
};

use super::{Workspace, kind_of, path};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Folder {
        mode: u32,
    },
    Link {
        /// As stored in the link.
        target: String,
    },
    File {
        mode: u32,
        bytes: Vec<u8>,
        /// The first of its names, where this is another one (a hard link).
        same_as: Option<String>,
    },
}

/// By path, relative to the workspace.
pub type Tree = BTreeMap<String, Node>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Present {
    Nothing,
    Folder,
    /// A file or a link.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    pub path: String,
    /// `None` if nothing is to be there.
    pub node: Option<Node>,
    pub present: Present,
}

impl Workspace {
    /// Records up to `nodes` entries and `bytes`. The error says why the workspace can't be recorded.
    pub fn tree(&self, nodes: usize, bytes: u64) -> Result<Tree, String> {
        let mut reader = Reader { tree: Tree::new(), nodes, bytes, left: bytes, names: BTreeMap::new() };
        let root = openat(&self.root, ".", FOLDER, Mode::empty()).map_err(|e| trouble("", e))?;
        reader.folder(&root, "")?;
        Ok(reader.joined())
    }

    /// Removes deepest first, creates outermost first, then sets the modes of folders, since one may forbid writing.
    pub fn put_back(&self, wanted: &[PutBack]) -> io::Result<()> {
        let root = self.root.as_fd();
        for one in wanted.iter().filter(|one| one.present == Present::Folder) {
            set_folder_mode(root, &one.path, 0o700)?;
        }
        for one in wanted.iter().rev() {
            let stays = matches!(one.node, Some(Node::Folder { .. }));
            let flags = match one.present {
                Present::Folder if !stays => AtFlags::REMOVEDIR,
                Present::Other => AtFlags::empty(),
                Present::Nothing | Present::Folder => continue,
            };
            let (parent, name) = parent(root, &one.path)?;
            unlinkat(&parent, name, flags)?;
        }
        // Not checked for existence first: it may have been in a folder that is gone. Other names of a file come after it.
        let (files, names): (Vec<_>, Vec<_>) =
            wanted.iter().partition(|one| !matches!(one.node, Some(Node::File { same_as: Some(_), .. })));
        for one in files.into_iter().chain(names) {
            let Some(node) = &one.node else { continue };
            if matches!(node, Node::Folder { .. }) && one.present == Present::Folder {
                continue;
            }
            let (parent, name) = parent(root, &one.path)?;
            match node {
                Node::Folder { .. } => mkdirat(&parent, name, Mode::from_raw_mode(0o700))?,
                Node::Link { target } => symlinkat(target.as_str(), &parent, name)?,
                Node::File { same_as: Some(first), bytes, mode }
                    if link(root, (first, bytes, *mode), &parent, name)? => {}
                Node::File { mode, bytes, .. } => {
                    let fd = openat(&parent, name, NEW_FILE, Mode::from_raw_mode(0o600))?;
                    let mut file = File::from(fd);
                    file.write_all(bytes)?;
                    fchmod(&file, Mode::from_raw_mode(*mode))?;
                }
            }
        }
        for one in wanted.iter().rev() {
            if let Some(Node::Folder { mode }) = one.node {
                set_folder_mode(root, &one.path, mode)?;
            }
        }
        Ok(())
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
// NONBLOCK: opening a pipe must not wait for a writer before it is refused.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn trouble(within: &str, error: impl Into<io::Error>) -> String {
    format!("the workspace could not be kept: {within}: {}", error.into())
}

/// Gives the file `first` another name, if it still is a file with this content.
fn link(
    root: BorrowedFd<'_>,
    (first, bytes, mode): (&str, &[u8], u32),
    folder: &OwnedFd,
    name: &OsStr,
) -> io::Result<bool> {
    let Ok((place, other)) = parent(root, first) else { return Ok(false) };
    let Ok(fd) = openat(&place, other, READ, Mode::empty()) else { return Ok(false) };
    let about = fstat(&fd)?;
    let mut found = Vec::new();
    if kind_of(&about) == FileType::RegularFile && about.st_mode & 0o7777 == mode {
        File::from(fd).take(bytes.len() as u64 + 1).read_to_end(&mut found)?;
    }
    let same = about.st_mode & 0o7777 == mode && found == bytes;
    Ok(same && linkat(&place, other, folder, name, AtFlags::empty()).is_ok())
}

struct Reader {
    tree: Tree,
    nodes: usize,
    bytes: u64,
    left: u64,
    /// Of files with several names: these names, by device and inode.
    names: BTreeMap<(u64, u64), Vec<String>>,
}

impl Reader {
    /// The tree, in which the later names of a file say so.
    fn joined(mut self) -> Tree {
        for mut names in self.names.into_values() {
            names.sort_unstable();
            let mut names = names.into_iter();
            let Some(first) = names.next() else { continue };
            for name in names {
                if let Some(Node::File { same_as, .. }) = self.tree.get_mut(&name) {
                    *same_as = Some(first.clone());
                }
            }
        }
        self.tree
    }

    fn folder(&mut self, folder: &OwnedFd, within: &str) -> Result<(), String> {
        let listed = Dir::read_from(folder).map_err(|e| trouble(within, e))?;
        for item in listed {
            let item = item.map_err(|e| trouble(within, e))?;
            let name = item.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let text = name.to_str().map_err(|_| "a file has a name that is no text")?;
            let path = if within.is_empty() { text.to_owned() } else { format!("{within}/{text}") };
            if self.tree.len() >= self.nodes {
                return Err(format!("the workspace holds more than {} files", self.nodes));
            }
            let failed = |e: rustix::io::Errno| trouble(&path, e);
            let seen = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
            match kind_of(&seen) {
                FileType::Directory => {
                    let inner = openat(folder, name, FOLDER, Mode::empty()).map_err(failed)?;
                    let mode = mode_of(&inner).map_err(failed)?;
                    self.tree.insert(path.clone(), Node::Folder { mode });
                    self.folder(&inner, &path)?;
                }
                FileType::Symlink => {
                    let target = readlinkat(folder, name, Vec::new()).map_err(failed)?;
                    let target = CString::into_string(target).map_err(|_| "a link leads to what is no text")?;
                    self.tree.insert(path, Node::Link { target });
                }
                FileType::RegularFile => {
                    let node = self.file(folder, name, &path)?;
                    self.tree.insert(path, node);
                }
                _ => return Err(format!("{path} is no file, folder or link")),
            }
        }
        Ok(())
    }

    fn file(&mut self, folder: &OwnedFd, name: &std::ffi::CStr, path: &str) -> Result<Node, String> {
        let failed = |e: rustix::io::Errno| trouble(path, e);
        let fd = openat(folder, name, READ, Mode::empty()).map_err(failed)?;
        let about = fstat(&fd).map_err(failed)?;
        if kind_of(&about) != FileType::RegularFile {
            return Err(format!("{path} was replaced while it was read"));
        }
        if about.st_nlink > 1 {
            self.names.entry((about.st_dev, about.st_ino)).or_default().push(path.to_owned());
        }
        let mut bytes = Vec::new();
        // It can grow while it is read.
        File::from(fd).take(self.left + 1).read_to_end(&mut bytes).map_err(|e| trouble(path, e))?;
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| format!("the workspace holds more than {} MB", self.bytes >> 20))?;
        Ok(Node::File { mode: about.st_mode & 0o7777, bytes, same_as: None })
    }
}

fn mode_of(fd: &OwnedFd) -> rustix::io::Result<u32> {
    Ok(fstat(fd)?.st_mode & 0o7777)
}

/// Opens the folder that holds a path without following links on the way; and the name in it.
fn parent<'p>(root: BorrowedFd<'_>, path: &'p str) -> io::Result<(OwnedFd, &'p OsStr)> {
    let path = checked(path)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("the workspace itself is not put back"));
    };
    Ok((path::walk(root, parent, FOLDER)?, name))
}

fn checked(path: &str) -> io::Result<&Path> {
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(io::Error::other(format!("{path} is no path of the workspace")));
    }
    Ok(Path::new(path))
}

/// Through a descriptor that needs no right to read the folder.
fn set_folder_mode(root: BorrowedFd<'_>, path: &str, mode: u32) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = path::walk(root, checked(path)?, flags)?;
    chmod(format!("/proc/self/fd/{}", fd.as_raw_fd()), Mode::from_raw_mode(mode))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use super::*;
    use crate::files::FileLimits;

    const SECRET: &str = "of somebody else";

    fn setting() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["workspace/a/b", "outside/b"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("workspace/a/b/f"), "own").unwrap();
        fs::write(dir.path().join("outside/b/f"), SECRET).unwrap();
        let workspace = Workspace::open(dir.path().join("workspace"), FileLimits::default()).unwrap();
        (dir, workspace)
    }

    /// Swaps `a` for a link to a folder outside and back, as fast as it can, while `work` goes on.
    fn while_swapping(dir: &Path, work: impl Fn()) {
        let done = AtomicBool::new(false);
        let (folder, link) = (dir.join("workspace/a"), dir.join("workspace/z"));
        symlink(dir.join("outside"), &link).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                }
            });
            for _ in 0..3_000 {
                work();
            }
            done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn a_link_that_is_swapped_in_shows_nothing_of_outside() {
        let (dir, workspace) = setting();
        while_swapping(dir.path(), || {
            let Ok(tree) = workspace.tree(100, 1 << 20) else {
                return;
            };
            for node in tree.values() {
                if let Node::File { bytes, .. } = node {
                    assert_eq!(bytes, b"own");
                }
            }
        });
    }

    #[test]
    fn a_link_that_is_swapped_in_leads_no_writing_outside() {
        let (dir, workspace) = setting();
        let file = |present| PutBack {
            path: "a/b/f".to_owned(),
            node: Some(Node::File { mode: 0o644, bytes: b"put back".to_vec(), same_as: None }),
            present,
        };
        let folder =
            PutBack { path: "a/b".to_owned(), node: Some(Node::Folder { mode: 0o755 }), present: Present::Folder };
        let closed = fs::metadata(dir.path().join("outside/b")).unwrap().permissions();
        while_swapping(dir.path(), || {
            let _ = workspace.put_back(&[folder.clone(), file(Present::Other)]);
            let _ = workspace.put_back(&[folder.clone(), file(Present::Nothing)]);
        });
        let outside = dir.path().join("outside");
        assert_eq!(fs::read_to_string(outside.join("b/f")).unwrap(), SECRET);
        assert_eq!(fs::metadata(outside.join("b")).unwrap().permissions(), closed);
        assert_eq!(fs::read_dir(outside.join("b")).unwrap().count(), 1);
    }

    #[test]
    fn names_of_one_file_are_put_back_as_names_of_one_file() {
        use std::os::unix::fs::MetadataExt as _;
        let (dir, workspace) = setting();
        let at = |path: &str| dir.path().join("workspace").join(path);
        fs::hard_link(at("a/b/f"), at("z")).unwrap();
        fs::hard_link(at("a/b/f"), at("a/c")).unwrap();
        let before = workspace.tree(100, 1 << 20).unwrap();
        let put_back = |changed: &[&str]| {
            let wanted = changed.iter().map(|path| PutBack {
                path: (*path).to_owned(),
                node: before.get(*path).cloned(),
                present: if at(path).exists() { Present::Other } else { Present::Nothing },
            });
            workspace.put_back(&wanted.collect::<Vec<_>>()).unwrap();
            assert_eq!(workspace.tree(100, 1 << 20).unwrap(), before, "{changed:?}");
            assert_eq!(fs::metadata(at("z")).unwrap().nlink(), 3, "{changed:?}");
        };
        // Written through one of the names.
        fs::write(at("z"), "changed").unwrap();
        let after = workspace.tree(100, 1 << 20).unwrap();
        assert!(["a/b/f", "a/c", "z"].iter().all(|path| before.get(*path) != after.get(*path)));
        put_back(&["a/b/f", "a/c", "z"]);
        // One name is gone, the file is as it was.
        fs::remove_file(at("a/c")).unwrap();
        put_back(&["a/c"]);
        // The first name is gone; then the next one is the first, for all of them.
        fs::remove_file(at("a/b/f")).unwrap();
        put_back(&["a/b/f", "a/c", "z"]);
        // A copy took the place of a name, with the same content.
        fs::remove_file(at("z")).unwrap();
        fs::write(at("z"), "own").unwrap();
        assert_ne!(workspace.tree(100, 1 << 20).unwrap(), before);
        put_back(&["z"]);
        // The file was changed by somebody else meanwhile: that stays, and the name gets its content.
        fs::remove_file(at("z")).unwrap();
        fs::write(at("a/b/f"), "of somebody").unwrap();
        let wanted = PutBack { path: "z".to_owned(), node: before.get("z").cloned(), present: Present::Nothing };
        workspace.put_back(&[wanted]).unwrap();
        assert_eq!(fs::read_to_string(at("z")).unwrap(), "own");
        assert_eq!(fs::read_to_string(at("a/c")).unwrap(), "of somebody");
    }

    #[test]
    fn all_is_put_back_as_it_was() {
        let (dir, workspace) = setting();
        let before = workspace.tree(100, 1 << 20).unwrap();
        let at = |path: &str| dir.path().join("workspace").join(path);
        fs::remove_file(at("a/b/f")).unwrap();
        fs::remove_dir(at("a/b")).unwrap();
        fs::write(at("a/b"), "a file now").unwrap();
        fs::write(at("new"), "x").unwrap();
        let wanted = [("a/b", Present::Other), ("a/b/f", Present::Nothing), ("new", Present::Other)]
            .map(|(path, present)| PutBack { path: path.to_owned(), node: before.get(path).cloned(), present });
        workspace.put_back(&wanted).unwrap();
        assert_eq!(workspace.tree(100, 1 << 20).unwrap(), before);
        assert!(workspace.tree(2, 1 << 20).unwrap_err().contains("more than 2 files"));
        assert!(workspace.tree(100, 2).unwrap_err().contains("holds more than"));
        let out = PutBack { path: "../out".to_owned(), node: None, present: Present::Other };
        assert!(workspace.put_back(&[out]).is_err());
    }
}
