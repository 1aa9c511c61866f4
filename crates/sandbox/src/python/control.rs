//! The socket to the warm interpreter: one message of JSON at a time, with descriptors.
#![expect(unsafe_code, reason = "registering a descriptor with the reactor")]

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
    SocketType, recvmsg, sendmsg, socketpair,
};
use serde::{Deserialize, Serialize};
use tokio::io::unix::AsyncFd;

/// Longer than any message; longer ones are cut off and then are no JSON.
const MOST: usize = 64 << 10;

/// What is asked.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Request {
    Call {
        id: u64,
        wall_ms: u64,
        memory: u64,
        cpu_s: u64,
        output: usize,
        /// Every module is at hand, for the check of the barriers.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        check: bool,
    },
    Kill {
        kill: u64,
    },
}

/// What is answered.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Ready { ready: Ready },
    Done { done: u64, status: i32, late: bool, peak: u64 },
    Busy { busy: u64, why: String },
}

/// The interpreter is warm and locked in.
#[derive(Debug, Deserialize)]
pub(super) struct Ready {
    pub version: String,
    pub executable: String,
    pub barriers: Vec<(String, bool, String)>,
}

#[derive(Debug)]
pub(super) struct Control(AsyncFd<OwnedFd>);

impl Control {
    /// Our end, and the other.
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
            if let Ok(result) = ready.try_io(|_| self.send_now(&text, fds)) {
                return result;
            }
        }
    }

    /// Without waiting, for use where nothing can be waited for; a full socket loses the message.
    pub fn try_send(&self, request: &Request) -> io::Result<()> {
        self.send_now(&serde_json::to_vec(request)?, &[])
    }

    fn send_now(&self, text: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::Error::other("too many descriptors"));
        }
        sendmsg(self.0.get_ref(), &[IoSlice::new(text)], &mut rights, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// The next answer; `None` at the end.
    pub async fn receive(&self) -> io::Result<Option<Answer>> {
        let mut buffer = vec![0u8; MOST];
        loop {
            let mut ready = self.0.readable().await?;
            let received = ready.try_io(|fd| {
                // Descriptors are not taken: what comes along is closed by the kernel for want of room.
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
