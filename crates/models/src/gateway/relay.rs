//! The body of an answer on its way to the client; the connection's permit is told how it went.

use bytes::Bytes;
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::task::{Context, Poll};
use steward_core::model::{ModelError, Usage};
use steward_core::ports::{ByteStream, Passage};

use super::answer::Answer;
use super::signs;
use crate::openai::Origin;
use crate::registry::Permit;

/// How much of the end is looked at for the sign that it is the end, bytes.
const TAIL: usize = 2048;

/// The bytes as they come.
pub(super) struct Relay {
    begin: Bytes,
    rest: Option<ByteStream>,
    permit: Option<Permit>,
    end: Option<End>,
}

/// The last bytes of a stream of events.
struct End {
    tail: Vec<u8>,
    passage: Passage,
    origin: Origin,
}

impl End {
    fn take(&mut self, piece: &[u8]) {
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL)..]);
        if self.tail.len() > 4 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }
}

impl Relay {
    pub fn new(answer: Answer, passage: Passage, permit: Permit) -> Self {
        let end = answer.events.then(|| End { tail: Vec::with_capacity(4 * TAIL), passage, origin: answer.origin });
        Self { begin: answer.begin, rest: answer.rest, permit: Some(permit), end }
    }

    fn failed(&mut self, error: &ModelError) {
        self.rest = None;
        if let Some(permit) = self.permit.take() {
            permit.failed(error);
        }
    }

    /// At the end of the bytes: an error if the answer itself had not come to its end.
    fn ended(&mut self) -> Option<ModelError> {
        self.rest = None;
        let end = self.end.take();
        if let Some(end) = end.filter(|end| !signs::has_end(&end.tail, end.passage)) {
            let error = end.origin.broken("the stream ended before the answer did", Usage::default());
            self.failed(&error);
            return Some(error);
        }
        if let Some(permit) = self.permit.take() {
            permit.completed();
        }
        None
    }
}

impl Stream for Relay {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = if self.begin.is_empty() {
            let Some(rest) = &mut self.rest else {
                return Poll::Ready(self.ended().map(Err));
            };
            match futures::ready!(rest.poll_next_unpin(context)) {
                Some(Ok(piece)) => piece,
                Some(Err(error)) => {
                    self.end = None;
                    self.failed(&error);
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(self.ended().map(Err)),
            }
        } else {
            std::mem::take(&mut self.begin)
        };
        if let Some(end) = &mut self.end {
            end.take(&piece);
        }
        Poll::Ready(Some(Ok(piece)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, None)
    }
}
