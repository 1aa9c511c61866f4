//! A program's only way out: a listener on a loopback of its own, made by the helper inside and handed over to this
//! side. A socket stays in the network that it was made in, so this process answers in a network that it is not in.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::Interest;
use tokio::net::TcpListener;

/// How long the helper may take.
const WAIT: Duration = Duration::from_secs(10);

/// Our end, and the helper's.
pub(super) fn pair() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((ours, theirs.into()))
}

/// The listener.
pub(super) async fn receive(from: UnixStream) -> io::Result<TcpListener> {
    let from = tokio::net::UnixStream::from_std(from)?;
    let take = from.async_io(Interest::READABLE, || take(&from));
    let listener = tokio::time::timeout(WAIT, take)
        .await
        .map_err(|_| io::Error::other("the sandbox gave no listener in time"))??;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

fn take(from: &tokio::net::UnixStream) -> io::Result<std::net::TcpListener> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0u8];
    recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut came = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut sockets) => sockets.next(),
        _ => None,
    });
    let socket = came.next();
    socket.map(std::net::TcpListener::from).ok_or_else(|| io::Error::other("the sandbox gave no listener"))
}
