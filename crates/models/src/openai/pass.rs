//! Requests of the OpenAI dialect passed straight through: bytes in, bytes out.

use async_stream::stream;
use bytes::Bytes;
use futures::StreamExt;
use reqwest::Response;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;
use steward_core::model::{Connection, ModelError, Usage};
use steward_core::ports::{ByteStream, Passage};
use tokio::time::timeout;

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
        self.send(connection, &Outgoing::post(path, body), limits)
            .await
    }
}

/// The error that an endpoint's refusal is; `raw` is its body.
pub(crate) fn judged(origin: &Origin, status: u16, headers: &HeaderMap, raw: &str) -> ModelError {
    let refusal = classify::http(status, raw);
    let error = origin.refused(&refusal, Some(status), &[]);
    ModelError {
        retry_after_ms: retry_after_ms(headers).or(refusal.retry_after_ms),
        ..origin.with_detail(error, raw)
    }
}

/// The error that an error object in the place of an answer is.
pub(crate) fn judged_in_band(origin: &Origin, error: &Value) -> ModelError {
    let refusal = classify::in_band(error);
    let told = origin.refused(&refusal, None, &[]);
    origin.with_detail(told, &error.to_string())
}

/// The body of an answer as it comes; `models.idle_timeout_ms` between two pieces.
pub(crate) fn bytes(origin: Origin, mut response: Response, limits: Limits) -> ByteStream {
    stream! {
        loop {
            match timeout(limits.left(limits.timeouts.idle), response.chunk()).await {
                Ok(Ok(Some(piece))) => yield Ok(piece),
                Ok(Ok(None)) => return,
                Ok(Err(error)) => {
                    yield Err(origin.broken(&causes_without_url(&error), Usage::default()));
                    return;
                }
                Err(_) => {
                    yield Err(limits.idle(&origin));
                    return;
                }
            }
        }
    }
    .boxed()
}
