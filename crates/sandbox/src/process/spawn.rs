//! Starting a child from a thread that never ends.
//!
//! The kernel's "die with your parent" means the thread that started the child, and threads of an async runtime come
//! and go. So all sandboxed children are started by one thread of our own.
#![expect(unsafe_code, reason = "a file descriptor is passed on to the child")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::cgroup::Group;

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

/// Starts `command` with pipes, an empty environment, its own process group, as a member of the control group, if any,
/// and with all of `keep` still open in it.
pub(super) async fn spawn(
    mut command: Command,
    keep: &[&OwnedFd],
    group: Option<&Group>,
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
