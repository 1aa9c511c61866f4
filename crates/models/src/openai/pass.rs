//! Requests of the OpenAI dialect passed straight through: bytes in, bytes out.

use bytes::Bytes;
use futures::{Stream, StreamExt};
use hyper::body::Body as _;
use reqwest::Response;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use steward_core::model::{Connection, ModelError, Usage};
use steward_core::ports::{ByteStream, Passage};
use tokio::time::{Instant, Sleep, sleep_until};

use super::classify;
use super::client::Client;
use super::describe::Origin;
use super::limits::Limits;
use super::retry_after::retry_after_ms;
use super::send::{Outgoing, causes_without_url};

impl Client {
    /// Limits of a passed call that may take `whole`.
    pub(crate) fn passing_limits(&self, whole: Duration) -> Limits {
        Limits::new(whole, 0, self.inner.timeouts)
    }

    /// Sends `body` as it is to the connection's endpoint of the dialect; returns the endpoint's own
    /// answer, whatever its status, once its head has come. Dropping it closes the request.
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

/// The error that an endpoint's refusal is; `raw` is its body.
pub(crate) fn judged(origin: &Origin, status: u16, headers: &HeaderMap, raw: &str) -> ModelError {
    let refusal = classify::http(status, raw);
    let error = origin.refused(&refusal, Some(status), &[]);
    ModelError { retry_after_ms: retry_after_ms(headers).or(refusal.retry_after_ms), ..origin.with_detail(error, raw) }
}

/// The error that an error object in the place of an answer is.
pub(crate) fn judged_in_band(origin: &Origin, error: &Value) -> ModelError {
    let refusal = classify::in_band(error);
    let told = origin.refused(&refusal, None, &[]);
    origin.with_detail(told, &error.to_string())
}

/// The body of an answer as it comes; `models.idle_timeout_ms` between two pieces.
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
                    // Trailers say nothing to us.
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

/// The wait for the next piece. A timer that was set is not moved with every piece: when it goes off, it is seen whether
/// another one is due.
struct Patience {
    limits: Limits,
    /// When the wait began; `None`: nothing is waited for.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    fn new(limits: Limits) -> Self {
        Self { limits, since: None, timer: None }
    }

    /// Something has come.
    fn renew(&mut self) {
        self.since = None;
    }

    /// Ready when it is at an end.
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
