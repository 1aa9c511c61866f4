use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use steward_core::DatasourceId;
use steward_core::locks::lock;
use steward_sandbox::sql::Guard;
use steward_sandbox::sql::remote::Remote;

/// Connections of one datasource that are kept open.
const MOST: usize = 4;
/// How long one may lie unused.
const IDLE: Duration = Duration::from_mins(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdleKey {
    pub datasource: DatasourceId,
    /// One of an earlier version has other settings.
    pub version: u64,
    pub writes: bool,
}

#[derive(Debug)]
pub enum Open {
    File(Box<Guard>),
    Server(Box<Remote>),
}

struct Idle {
    open: Open,
    stamp: Option<Stamp>,
    since: Instant,
}

#[derive(Default)]
pub struct IdleConnections(Mutex<HashMap<IdleKey, Vec<Idle>>>);

impl fmt::Debug for IdleConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdleConnections").finish_non_exhaustive()
    }
}

impl IdleConnections {
    /// The one used last, if it is open on what `stamp` says.
    pub fn take(&self, key: IdleKey, stamp: Option<Stamp>) -> Option<Open> {
        let now = Instant::now();
        let mut all = lock(&self.0);
        all.retain(|_, idle| {
            idle.retain(|one| now.duration_since(one.since) < IDLE);
            !idle.is_empty()
        });
        let found = all.get_mut(&key)?.pop()?;
        (found.stamp == stamp).then_some(found.open)
    }

    /// `stamp`: as it was when it was opened.
    pub fn put(&self, key: IdleKey, open: Open, stamp: Option<Stamp>) {
        let mut all = lock(&self.0);
        all.retain(|known, _| known.datasource != key.datasource || known.version >= key.version);
        let idle = all.entry(key).or_default();
        if idle.len() < MOST {
            idle.push(Idle { open, stamp, since: Instant::now() });
        }
    }

    pub fn forget(&self, id: DatasourceId) {
        lock(&self.0).retain(|key, _| key.datasource != id);
    }
}

/// Which file is open, since another one may have its name later, or which contents of which files.
pub type Stamp = (u64, u64);

/// `None`: it is not there.
pub fn of_file(path: &Path) -> Option<Stamp> {
    path.metadata().ok().map(|file| (file.dev(), file.ino()))
}

/// Differs once a file of them comes, goes or is written.
pub fn of_files(paths: &[PathBuf]) -> Option<Stamp> {
    let mut hasher = DefaultHasher::new();
    for path in paths {
        let file = path.metadata().ok()?;
        (path, file.len(), file.mtime(), file.mtime_nsec(), file.ino()).hash(&mut hasher);
    }
    Some((hasher.finish(), paths.len() as u64))
}
