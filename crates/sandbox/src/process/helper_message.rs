use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::net::TcpListener;

use super::spec::{Limits, Tier};

/// On the helper's stdin, not in its arguments, which all users see: 4 bytes of length (little endian), then JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub tier: Tier,
    pub limits: Limits,
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    /// Those of them that people named, each with the device and inode that it had when it was checked.
    pub checked: Vec<(PathBuf, u64, u64)>,
    pub network: bool,
    /// Descriptor over which the helper hands the loopback listener; the command may then use sockets on that loopback.
    pub gate: Option<i32>,
    pub landlock_abi: i32,
    /// User and group to become.
    pub drop_to: Option<u32>,
    /// `RLIMIT_NPROC`: all processes that the command's user may have, including the present ones.
    pub most_processes: Option<u64>,
    /// Serves until it is killed, so only its end is watched.
    pub service: bool,
    /// Must be the helper's parent (Landlock tier).
    pub parent: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    Exited(i32),
    Signaled(i32),
    Tripped(Tripped),
    Failed(Failure),
}

/// A limit that only the helper can watch.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tripped {
    Memory,
    Processes,
    Wall,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub stage: Stage,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    Plan,
    Fork,
    Network,
    WorkingFolder,
    Mounts,
    Privileges,
    Landlock,
    Limits,
    Seccomp,
    Exec,
}

// A program's only way out: a listener on a loopback of its own, handed over to this process, which can answer there
// since a socket stays in the network in which it was made.
/// How long the helper may take.
const WAIT: Duration = Duration::from_secs(10);

pub(super) fn listener_sockets() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((ours, theirs.into()))
}

pub(super) async fn receive_listener(from: UnixStream) -> io::Result<TcpListener> {
    let from = tokio::net::UnixStream::from_std(from)?;
    let received = from.async_io(Interest::READABLE, || receive_descriptor(&from));
    let listener = tokio::time::timeout(WAIT, received)
        .await
        .map_err(|_| io::Error::other("the sandbox gave no listener in time"))??;
    let listener = std::net::TcpListener::from(listener);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// A message that takes at most four descriptors along.
pub(crate) fn send_with_descriptors(to: impl AsFd, message: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many descriptors"));
    }
    sendmsg(to, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

pub(crate) fn receive_descriptor(from: impl AsFd) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0u8];
    recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let received = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    received.ok_or_else(|| io::Error::other("the sandbox gave no listener"))
}
