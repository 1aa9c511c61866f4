//! The body on its way to the client: unchanged, metered, and with a word where it breaks off.

use super::usage_sniffer::UsageSniffer;
use crate::openai::{OpenAiError, model_error, stopping};
use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use memchr::memmem;
use serde_json::{Value, json};
use std::pin::Pin;
use std::task::{Context, Poll};
use steward_app::Reservation;
use steward_core::model::{Connection, ModelError, Price};
use steward_core::ports::{ByteStream, Passage};

/// Longest part of an event that is kept back until the rest of it comes, bytes.
const PARTIAL: usize = 1 << 20;

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the answer")]
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
    /// The provider has said in the stream that it failed.
    pub failed: bool,
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
        let failed = failed || self.refused || self.failed;
        self.reservation.settle(Some(&self.connection), usage, priced, failed);
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

/// What has come of `piece` and of what was kept back before, up to the end of its last event.
fn whole_events(partial: &mut BytesMut, piece: Bytes) -> Bytes {
    if partial.is_empty() && piece.ends_with(b"\n\n") {
        return piece;
    }
    let mut all = std::mem::take(partial);
    // What was kept back has no end in it, but may have the beginning of one.
    let from = all.len().saturating_sub(3);
    all.extend_from_slice(&piece);
    let too_long = if all.len() > PARTIAL { all.len() } else { 0 };
    let end = end_of_events(&all[from..]).map_or(too_long, |end| from + end);
    *partial = all.split_off(end);
    all.freeze()
}

/// Whether one of these events is the provider's error, in a form that clients raise.
fn tells_failure(events: &[u8], passage: Passage) -> bool {
    if memmem::find(events, b"\"error\"").is_none() {
        return false;
    }
    let lines = events.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.strip_prefix(b"data:")).any(|data| {
        let Ok(value) = serde_json::from_slice::<Value>(data) else {
            return false;
        };
        let errors = [&value["error"], &value["response"]["error"]];
        passage == Passage::Responses && value["type"] == "error"
            || value["choices"][0]["finish_reason"] == "error"
            || errors.iter().any(|error| !error.is_null())
    })
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
                    let out = if self.events { whole_events(&mut self.partial, piece) } else { piece };
                    self.failed |= self.events && tells_failure(&out, self.passage);
                    if !out.is_empty() {
                        return Poll::Ready(Some(Ok(out)));
                    }
                }
                Some(Err(error)) => {
                    tracing::warn!(connection = self.connection.name, %error, "an answer broke off");
                    self.settle(true);
                    if self.failed {
                        // The provider's own words are enough.
                        return Poll::Ready(None);
                    }
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
    /// The client went away: what has passed by counts. Of a document nothing has, until all of it was made.
    fn drop(&mut self) {
        if self.over {
            return;
        }
        if !self.events && self.passage != Passage::Embeddings && self.sniffer.told().is_none() {
            let guessed = self.reservation.guess().completion_tokens;
            self.sniffer.at_least(guessed);
        }
        self.settle(false);
    }
}

#[cfg(test)]
mod tests {
    use super::{PARTIAL, end_of_events, tells_failure, whole_events};
    use bytes::{Bytes, BytesMut};
    use steward_core::ports::Passage;

    #[test]
    fn events_go_out_whole_wherever_they_are_cut() {
        let text = "data: 1\n\ndata: 2\r\n\r\ndata: 3\r\rdata: 4\n\nrest".as_bytes();
        for size in 1..text.len() {
            let mut partial = BytesMut::new();
            let mut sent = Vec::new();
            for piece in text.chunks(size) {
                let out = whole_events(&mut partial, Bytes::from_static(piece));
                assert!(out.is_empty() || end_of_events(&out) == Some(out.len()), "{size}: {out:?}");
                sent.extend_from_slice(&out);
            }
            assert_eq!((&sent[..], &partial[..]), (&text[..text.len() - 4], &b"rest"[..]), "{size}");
        }
    }

    #[test]
    fn the_providers_own_error_is_known() {
        for (event, fails) in [
            (r#"data: {"error": {"message": "overloaded"}}"#, true),
            (r#"data: {"type": "error", "error": "x"}"#, true),
            (r#"data: {"choices": [{"delta": {}, "finish_reason": "error"}]}"#, true),
            (r#"data: {"type": "response.failed", "response": {"error": {"code": "x"}}}"#, true),
            (r#"data: {"error": null, "choices": []}"#, false),
            (r#"data: {"choices": [{"delta": {"content": "an \"error\""}, "finish_reason": null}]}"#, false),
        ] {
            let told = tells_failure(format!("{event}\n\n").as_bytes(), Passage::ChatCompletions);
            assert_eq!(told, fails, "{event}");
        }
    }

    #[test]
    fn an_event_longer_than_what_is_kept_back_goes_out_in_parts() {
        let mut partial = BytesMut::new();
        assert!(whole_events(&mut partial, Bytes::from(vec![b'x'; PARTIAL])).is_empty());
        assert_eq!(whole_events(&mut partial, Bytes::from_static(b"y")).len(), PARTIAL + 1);
        assert!(partial.is_empty());
    }
}
