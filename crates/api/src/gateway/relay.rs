//! The body on its way to the client: unchanged, metered, and with a word where it breaks off.

use super::usage_sniffer::UsageSniffer;
use crate::openai::{OpenAiError, model_error, stopping};
use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use memchr::memmem;
use serde_json::json;
use std::pin::Pin;
use std::task::{Context, Poll};
use steward_app::Reservation;
use steward_core::model::{Connection, ModelError, Price};
use steward_core::ports::{ByteStream, Passage};

/// Longest part of an event that is kept back until the rest of it comes, bytes.
const PARTIAL: usize = 1 << 20;

pub(super) struct Relay {
    pub body: ByteStream,
    pub sniffer: UsageSniffer,
    pub reservation: Reservation,
    pub connection: Connection,
    pub price: Option<Price>,
    pub passage: Passage,
    /// Whether it is a stream of events: then only whole ones go out, so that an error can follow.
    pub events: bool,
    pub partial: BytesMut,
    pub refused: bool,
    pub over: bool,
    pub closing: BoxFuture<'static, ()>,
}

impl Relay {
    fn settle(&mut self, failed: bool) {
        self.over = true;
        let mut usage = self.sniffer.usage();
        if self.refused {
            usage = steward_core::model::Usage::default();
        }
        usage.cost_micros = self.price.map_or(0, |price| price.cost(&usage));
        let priced = self.price.is_some();
        let failed = failed || self.refused;
        self.reservation.settle(Some(&self.connection), usage, priced, failed);
    }

    fn whole_events(&mut self, piece: Bytes) -> Bytes {
        if self.partial.is_empty() && piece.ends_with(b"\n\n") {
            return piece;
        }
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(&piece);
        let end = end_of_events(&all).unwrap_or(if all.len() > PARTIAL { all.len() } else { 0 });
        self.partial = all.split_off(end);
        all.freeze()
    }

    /// In the place of what will not come any more.
    fn told(&self, error: &OpenAiError) -> Bytes {
        let body = error.body();
        let text = match self.passage {
            Passage::Responses => {
                let inner = &body["error"];
                let event = json!({"type": "error", "code": inner["code"], "message": inner["message"], "param": null, "error": inner});
                format!("event: error\ndata: {event}\n\n")
            }
            _ => format!("data: {body}\n\n"),
        };
        Bytes::from(text)
    }
}

fn end_of_events(bytes: &[u8]) -> Option<usize> {
    let ends: [&[u8]; 3] = [b"\n\n", b"\r\n\r\n", b"\r\r"];
    ends.iter().filter_map(|end| memmem::rfind(bytes, end).map(|at| at + end.len())).max()
}

impl Stream for Relay {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.over {
                return Poll::Ready(None);
            }
            let Poll::Ready(next) = self.body.poll_next_unpin(context) else {
                futures::ready!(self.closing.poll_unpin(context));
                self.settle(true);
                return Poll::Ready(self.events.then(|| Ok(self.told(&stopping()))));
            };
            match next {
                Some(Ok(piece)) => {
                    self.sniffer.take(&piece);
                    let out = if self.events { self.whole_events(piece) } else { piece };
                    if !out.is_empty() {
                        return Poll::Ready(Some(Ok(out)));
                    }
                }
                Some(Err(error)) => {
                    tracing::warn!(connection = self.connection.name, %error, "an answer broke off");
                    self.settle(true);
                    let told = if self.events { Ok(self.told(&model_error(&error))) } else { Err(error) };
                    return Poll::Ready(Some(told));
                }
                None => {
                    self.settle(false);
                    let rest = self.partial.split().freeze();
                    return Poll::Ready((!rest.is_empty()).then_some(Ok(rest)));
                }
            }
        }
    }
}

impl Drop for Relay {
    /// The client went away: what has passed by counts.
    fn drop(&mut self) {
        if !self.over {
            self.settle(false);
        }
    }
}
