//! The means to end a running command, also when nobody waits for it any more.

use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::spec::Tier;

/// Kills the command and everything it has started when dropped, unless released.
#[derive(Debug)]
pub(crate) struct Leash {
    pid: Option<Pid>,
    pidfd: Option<OwnedFd>,
    tier: Tier,
}

impl Leash {
    /// `pid` must be a child that has not been waited for.
    pub fn new(pid: Option<u32>, tier: Tier) -> Self {
        let pid = pid.and_then(|p| i32::try_from(p).ok()).and_then(Pid::from_raw);
        let pidfd = pid.and_then(|p| pidfd_open(p, PidfdFlags::empty()).ok());
        Self { pid, pidfd, tier }
    }

    /// bubblewrap's end ends its namespace. The helper of the Landlock tier must live long enough to hunt down what
    /// the command has started, so it is asked.
    pub fn pull(&self) {
        self.send(match self.tier {
            Tier::Namespaces => Signal::KILL,
            Tier::Landlock => Signal::TERM,
        });
    }

    /// For a helper that does not answer.
    pub fn cut(&self) {
        self.send(Signal::KILL);
    }

    /// The child has ended and been waited for; its number may belong to another process now.
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

impl Drop for Leash {
    fn drop(&mut self) {
        self.pull();
    }
}
