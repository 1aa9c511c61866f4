//! Starts a confined program that is either waited for or serves.
#![expect(unsafe_code, reason = "a file descriptor is passed on to the child")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::{OnceLock, mpsc};

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::bwrap;
use super::helper_message::{self, Plan};
use super::kill_handle::{ControlGroup, KillHandle};
use super::machine_support::{Capabilities, NOBODY, can_drop, is_root};
use super::mounts::{self, ETC, NETWORK, Resolved, SYSTEM};
use super::spec::{CommandSpec, Limits, Privileges, Tier};
use super::{Helper, SandboxError};
use crate::helper::tasks_of_user;

/// Below /proc and /dev, visible in the Landlock tier beside the process's own.
const LANDLOCK_READ: &[&str] =
    &["/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/filesystems", "/dev/zero", "/dev/random", "/dev/urandom"];

pub(crate) struct Launch<'a> {
    pub helper: &'a Helper,
    pub capabilities: &'a Capabilities,
    pub tier: Tier,
    pub spec: &'a CommandSpec,
    /// Serves until it is killed: only the kernel's limits apply, its wall time is not watched.
    pub service: bool,
    pub stdout: Stdio,
}

/// Dropping it kills the program and all that it has started.
#[derive(Debug)]
pub(crate) struct Launched {
    pub child: Child,
    pub kill_handle: KillHandle,
    /// Receives a line of JSON when it ends or could not be started.
    pub status: pipe::Receiver,
    pub gate: Option<UnixStream>,
    /// Written to stdin before the program's own bytes.
    pub preamble: Vec<u8>,
    pub privileges: Privileges,
    pub resources: Resources,
}

#[derive(Debug)]
pub(crate) struct Resources {
    _tmp: Option<tempfile::TempDir>,
    _group: Option<ControlGroup>,
}

impl Launch<'_> {
    pub async fn start(self) -> Result<Launched, SandboxError> {
        let (tier, spec) = (self.tier, self.spec);
        let resolved = mounts::resolve(spec)?;
        if spec.gate && (tier == Tier::Landlock || spec.network || !self.service) {
            return Err(no_gate(tier));
        }
        let privileges = match (is_root(), is_root() && can_drop(&resolved, tier)) {
            (false, _) => Privileges::User,
            (true, true) => Privileges::Dropped,
            (true, false) => Privileges::RootWithoutCapabilities,
        };
        let group = if is_root() { ControlGroup::new(spec.limits.processes) } else { None };
        // Without a namespace only the kernel's count holds back a fork bomb.
        if tier == Tier::Landlock && privileges == Privileges::RootWithoutCapabilities && group.is_none() {
            return Err(uncounted(&resolved));
        }
        // Bubblewrap has its own /tmp; in the Landlock tier the command gets a folder that is removed at its end.
        let own_tmp = match tier {
            Tier::Namespaces => None,
            Tier::Landlock => Some(private_tmp(privileges)?),
        };
        let tmp = own_tmp.as_ref().map_or(Path::new("/tmp"), tempfile::TempDir::path);
        let mut plan = self.plan(&resolved, privileges, tmp);
        // The group counts the command alone, the limit by user whatever else runs as that user.
        if group.is_some() {
            plan.most_processes = None;
        }
        let (status, status_out) = status_pipe()?;
        let (gate, gate_out) = spec.gate.then(helper_message::listener_sockets).transpose()?.unzip();
        plan.gate = gate_out.as_ref().map(OwnedFd::as_raw_fd);
        let command = self.command(&resolved, privileges, &status_out)?;
        let keep: Vec<&OwnedFd> = std::iter::once(&status_out).chain(&gate_out).collect();
        let child = spawn(command, &keep, group.as_ref(), self.stdout).await?;
        drop((status_out, gate_out));
        let kill_handle = KillHandle::new(child.id(), tier);
        let mut preamble = serde_json::to_vec(&plan).map_err(|e| SandboxError::Invalid(e.to_string()))?;
        preamble.splice(0..0, u32::try_from(preamble.len()).unwrap_or(u32::MAX).to_le_bytes());
        Ok(Launched {
            child,
            kill_handle,
            status,
            gate,
            preamble,
            privileges,
            resources: Resources { _tmp: own_tmp, _group: group },
        })
    }

    fn plan(&self, resolved: &Resolved, privileges: Privileges, tmp: &Path) -> Plan {
        let Self { tier, spec, .. } = *self;
        let mut read: Vec<_> = SYSTEM.iter().chain(ETC).chain(LANDLOCK_READ).map(Into::into).collect();
        if spec.network {
            read.extend(NETWORK.iter().map(Into::into));
        }
        read.extend(resolved.read_paths.iter().cloned());
        let mut write = vec!["/dev/null".into(), tmp.to_owned()];
        write.extend(resolved.write_paths.iter().cloned());
        if resolved.writable { &mut write } else { &mut read }.push(resolved.workspace.clone());
        Plan {
            argv: spec.argv.clone(),
            cwd: resolved.cwd.clone(),
            env: mounts::environment(spec, &resolved.workspace, tmp),
            tier,
            limits: spec.limits.clone(),
            read,
            write,
            checked: resolved.checked.iter().map(|one| (one.path.clone(), one.id.0, one.id.1)).collect(),
            network: spec.network,
            gate: None,
            landlock_abi: self.capabilities.landlock_abi,
            drop_to: (privileges == Privileges::Dropped).then_some(NOBODY),
            most_processes: most_processes(&spec.limits, tier, privileges),
            service: self.service,
            parent: (tier == Tier::Landlock).then(std::process::id),
        }
    }

    fn command(&self, resolved: &Resolved, privileges: Privileges, status: &OwnedFd) -> Result<Command, SandboxError> {
        let (helper, fd) = (self.helper, status.as_raw_fd());
        match self.tier {
            Tier::Namespaces => {
                let bwrap = self.capabilities.bubblewrap.as_ref().ok_or_else(|| self.capabilities.unavailable())?;
                let mut command = Command::new(bwrap);
                command.args(bwrap::arguments(helper, resolved, &self.spec.limits, privileges, fd));
                Ok(command)
            }
            Tier::Landlock => {
                let mut command = Command::new(&helper.program);
                command.args(&helper.prefix).arg("run").arg(fd.to_string());
                Ok(command)
            }
        }
    }
}

fn no_gate(tier: Tier) -> SandboxError {
    match tier {
        Tier::Namespaces => SandboxError::Invalid("a gate is for sessions without the machine's network".to_owned()),
        Tier::Landlock => SandboxError::Unavailable {
            missing: "a network of its own for a program needs namespaces".to_owned(),
            hint: "Install bubblewrap (package `bubblewrap`) and allow user namespaces".to_owned(),
        },
    }
}

fn uncounted(resolved: &Resolved) -> SandboxError {
    let workspace = resolved.workspace.display();
    SandboxError::Unavailable {
        missing: format!(
            "processes of root cannot be limited without a pids control group, and nobody may not use {workspace}"
        ),
        hint:
            "Install bubblewrap (package `bubblewrap`), run this program as an ordinary user, or give `nobody` access \
               to the workspace"
                .to_owned(),
    }
}

/// The path must be walkable for the dropped user, so it can't be in a private parent.
fn private_tmp(privileges: Privileges) -> Result<tempfile::TempDir, SandboxError> {
    let dir = tempfile::Builder::new().prefix("sandbox-").tempdir()?;
    if privileges == Privileges::Dropped {
        std::os::unix::fs::chown(dir.path(), Some(NOBODY), Some(NOBODY))?;
    }
    Ok(dir)
}

fn status_pipe() -> Result<(pipe::Receiver, OwnedFd), SandboxError> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(std::io::Error::from)?;
    Ok((pipe::Receiver::from_owned_fd(read)?, write))
}

/// The kernel counts a user's processes per user namespace, and never those of root.
fn most_processes(limits: &Limits, tier: Tier, privileges: Privileges) -> Option<u64> {
    let present = match (privileges, tier) {
        (Privileges::RootWithoutCapabilities, _) => return None,
        (Privileges::Dropped, _) => tasks_of_user(NOBODY),
        // A namespace of its own, with nothing in it but the helper.
        (Privileges::User, Tier::Namespaces) => 1,
        (Privileges::User, Tier::Landlock) => tasks_of_user(rustix::process::getuid().as_raw()),
    };
    Some(present + limits.processes)
}

// The kernel's "die with your parent" means the thread that started the child, and threads of an async runtime come
// and go. So one thread of our own, which never ends, starts all sandboxed children.
struct Job {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

fn spawner() -> Option<&'static mpsc::Sender<Job>> {
    static SPAWNER: OnceLock<Option<mpsc::Sender<Job>>> = OnceLock::new();
    let start = || {
        let (sender, jobs) = mpsc::channel::<Job>();
        let serve = move || {
            for mut job in jobs {
                let _runtime = job.runtime.enter();
                let _ = job.reply.send(job.command.spawn());
            }
        };
        std::thread::Builder::new().name("sandbox-spawn".to_owned()).spawn(serve).ok().map(|_| sender)
    };
    SPAWNER.get_or_init(start).as_ref()
}

/// With pipes, an empty environment, its own process group, as a member of `group`, and with `keep` open.
pub(super) async fn spawn(
    mut command: Command,
    keep: &[&OwnedFd],
    group: Option<&ControlGroup>,
    stdout: Stdio,
) -> io::Result<Child> {
    command.env_clear().stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped()).process_group(0);
    let fds: Vec<_> = keep.iter().map(|fd| fd.as_raw_fd()).collect();
    let members = group.map(|g| g.members.as_raw_fd());
    // SAFETY: between fork and exec the closure only calls write and fcntl, which are async-signal-safe, on descriptors
    // that `keep` and `group` hold open until after the spawn, and with a constant.
    unsafe {
        command.pre_exec(move || {
            let joined = members.is_none_or(|m| libc::write(m, c"0".as_ptr().cast(), 1) == 1);
            let kept = |fd: &i32| libc::fcntl(*fd, libc::F_SETFD, 0) != -1;
            if joined && fds.iter().all(kept) { Ok(()) } else { Err(io::Error::last_os_error()) }
        });
    }
    let gone = || io::Error::other("the thread that starts sandboxed programs is gone");
    let (reply, answer) = oneshot::channel();
    let job = Job { command, runtime: Handle::current(), reply };
    spawner().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?
}
