//! The end of a connection whose last request was answered before its body had come: what the client still sends is read
//! and dropped for a moment. Else the system would reset the connection, and the client might never see the answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Longest time that a client may go on sending.
const LONGEST: Duration = Duration::from_secs(5);
const PIECE: usize = 8 << 10;

/// Whether some of a request's body was left unread. An extension of each request of a connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unread(Arc<AtomicBool>);

impl Unread {
    pub fn note(&self) {
        self.0.fetch_or(true, Ordering::Relaxed);
    }
}

pub(crate) struct Lingering<S> {
    stream: S,
    unread: Unread,
    /// Set once our side has ended.
    until: Option<Pin<Box<Sleep>>>,
}

impl<S> Lingering<S> {
    pub fn new(stream: S, unread: Unread) -> Self {
        Self { stream, unread, until: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, unread, until } = self.get_mut();
        if until.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
            if !unread.0.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        let until = until.get_or_insert_with(|| Box::pin(tokio::time::sleep(LONGEST)));
        let mut piece = [0; PIECE];
        while until.as_mut().poll(context).is_pending() {
            let mut into = ReadBuf::new(&mut piece);
            match ready!(Pin::new(&mut *stream).poll_read(context, &mut into)) {
                Ok(()) if !into.filled().is_empty() => {}
                _ => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}
