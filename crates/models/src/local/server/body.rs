use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::chat::ChatStream;
use crate::local::infer::Refusal;

const MAX_REQUEST_BYTES: usize = 16 << 20;

/// A response's body: all at once, or events as they come.
pub(super) enum ReplyBody {
    Whole(Option<Bytes>),
    Events(Box<ChatStream>),
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
            Self::Events(stream) => stream.poll_event(cx).map(|event| event.map(|b| Ok(Frame::data(b)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// Reads a whole request body, within limits.
pub(super) async fn read(mut body: Incoming) -> Result<Bytes, Refusal> {
    let mut all = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|e| Refusal::invalid("body", format!("the request body broke off: {e}")))?;
        if let Ok(data) = frame.into_data() {
            if all.len() + data.len() > MAX_REQUEST_BYTES {
                return Err(Refusal {
                    status: 413,
                    ..Refusal::invalid("body", format!("the request is larger than {MAX_REQUEST_BYTES} bytes"))
                });
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(all.freeze())
}
