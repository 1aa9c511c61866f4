use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use http::{Request, Response};

pub type ByteStream = BoxStream<'static, anyhow::Result<Bytes>>;

/// A way to the API: a socket, or the same router in this process. Addresses of requests are paths.
#[async_trait]
pub trait Transport: Send + Sync {
    /// An error means that there was no answer; the request may have been executed.
    async fn send(&self, request: Request<Bytes>) -> anyhow::Result<Response<ByteStream>>;

    /// URL for a browser of this machine; `None` if the work is done in this process.
    fn server_url(&self) -> Option<String> {
        None
    }

    /// What to do if the server refuses the key.
    fn key_hint(&self) -> Option<String> {
        None
    }

    /// Called before a request is repeated, since the server may have been restarted.
    async fn reconnect(&self) {}

    async fn close(&self) {}
}
