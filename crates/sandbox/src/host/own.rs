//! Which files and folders are the program's own, by device and inode, so that it doesn't matter how a path is spelled.

use super::HostRules;
use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;

/// Device and inode.
pub(super) type Id = (u64, u64);

/// Folders within each other that are walked up at most: paths are shorter.
const MAX_DEPTH: usize = 4096;

/// As they are now.
#[derive(Debug)]
pub(super) struct Own {
    /// Of the program's own files and folders, and of what lies directly in these: that may be linked or mounted elsewhere.
    ids: HashSet<Id>,
    open: HashSet<Id>,
    /// Where they are, without links.
    places: Vec<PathBuf>,
    /// Of the root folder.
    root: Id,
}

impl Own {
    pub fn look(rules: &HostRules) -> io::Result<Self> {
        let mut own = Self {
            ids: HashSet::new(),
            open: HashSet::new(),
            places: Vec::new(),
            root: id_of(&Path::new("/").metadata()?),
        };
        for path in &rules.open {
            own.open.extend(look_at(path)?.as_ref().map(id_of));
        }
        for path in &rules.own {
            let Some(found) = look_at(path)? else { continue };
            own.ids.insert(id_of(&found));
            own.places.push(path.canonicalize()?);
            if !found.is_dir() {
                continue;
            }
            for entry in path.read_dir()? {
                let entry = entry?;
                let Some(id) = look_at(&entry.path())?.as_ref().map(id_of) else { continue };
                if own.open.contains(&id) {
                    continue;
                }
                own.ids.insert(id);
                if entry.file_type()?.is_symlink() {
                    own.places.extend(entry.path().canonicalize());
                }
            }
        }
        Ok(own)
    }

    pub fn has(&self, id: Id) -> bool {
        self.ids.contains(&id) && !self.open.contains(&id)
    }

    /// Whether a place may be used that has these folders above it, the nearest first.
    pub fn allows(&self, mut upwards: impl Iterator<Item = Id>) -> bool {
        let decides = upwards.find(|id| self.open.contains(id) || self.ids.contains(id));
        decides.is_none_or(|id| self.open.contains(&id))
    }

    /// Whether something of it lies in this folder.
    pub fn lies_in(&self, folder: Id) -> io::Result<bool> {
        for place in &self.places {
            if self.place_upwards(place)?.contains(&folder) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The ids of a place and of all folders above it. Empty if it isn't there.
    pub fn place_upwards(&self, place: &Path) -> io::Result<Vec<Id>> {
        let Some(found) = look_at(place)? else { return Ok(Vec::new()) };
        let real = place.canonicalize()?;
        let folder = if found.is_dir() { Some(real.as_path()) } else { real.parent() };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = File::from(open(folder.unwrap_or(Path::new("/")), flags, Mode::empty())?);
        let mut ids = vec![id_of(&found)];
        ids.extend(self.upwards(&folder)?);
        Ok(ids)
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
