//! Which files and folders are the program's own or secrets of the machine, by device and inode, so that it doesn't matter
//! how a path is spelled.

use super::HostRules;
use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Device and inode.
pub(super) type Id = (u64, u64);

/// Folders within each other that are walked up at most: paths are shorter.
const MAX_DEPTH: usize = 4096;
/// Links that are followed to where a place would be; as many as the kernel follows.
const MAX_LINKS: usize = 40;

/// Whose a place is that nobody may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    Program,
    Machine,
}

/// As they are now.
#[derive(Debug)]
pub(super) struct Own {
    /// Of the program's own files and folders, and of what lies directly in these: that may be linked or mounted elsewhere.
    /// Of the machine's secrets only themselves.
    ids: HashMap<Id, Keeper>,
    open: HashSet<Id>,
    /// Where they are, or would be.
    places: Vec<(PathBuf, Keeper)>,
    /// Devices that the program's own files lie on.
    disks: HashSet<u64>,
    /// Of the root folder.
    root: Id,
}

/// Where a place is, or would be.
pub(super) struct Reach {
    /// `None`: it isn't there.
    itself: Option<Id>,
    /// The folders above it that are there.
    above: Vec<Id>,
}

impl Reach {
    /// Whether it is this folder or file, or lies in it.
    pub fn is_within(&self, id: Id) -> bool {
        self.itself == Some(id) || self.above.contains(&id)
    }

    /// Whether it is one of these.
    pub fn is_among(&self, ids: &[Id]) -> bool {
        self.itself.is_some_and(|id| ids.contains(&id))
    }
}

impl Own {
    pub fn look(rules: &HostRules) -> io::Result<Self> {
        let mut own = Self {
            ids: HashMap::new(),
            open: HashSet::new(),
            places: Vec::new(),
            disks: HashSet::new(),
            root: id_of(&Path::new("/").metadata()?),
        };
        for path in &rules.open {
            own.open.extend(look_at(path)?.as_ref().map(id_of));
        }
        for path in rules.own.iter().filter(|path| !path.as_os_str().is_empty()) {
            own.look_in(path)?;
        }
        for path in &rules.secret {
            if let Some(found) = look_at(path)? {
                own.ids.entry(id_of(&found)).or_insert(Keeper::Machine);
            }
            own.places.push((path.clone(), Keeper::Machine));
        }
        Ok(own)
    }

    /// Notes an own file or folder, and what lies directly in it.
    fn look_in(&mut self, path: &Path) -> io::Result<()> {
        self.places.push((path.to_owned(), Keeper::Program));
        let Some(found) = look_at(path)? else { return Ok(()) };
        self.note(id_of(&found));
        if !found.is_dir() {
            return Ok(());
        }
        for entry in path.read_dir()? {
            let entry = entry?;
            let id = look_at(&entry.path())?.as_ref().map(id_of);
            if id.is_some_and(|id| self.open.contains(&id)) {
                continue;
            }
            if let Some(id) = id {
                self.note(id);
            }
            if entry.file_type()?.is_symlink() {
                self.places.push((entry.path(), Keeper::Program));
            }
        }
        Ok(())
    }

    fn note(&mut self, id: Id) {
        self.ids.insert(id, Keeper::Program);
        self.disks.insert(id.0);
    }

    pub fn keeper(&self, id: Id) -> Option<Keeper> {
        self.ids.get(&id).copied().filter(|_| !self.open.contains(&id))
    }

    /// Whose a place is, with these folders above it, the nearest first. `None`: it may be used.
    pub fn keeper_above(&self, mut upwards: impl Iterator<Item = Id>) -> Option<Keeper> {
        let decides = upwards.find(|id| self.open.contains(id) || self.ids.contains_key(id));
        decides.and_then(|id| self.keeper(id))
    }

    /// Whether a file may be one of the program's own under another name: it has several, and lies on a disk with these. The
    /// superuser's program may have files of others too, such as those that confined programs made.
    pub fn may_be_linked(&self, names: u64, disk: u64, user: u32) -> bool {
        let this = geteuid().as_raw();
        names > 1 && self.disks.contains(&disk) && (this == 0 || this == user)
    }

    /// Whose something is that lies in this folder, or would.
    pub fn lies_in(&self, folder: Id) -> io::Result<Option<Keeper>> {
        for (place, keeper) in &self.places {
            if self.reach(place)?.is_within(folder) {
                return Ok(Some(*keeper));
            }
        }
        Ok(None)
    }

    pub fn reach(&self, place: &Path) -> io::Result<Reach> {
        let (nearest, found, there) = look_up(place)?;
        let folder = if found.is_dir() { Some(nearest.as_path()) } else { nearest.parent() };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = File::from(open(folder.unwrap_or(Path::new("/")), flags, Mode::empty())?);
        Ok(Reach { itself: there.then(|| id_of(&found)), above: self.upwards(&folder)? })
    }

    /// The ids of a folder and of all above it, as they are now.
    pub fn upwards(&self, folder: &File) -> io::Result<Vec<Id>> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut ids = vec![id_of(&folder.metadata()?)];
        let mut at = folder.try_clone()?;
        while ids.len() <= MAX_DEPTH {
            let above = File::from(openat(&at, "..", flags, Mode::empty())?);
            let id = id_of(&above.metadata()?);
            // Only the root is its own parent; another folder may be mounted in itself.
            if id == self.root && ids.last() == Some(&id) {
                return Ok(ids);
            }
            ids.push(id);
            at = above;
        }
        Err(io::Error::other("there are too many folders above it"))
    }
}

pub(super) fn id_of(metadata: &Metadata) -> Id {
    (metadata.dev(), metadata.ino())
}

/// A place without links, or the nearest folder above where it would be, and whether it is there itself.
fn look_up(place: &Path) -> io::Result<(PathBuf, Metadata, bool)> {
    let mut at = std::path::absolute(place)?;
    let (mut there, mut links) = (true, 0);
    loop {
        if let Some(found) = look_at(&at)? {
            return Ok((at.canonicalize()?, found, there));
        }
        there = false;
        let above = at.parent().unwrap_or(Path::new("/")).to_owned();
        at = match at.read_link() {
            // What it leads to may come to be there.
            Ok(target) if links < MAX_LINKS => {
                links += 1;
                above.join(target)
            }
            _ => above,
        };
    }
}

/// `None`: it isn't there, or out of reach, for whoever names it too.
fn look_at(path: &Path) -> io::Result<Option<Metadata>> {
    match path.metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) => match Errno::from_io_error(&error) {
            // The last is a link that leads to itself.
            Some(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => Ok(None),
            _ => Err(error),
        },
    }
}
