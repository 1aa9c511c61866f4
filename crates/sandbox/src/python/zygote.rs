//! A warm interpreter at work: who waits for which call, and how it ends.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::Child;
use tokio::sync::oneshot;

use super::control::{Answer, Control, Ready, Request};
use super::frame::End;
use crate::process::{Held, Leash, Privileges, Tier};

/// What became of a request.
#[derive(Debug)]
pub(super) enum Ended {
    Done(End),
    /// It could not fork, as the kernel says.
    Busy(String),
}

/// `None` once the interpreter is gone.
type Pending = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Ended>>>>>;

/// Dropping it kills the interpreter and every call in it.
#[derive(Debug)]
pub(super) struct Zygote {
    control: Arc<Control>,
    pending: Pending,
    next: AtomicU64,
    leash: Leash,
    pub tier: Tier,
    pub privileges: Privileges,
    pub ready: Ready,
    /// Milliseconds that the start took.
    pub start_ms: u64,
    _held: Held,
}

/// What a started interpreter is made of.
pub(super) struct Parts {
    pub control: Control,
    pub child: Child,
    pub leash: Leash,
    pub tier: Tier,
    pub privileges: Privileges,
    pub ready: Ready,
    pub held: Held,
}

impl Zygote {
    pub fn new(parts: Parts) -> Self {
        let control = Arc::new(parts.control);
        let pending: Pending = Arc::new(Mutex::new(Some(HashMap::new())));
        tokio::spawn(tend(Arc::clone(&control), parts.child, Arc::clone(&pending)));
        Self {
            control,
            pending,
            next: AtomicU64::new(1),
            leash: parts.leash,
            tier: parts.tier,
            privileges: parts.privileges,
            ready: parts.ready,
            start_ms: 0,
            _held: parts.held,
        }
    }

    pub fn alive(&self) -> bool {
        lock(&self.pending).is_some()
    }

    /// A number for a call and its end to wait for; `None` if the interpreter is gone.
    pub fn expect(&self) -> Option<(u64, oneshot::Receiver<Ended>)> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        lock(&self.pending).as_mut()?.insert(id, sender);
        Some((id, receiver))
    }

    pub async fn send(&self, request: &Request, fds: &[BorrowedFd<'_>]) -> std::io::Result<()> {
        self.control.send(request, fds).await
    }

    /// Kills one call. Where that does not get through, its wall time ends it.
    pub fn kill(&self, id: u64) {
        if let Err(error) = self.control.try_send(&Request::Kill { kill: id }) {
            tracing::debug!(%error, "a call of Python was not killed by message");
        }
    }

    /// Kills all of it: it does not do what it should.
    pub fn condemn(&self) {
        *lock(&self.pending) = None;
        self.leash.pull();
    }
}

fn lock(pending: &Pending) -> std::sync::MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Ended>>>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes answers on until the interpreter ends; those who still wait then see their sender gone.
async fn tend(control: Arc<Control>, mut child: Child, pending: Pending) {
    let answers = async {
        loop {
            let (id, ended) = match control.receive().await {
                Ok(Some(Answer::Done { done, status, late, peak })) => (done, Ended::Done(End { status, late, peak })),
                Ok(Some(Answer::Busy { busy, why })) => (busy, Ended::Busy(why)),
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
    };
    answers.await;
    *lock(&pending) = None;
    let _ = child.wait().await;
}
