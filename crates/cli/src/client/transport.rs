//! The way to the API.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use http::{Request, Response};

/// The body of an answer, as it is made.
pub type ByteStream = BoxStream<'static, anyhow::Result<Bytes>>;

/// A way to the API: a socket, or the same router in this process. Addresses of requests are paths.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request. An error says that there was no answer: whether the request was carried out is not known.
    async fn send(&self, request: Request<Bytes>) -> anyhow::Result<Response<ByteStream>>;

    /// Where a browser of this machine reaches the server; `None`: the work is done in this process.
    fn server_url(&self) -> Option<String> {
        None
    }

    /// What to do where the server refuses the key.
    fn key_hint(&self) -> Option<String> {
        None
    }

    /// Called before a request is sent again: a server may have been started anew.
    async fn reconnect(&self) {}

    /// Lets go of what is held.
    async fn close(&self) {}
}
