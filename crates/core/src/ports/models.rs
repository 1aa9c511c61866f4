//! Models behind whatever endpoints there are.

use crate::ConnectionId;
use crate::model::{Connection, ModelChunk, ModelError, ModelRequest};
use async_trait::async_trait;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

/// A streamed reply. Dropping it closes the upstream request.
pub type ChunkStream = BoxStream<'static, Result<ModelChunk, ModelError>>;

/// How likely a model finds a given continuation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The continuation.
    pub candidate: String,
    /// Natural logarithm of its probability.
    pub logprob: f32,
    /// Its length in tokens.
    pub tokens: u32,
}

/// All connections of an installation.
#[async_trait]
pub trait Models: Send + Sync {
    /// The connection of this id, or the system default.
    async fn select(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError>;
    /// Asks; returns once the endpoint has accepted the request.
    async fn stream(
        &self,
        connection: ConnectionId,
        request: ModelRequest,
    ) -> Result<ChunkStream, ModelError>;
    /// Likelihoods of `candidates` as the beginning of the reply. Only where
    /// `capabilities.scoring`.
    async fn score(
        &self,
        connection: ConnectionId,
        request: ModelRequest,
        candidates: &[String],
    ) -> Result<Vec<Scored>, ModelError>;
}
