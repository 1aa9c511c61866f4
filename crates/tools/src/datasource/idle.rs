use std::collections::HashMap;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use steward_core::DatasourceId;
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
    /// Which file it was, since another one may have its name now.
    file: Option<(u64, u64)>,
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
    /// The one used last; `file` is what it must be open on.
    pub fn take(&self, key: IdleKey, file: Option<&Path>) -> Option<Open> {
        let now = Instant::now();
        let wanted = file.map(|path| path.metadata().ok().as_ref().map(which));
        let mut all = self.lock();
        all.retain(|_, idle| {
            idle.retain(|one| now.duration_since(one.since) < IDLE);
            !idle.is_empty()
        });
        let found = all.get_mut(&key)?.pop()?;
        match wanted {
            Some(wanted) if wanted != found.file => None,
            _ => Some(found.open),
        }
    }

    pub fn put(&self, key: IdleKey, open: Open) {
        let file = match &open {
            Open::File(guard) => guard.path().metadata().ok().as_ref().map(which),
            Open::Server(_) => None,
        };
        let mut all = self.lock();
        all.retain(|known, _| known.datasource != key.datasource || known.version >= key.version);
        let idle = all.entry(key).or_default();
        if idle.len() < MOST {
            idle.push(Idle { open, file, since: Instant::now() });
        }
    }

    pub fn forget(&self, id: DatasourceId) {
        self.lock().retain(|key, _| key.datasource != id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<IdleKey, Vec<Idle>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn which(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
