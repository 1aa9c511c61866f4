#![expect(unsafe_code, reason = "registering a descriptor with the reactor")]

use std::collections::HashMap;
use std::io::{self, IoSliceMut};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;

use rustix::net::{AddressFamily, RecvAncillaryBuffer, RecvFlags, SocketFlags, SocketType, recvmsg, socketpair};
use serde::{Deserialize, Serialize};
use tokio::io::unix::AsyncFd;
use tokio::process::Child;
use tokio::sync::oneshot;

use super::result::End;
use crate::process::{KillHandle, Launched, Privileges, Resources, Tier, send_with_descriptors};

#[derive(Debug)]
pub(super) enum CallEnd {
    Done(End),
    /// It could not fork; the kernel's reason.
    Busy(String),
}

/// `None` once the interpreter is gone.
type Pending = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<CallEnd>>>>>;

/// Dropping it kills the interpreter and every call in it.
#[derive(Debug)]
pub(super) struct Zygote {
    pub control: Arc<Control>,
    pending: Pending,
    next: AtomicU64,
    kill_handle: KillHandle,
    pub tier: Tier,
    pub privileges: Privileges,
    pub ready: Ready,
    pub start_ms: u64,
    _resources: Resources,
}

impl Zygote {
    pub fn new(control: Control, launched: Launched, tier: Tier, ready: Ready) -> Self {
        let control = Arc::new(control);
        let pending: Pending = Arc::new(Mutex::new(Some(HashMap::new())));
        tokio::spawn(dispatch_answers(Arc::clone(&control), launched.child, Arc::clone(&pending)));
        Self {
            control,
            pending,
            next: AtomicU64::new(1),
            kill_handle: launched.kill_handle,
            tier,
            privileges: launched.privileges,
            ready,
            start_ms: 0,
            _resources: launched.resources,
        }
    }

    pub fn alive(&self) -> bool {
        lock(&self.pending).is_some()
    }

    /// A number for a call, and its end to wait for; `None` if the interpreter is gone.
    pub fn expect(&self) -> Option<(u64, oneshot::Receiver<CallEnd>)> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        lock(&self.pending).as_mut()?.insert(id, sender);
        Some((id, receiver))
    }

    /// If the message does not get through, the call's wall time ends it.
    pub fn kill(&self, id: u64) {
        if let Err(error) = self.control.try_send(&Request::Kill { kill: id }) {
            tracing::debug!(%error, "a call of Python was not killed by message");
        }
    }

    /// Kills the interpreter because it misbehaves.
    pub fn kill_all(&self) {
        *lock(&self.pending) = None;
        self.kill_handle.terminate();
    }
}

/// Passes answers on until the interpreter ends; those still waiting then see their sender gone.
async fn dispatch_answers(control: Arc<Control>, mut child: Child, pending: Pending) {
    loop {
        let (id, ended) = match control.receive().await {
            Ok(Some(Answer::Done { done, status, late, peak })) => (done, CallEnd::Done(End { status, late, peak })),
            Ok(Some(Answer::Busy { busy, why })) => (busy, CallEnd::Busy(why)),
            Ok(Some(Answer::Ready { .. })) => continue,
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "the warm Python interpreter cannot be understood");
                break;
            }
        };
        let waiting = lock(&pending).as_mut().and_then(|all| all.remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(ended);
        }
    }
    *lock(&pending) = None;
    let _ = child.wait().await;
}

/// Longer messages are cut off and then are no JSON.
const MOST: usize = 64 << 10;

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Request {
    Call {
        id: u64,
        wall_ms: u64,
        memory: u64,
        cpu_s: u64,
        output: usize,
        /// For the check of the barriers: every module is available.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        check: bool,
    },
    Kill {
        kill: u64,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Ready { ready: Ready },
    Done { done: u64, status: i32, late: bool, peak: u64 },
    Busy { busy: u64, why: String },
}

#[derive(Debug, Deserialize)]
pub(super) struct Ready {
    pub version: String,
    pub executable: String,
    pub barriers: Vec<(String, bool, String)>,
}

#[derive(Debug)]
pub(super) struct Control(AsyncFd<OwnedFd>);

impl Control {
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        // SAFETY: the descriptor is owned by the `AsyncFd`, which hands out no way to close or replace it before it is
        // dropped and taken off the reactor.
        let ours = unsafe { AsyncFd::register(ours) }?;
        Ok((Self(ours), theirs))
    }

    pub async fn send(&self, request: &Request, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let text = serde_json::to_vec(request)?;
        loop {
            let mut ready = self.0.writable().await?;
            if let Ok(result) = ready.try_io(|_| send_with_descriptors(self.0.get_ref(), &text, fds)) {
                return result;
            }
        }
    }

    /// Does not wait; a full socket loses the message.
    pub fn try_send(&self, request: &Request) -> io::Result<()> {
        send_with_descriptors(self.0.get_ref(), &serde_json::to_vec(request)?, &[])
    }

    /// `None` at the end.
    pub async fn receive(&self) -> io::Result<Option<Answer>> {
        let mut buffer = vec![0u8; MOST];
        loop {
            let mut ready = self.0.readable().await?;
            let received = ready.try_io(|fd| {
                // Descriptors are not accepted: without room for them the kernel closes them.
                let mut none = RecvAncillaryBuffer::default();
                let mut slices = [IoSliceMut::new(&mut buffer)];
                let got = recvmsg(fd.get_ref(), &mut slices, &mut none, RecvFlags::empty())?;
                Ok(got.bytes)
            });
            match received {
                Err(_) => {}
                Ok(Err(error)) => return Err(error),
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(length)) => {
                    return serde_json::from_slice(&buffer[..length]).map(Some).map_err(io::Error::other);
                }
            }
        }
    }
}
