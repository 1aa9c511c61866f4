//! The listener on the loopback of this namespace, for the process outside.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// Makes it and hands it over.
#[expect(clippy::needless_pass_by_value, reason = "the other side waits until this end is closed")]
pub(super) fn offer(to: OwnedFd) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    hand_over(&to, listener.as_fd())
}

/// Passes a descriptor to the other end of a socket.
pub(super) fn hand_over(to: &OwnedFd, fd: BorrowedFd<'_>) -> io::Result<()> {
    let sockets = [fd];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&sockets)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    sendmsg(to, &[IoSlice::new(b"g")], &mut control, SendFlags::empty())?;
    Ok(())
}
