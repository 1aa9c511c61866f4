use super::error_messages::Origin;
use super::send::Outgoing;
use super::transport::causes_without_url;
use super::{Client, Limits};
use bytes::Bytes;
use futures::StreamExt as _;
use http_body_util::BodyExt as _;
use reqwest::Response;
use steward_core::model::{Connection, ModelError, Usage};
use steward_core::ports::{ByteStream, Passage};
use tokio::time::timeout;

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
        self.send(connection, &Outgoing::post_bytes(path, body), limits).await
    }
}

/// The answer's body; `models.idle_timeout_ms` applies between two pieces.
pub(crate) fn bytes(origin: Origin, response: Response, limits: Limits) -> ByteStream {
    async_stream::stream! {
        let mut body = reqwest::Body::from(response);
        loop {
            match timeout(limits.left(limits.timeouts.idle), body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    // Trailers are dropped.
                    if let Ok(piece) = frame.into_data() {
                        yield Ok(piece);
                    }
                }
                Ok(Some(Err(error))) => {
                    yield Err(origin.broken(&causes_without_url(&error), Usage::default()));
                    return;
                }
                Ok(None) => return,
                Err(_) => {
                    yield Err(limits.idle(&origin));
                    return;
                }
            }
        }
    }
    .boxed()
}
