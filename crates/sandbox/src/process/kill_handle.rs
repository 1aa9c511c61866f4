use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use steward_core::locks::lock;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::spec::Tier;

/// Kills the command and everything it has started when dropped, unless released.
#[derive(Debug)]
pub(crate) struct KillHandle {
    pid: Option<Pid>,
    pidfd: Option<OwnedFd>,
    tier: Tier,
}

impl KillHandle {
    /// `pid` must be a child that has not been waited for.
    pub fn new(pid: Option<u32>, tier: Tier) -> Self {
        let pid = pid.and_then(|p| i32::try_from(p).ok()).and_then(Pid::from_raw);
        let pidfd = pid.and_then(|p| pidfd_open(p, PidfdFlags::empty()).ok());
        Self { pid, pidfd, tier }
    }

    /// Killing bubblewrap ends its namespace. The helper of the Landlock tier must live long enough to kill what the
    /// command has started, so it is only asked.
    pub fn terminate(&self) {
        self.send(match self.tier {
            Tier::Namespaces => Signal::KILL,
            Tier::Landlock => Signal::TERM,
        });
    }

    /// For a helper that does not answer.
    pub fn kill(&self) {
        self.send(Signal::KILL);
    }

    /// The child was waited for; its number may belong to another process now.
    pub fn release(mut self) {
        self.pid = None;
        self.pidfd = None;
    }

    fn send(&self, signal: Signal) {
        let sent = match (&self.pidfd, self.pid) {
            (Some(fd), _) => pidfd_send_signal(fd, signal),
            (None, Some(pid)) => kill_process(pid, signal),
            (None, None) => Ok(()),
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "a sandboxed command was gone before it was killed");
        }
    }
}

impl Drop for KillHandle {
    fn drop(&mut self) {
        self.terminate();
    }
}

// The kernel's limit of processes per user exempts root, so a command that keeps root's user id gets a control group,
// where this process may create one (versions 1 and 2).
/// Members beside the command: bubblewrap, the helper, and a transient one.
const OVERHEAD: u64 = 4;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Groups that still had members when they were dropped.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removed on drop.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    path: PathBuf,
    /// Whoever writes `0` here becomes a member.
    pub members: OwnedFd,
}

impl ControlGroup {
    /// Bounds processes and threads; `None` if this process may not create a group.
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

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // Dying members keep it for a moment.
        if fs::remove_dir(&self.path).is_err() {
            lock(&LEFT).push(self.path.clone());
        }
    }
}

fn sweep() {
    let mut left = lock(&LEFT);
    left.retain(|path| path.exists() && fs::remove_dir(path).is_err());
}

/// Where a group could be created: below our own, and at the top.
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
