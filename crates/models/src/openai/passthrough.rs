//! Passes requests of the OpenAI dialect through as bytes.

use super::error_messages::Origin;
use super::send::{Outgoing, causes_without_url};
use super::{Client, Limits};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use hyper::body::Body as _;
use reqwest::Response;
use std::pin::Pin;
use std::task::{Context, Poll};
use steward_core::model::{Connection, ModelError, Usage};
use steward_core::ports::{ByteStream, Passage};
use tokio::time::{Instant, Sleep, sleep_until};

impl Client {
    /// Returns the answer, whatever its status, once its headers have come. Dropping it closes the request.
    pub(crate) async fn pass(
        &self,
        connection: &Connection,
        passage: Passage,
        body: Bytes,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let path = match passage {
            Passage::ChatCompletions => "chat/completions",
            Passage::Completions => "completions",
            Passage::Embeddings => "embeddings",
            Passage::Responses => "responses",
        };
        self.send(connection, &Outgoing::post(path, body), limits).await
    }
}

/// The answer's body; `models.idle_timeout_ms` applies between two pieces.
pub(crate) fn bytes(origin: Origin, response: Response, limits: Limits) -> ByteStream {
    Pieces { body: reqwest::Body::from(response), patience: Patience::new(limits), origin, limits, over: false }.boxed()
}

struct Pieces {
    body: reqwest::Body,
    origin: Origin,
    limits: Limits,
    patience: Patience,
    over: bool,
}

impl Stream for Pieces {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if this.over {
                return Poll::Ready(None);
            }
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    this.patience.renew();
                    // Trailers are dropped.
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Some(Ok(piece)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    this.over = true;
                    let why = causes_without_url(&error);
                    return Poll::Ready(Some(Err(this.origin.broken(&why, Usage::default()))));
                }
                Poll::Ready(None) => this.over = true,
                Poll::Pending => {
                    futures::ready!(this.patience.poll(context));
                    this.over = true;
                    return Poll::Ready(Some(Err(this.limits.idle(&this.origin))));
                }
            }
        }
    }
}

/// The wait for the next piece. The timer is not reset for every piece: when it goes off, a new end is computed.
struct Patience {
    limits: Limits,
    /// When the wait began; `None`: not waiting.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    fn new(limits: Limits) -> Self {
        Self { limits, since: None, timer: None }
    }

    fn renew(&mut self) {
        self.since = None;
    }

    /// Ready when the time is up.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let ends = (since + self.limits.timeouts.idle).min(self.limits.deadline.into());
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(ends)));
        loop {
            futures::ready!(timer.as_mut().poll(context));
            if Instant::now() >= ends {
                return Poll::Ready(());
            }
            timer.as_mut().reset(ends);
        }
    }
}
