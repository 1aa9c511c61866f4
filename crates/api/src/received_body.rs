//! The body of a request as its connection gives it, with a limit on silence. Unlike tower-http's `TimeoutBody` alone it still says
//! how long it is: without that every request would seem to have a body, and none would be too long before it was read.

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower_http::timeout::TimeoutBody;

struct ReceivedBody {
    inner: Pin<Box<TimeoutBody<Incoming>>>,
    /// Bytes that have yet to come; `None`: its head doesn't say.
    left: Option<u64>,
}

/// `patience`: the longest silence within it.
pub(crate) fn receive_body(body: Incoming, patience: Duration) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    let left = body.size_hint().exact();
    Body::new(ReceivedBody { inner: Box::pin(TimeoutBody::new(patience, body)), left })
}

impl hyper::body::Body for ReceivedBody {
    type Data = Bytes;
    type Error = <TimeoutBody<Incoming> as hyper::body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = ready!(self.inner.as_mut().poll_frame(context));
        if let Some(Ok(piece)) = &frame
            && let Some(data) = piece.data_ref()
        {
            let came = u64::try_from(data.len()).unwrap_or(u64::MAX);
            self.left = self.left.map(|left| left.saturating_sub(came));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
