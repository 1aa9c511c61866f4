//! A count of processes that holds for root too. The kernel's limit by user exempts root, so a command that keeps
//! root's user id is put into a control group of its own, where this process may make one (versions 1 and 2).

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a command's group holds beside the command: bubblewrap, the helper, and one in passing.
const OVERHEAD: u64 = 4;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Groups that still had members when they were done with.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A control group; removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
    /// Whoever writes `0` here becomes a member.
    pub members: OwnedFd,
}

impl Group {
    /// A group that bounds its processes and threads, or `None` where this process cannot make one.
    pub fn new(processes: u64) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        candidates(&own).iter().find_map(|parent| Self::below(parent, processes))
    }

    fn below(parent: &Path, processes: u64) -> Option<Self> {
        sweep();
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("sandbox-{}-{count}", std::process::id()));
        fs::create_dir(&path).ok()?;
        let made = fs::write(path.join("pids.max"), (processes + OVERHEAD).to_string())
            .and_then(|()| fs::OpenOptions::new().write(true).open(path.join("cgroup.procs")));
        if let Ok(members) = made {
            return Some(Self { path, members: members.into() });
        }
        let _ = fs::remove_dir(&path);
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Members that are still dying keep it for a moment.
        if fs::remove_dir(&self.path).is_err() {
            LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(self.path.clone());
        }
    }
}

/// Removes what earlier commands left.
fn sweep() {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|path| path.exists() && fs::remove_dir(path).is_err());
}

/// Where a group could be made: below our own, and at the top.
fn candidates(own: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let mounts: &[&str] = match controllers {
            "" => &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
            c if c.split(',').any(|c| c == "pids") => &["/sys/fs/cgroup/pids"],
            _ => continue,
        };
        for mount in mounts {
            let mount = Path::new(mount);
            found.push(mount.join(path.trim_start_matches('/')));
            found.push(mount.to_owned());
        }
    }
    found.retain(|p| p.join("cgroup.procs").exists());
    found
}
