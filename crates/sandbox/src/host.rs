//! Places on this machine's disk outside of workspaces that people name: folders that are scanned, what a program is
//! shown, files that are databases. [`HostPolicy`] alone makes a [`HostPath`], when a place is named and again at each later
//! opening; it never opens what is this program's own or a secret of the machine, however the path is spelled, and follows
//! no link but those that stood in the path when it was named.

mod error;
mod new_file;
mod own;

pub use error::HostPathError;
pub use new_file::HostNewFile;

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstatfs, open, openat, statat};
use rustix::io::Errno;

use steward_core::live::Live;

use crate::files::open_without_links;
use own::{Id, Keeper, Own, id_of};

/// Magic numbers of file systems that the kernel makes up: proc, sys, debug, trace, cgroup, cgroup2, security, bpf, selinux,
/// pstore, efivars, config, devpts, mqueue, namespaces, binfmt.
const KERNEL: [u64; 16] = [
    0x9fa0,
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x0027_e0eb,
    0x6367_7270,
    0x7363_6673,
    0xcafe_4a11,
    0xf97c_ff8c,
    0x6165_676c,
    0xde5e_81e4,
    0x6265_6570,
    0x1cd1,
    0x1980_0202,
    0x6e73_6673,
    0x4249_4e4d,
];

/// What people may not name. All of it is looked for anew each time; what isn't there counts by where it would be.
#[derive(Debug, Clone, Default)]
pub struct HostRules {
    /// Files and folders that nobody may name, nor anything in them: data, cache, settings, keys.
    pub own: Vec<PathBuf>,
    /// Folders within those that are people's all the same: the workspace.
    pub open: Vec<PathBuf>,
    /// Secrets of the machine: files and folders that nobody may name either, nor anything in them.
    pub secret: Vec<PathBuf>,
    /// What this program, its user or the machine starts or lets somebody in by, such as programs and folders of them: nobody
    /// else may change it. Relative ones don't count.
    pub programs: Vec<PathBuf>,
}

/// Which places people may name; clones share the rules. All methods block.
#[derive(Debug, Clone)]
pub struct HostPolicy(Live<HostRules>);

/// A file or a folder that people may name, opened.
#[derive(Debug)]
pub struct HostPath {
    path: PathBuf,
    /// The folder itself, or the one that the file is in.
    folder: File,
    /// Of a file.
    name: Option<OsString>,
    id: Id,
    /// Whether it is a file that may be the program's own under another name.
    linked: bool,
    own: Arc<Own>,
    policy: HostPolicy,
}

/// A file or folder in a folder.
#[derive(Debug)]
pub struct HostEntry {
    pub name: OsString,
    pub is_folder: bool,
    /// Of a file.
    pub bytes: u64,
    pub modified: Option<SystemTime>,
    /// A file that has several names, so that it may be the program's own: it can't be opened.
    pub linked: bool,
}

/// A file or a folder to show to a confined program, checked by [`HostPath::mount`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostMount {
    pub(crate) path: PathBuf,
    pub(crate) id: (u64, u64),
    pub(crate) write: bool,
}

impl HostPolicy {
    pub fn new(rules: HostRules) -> Self {
        Self(Live::new(rules))
    }

    /// Other rules for all clones, from the next place on.
    pub fn replace(&self, rules: HostRules) {
        self.0.replace(rules);
    }

    /// A place as a person names it. Links in it are resolved now, and never again: later openings take the path that
    /// [`HostPath::path`] gives.
    pub fn resolve(&self, given: &str) -> Result<HostPath, HostPathError> {
        let path = Path::new(given.trim());
        if !path.is_absolute() {
            return Err(HostPathError::Relative(path.to_owned()));
        }
        let real = path.canonicalize().map_err(|error| unreadable(path, error))?;
        self.open(&real)
    }

    /// A place that was named before: no link may stand in its path.
    pub fn open(&self, path: &Path) -> Result<HostPath, HostPathError> {
        let Ok(below) = path.strip_prefix("/") else {
            return Err(HostPathError::Relative(path.to_owned()));
        };
        if !below.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(HostPathError::Relative(path.to_owned()));
        }
        let failed = |errno: Errno| refused(path, errno);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open("/", flags, Mode::empty()).map_err(failed)?;
        let own = Own::look(&self.0.get()).map_err(|error| unreadable(path, error))?;
        let (folder, name) = match (below.parent(), below.file_name()) {
            (Some(above), Some(name)) => {
                let above = open_without_links(root.as_fd(), above, flags).map_err(failed)?;
                (File::from(above), Some(name))
            }
            _ => (File::from(root), None),
        };
        let place = Place { path, own: Arc::new(own), policy: self };
        let found = match name {
            Some(name) => place.step(folder, name)?,
            None => place.folder(folder)?,
        };
        let upwards = found.own.upwards(&found.folder).map_err(|error| unreadable(path, error))?;
        let of_file = found.name.is_some().then_some(found.id);
        let keeper = found.own.keeper_above(of_file.into_iter().chain(upwards));
        found.unless_kept(keeper)
    }
}

/// What is being opened.
struct Place<'a> {
    path: &'a Path,
    own: Arc<Own>,
    policy: &'a HostPolicy,
}

impl Place<'_> {
    /// An entry of a folder. Whether it is the program's own is for the caller to ask.
    fn step(self, folder: File, name: &OsStr) -> Result<HostPath, HostPathError> {
        let path = self.path;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let at = File::from(openat(&folder, name, flags, Mode::empty()).map_err(|errno| refused(path, errno))?);
        let found = metadata(path, &at)?;
        if found.is_symlink() {
            return Err(HostPathError::Link(path.to_owned()));
        }
        if found.is_dir() {
            return self.folder(at);
        }
        if !found.is_file() {
            return Err(HostPathError::Kind(path.to_owned()));
        }
        refuse_kernel(path, &at)?;
        let linked = self.own.may_be_linked(found.nlink(), found.dev(), found.uid());
        Ok(HostPath { linked, ..self.made(folder, Some(name.to_owned()), id_of(&found)) })
    }

    fn folder(self, at: File) -> Result<HostPath, HostPathError> {
        refuse_kernel(self.path, &at)?;
        let id = id_of(&metadata(self.path, &at)?);
        Ok(self.made(at, None, id))
    }

    fn made(self, folder: File, name: Option<OsString>, id: Id) -> HostPath {
        let (path, policy) = (self.path.to_owned(), self.policy.clone());
        HostPath { path, folder, name, id, linked: false, own: self.own, policy }
    }
}

impl HostPath {
    fn unless_kept(self, keeper: Option<Keeper>) -> Result<Self, HostPathError> {
        match keeper {
            Some(Keeper::Program) => Err(HostPathError::Own(self.path)),
            Some(Keeper::Machine) => Err(HostPathError::Secret(self.path)),
            None if self.linked => Err(HostPathError::Linked(self.path)),
            None => Ok(self),
        }
    }

    /// Absolute, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_folder(&self) -> bool {
        self.name.is_none()
    }

    /// Opens a file for reading; one that has come into its place meanwhile is refused.
    pub fn open_file(&self) -> Result<File, HostPathError> {
        let Some(name) = &self.name else {
            return Err(HostPathError::Kind(self.path.clone()));
        };
        // NONBLOCK: opening a pipe must not wait for a writer before it is refused.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.folder, name, flags, Mode::empty()).map_err(|errno| refused(&self.path, errno))?;
        let file = File::from(file);
        if id_of(&metadata(&self.path, &file)?) == self.id {
            return Ok(file);
        }
        Err(unreadable(&self.path, io::Error::other("another file has come into its place; try again")))
    }

    /// What a file is, as an entry of its folder.
    pub fn entry(&self) -> Option<HostEntry> {
        entry_of(&self.folder, self.name.as_deref()?, &self.own).map(|(entry, _)| entry)
    }

    /// The files and folders in a folder, in no order. Links, devices, what is the program's own and secrets of the machine
    /// are left out.
    pub fn entries(&self) -> Result<impl Iterator<Item = HostEntry> + '_, HostPathError> {
        let failed = |errno| refused(&self.path, errno);
        // What is opened with O_PATH can't be listed.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(&self.folder, ".", flags, Mode::empty()).map_err(failed)?;
        let listing = Dir::new(folder).map_err(failed)?;
        let entries = listing.filter_map(|item| {
            let item = item.ok()?;
            let name = item.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                return None;
            }
            let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(name.to_bytes());
            let (entry, id) = entry_of(&self.folder, name, &self.own)?;
            self.own.keeper(id).is_none().then_some(entry)
        });
        Ok(entries)
    }

    /// A file or a folder in this folder.
    pub fn enter(&self, name: &OsStr) -> Result<Self, HostPathError> {
        let path = self.path.join(name);
        let folder = self.folder.try_clone().map_err(|error| unreadable(&path, error))?;
        let place = Place { path: &path, own: Arc::clone(&self.own), policy: &self.policy };
        let found = place.step(folder, name)?;
        let keeper = found.own.keeper(found.id);
        found.unless_kept(keeper)
    }

    /// Refuses a folder that holds anything of the program's own or a secret of the machine, or would if it were there.
    /// `write`: to be changed, which what is started or lets somebody in isn't.
    pub fn mount(&self, write: bool) -> Result<HostMount, HostPathError> {
        let failed = |error| unreadable(&self.path, error);
        if self.is_folder() {
            match self.own.lies_in(self.id).map_err(failed)? {
                Some(Keeper::Program) => return Err(HostPathError::HoldsOwn(self.path.clone())),
                Some(Keeper::Machine) => return Err(HostPathError::HoldsSecret(self.path.clone())),
                None => {}
            }
        }
        if write {
            let here = self.upwards()?;
            for program in self.programs() {
                let program = self.own.reach(&program).map_err(failed)?;
                if program.is_within(self.id) || program.is_among(&here) {
                    return Err(HostPathError::Programs(self.path.clone()));
                }
            }
        }
        Ok(HostMount { path: self.path.clone(), id: self.id, write })
    }

    /// Refuses a new file in a folder of what is started. One that only holds such a folder takes it.
    fn refuse_programs(&self, path: &Path) -> Result<(), HostPathError> {
        let here = self.upwards()?;
        for program in self.programs() {
            if self.own.reach(&program).map_err(|error| unreadable(path, error))?.is_among(&here) {
                return Err(HostPathError::Programs(path.to_owned()));
            }
        }
        Ok(())
    }

    /// Itself, and the folders that it lies in.
    fn upwards(&self) -> Result<Vec<Id>, HostPathError> {
        let mut here = self.own.upwards(&self.folder).map_err(|error| unreadable(&self.path, error))?;
        here.push(self.id);
        Ok(here)
    }

    fn programs(&self) -> Vec<PathBuf> {
        let rules = self.policy.0.get();
        rules.programs.iter().filter(|program| program.is_absolute()).cloned().collect()
    }
}

impl HostMount {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn metadata(path: &Path, file: &File) -> Result<Metadata, HostPathError> {
    file.metadata().map_err(|error| unreadable(path, error))
}

fn refuse_kernel(path: &Path, file: &File) -> Result<(), HostPathError> {
    let found = fstatfs(file).map_err(|errno| refused(path, errno))?;
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "its type differs between processors")]
    let kind = found.f_type as u64 & 0xffff_ffff;
    if KERNEL.contains(&kind) { Err(HostPathError::Kernel(path.to_owned())) } else { Ok(()) }
}

/// `None`: it has gone, or is neither a file nor a folder.
fn entry_of(folder: &File, name: &OsStr, own: &Own) -> Option<(HostEntry, Id)> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_folder = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => true,
        FileType::RegularFile => false,
        _ => return None,
    };
    let bytes = if is_folder { 0 } else { u64::try_from(stat.st_size).unwrap_or(0) };
    #[allow(clippy::unnecessary_cast, reason = "their types differ between processors")]
    let (id, names) = ((stat.st_dev as u64, stat.st_ino as u64), stat.st_nlink as u64);
    let linked = !is_folder && own.may_be_linked(names, id.0, stat.st_uid);
    Some((HostEntry { name: name.to_owned(), is_folder, bytes, modified: modified(&stat), linked }, id))
}

fn modified(stat: &Stat) -> Option<SystemTime> {
    let seconds = u64::try_from(stat.st_mtime).ok()?;
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "its type differs between processors")]
    let nanoseconds = stat.st_mtime_nsec as u64;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds))
}

fn unreadable(path: &Path, error: io::Error) -> HostPathError {
    HostPathError::Unreadable { path: path.to_owned(), error }
}

fn refused(path: &Path, errno: Errno) -> HostPathError {
    match errno {
        Errno::LOOP => HostPathError::Link(path.to_owned()),
        other => unreadable(path, other.into()),
    }
}

#[cfg(test)]
mod tests;
