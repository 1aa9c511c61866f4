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

/// A connection as people manage it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownConnection {
    /// The connection.
    pub connection: Connection,
    /// `saved`, `OPENAI_API_KEY`, `Ollama at …`, `built in`.
    pub from: String,
    /// Whether it is the system default.
    pub default: bool,
}

/// What a test of a connection found.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionTest {
    /// Milliseconds until it took the request, until the first piece, until the end.
    pub accepted_ms: u64,
    /// Until the first piece.
    pub first_ms: u64,
    /// Until the end.
    pub total_ms: u64,
    /// What it said, cut.
    pub text: String,
    /// Model name as answered.
    pub model: String,
}

/// Why connections could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionsError {
    /// Input that can't be.
    #[error("{0}")]
    Invalid(String),
    /// It was found by itself (environment, this machine) and can't be changed here.
    #[error("{0}")]
    Fixed(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] super::StoreError),
}

/// Connections as people manage them: changes are in force at the next run.
#[async_trait]
pub trait ManagedConnections: Send + Sync {
    /// All, saved ones first.
    async fn list(&self) -> Vec<KnownConnection>;
    /// Makes or replaces by id.
    async fn save(&self, connection: Connection) -> Result<(), ConnectionsError>;
    /// Removes a saved one.
    async fn remove(&self, id: ConnectionId) -> Result<(), ConnectionsError>;
    /// Makes one the system default.
    async fn set_default(&self, id: ConnectionId) -> Result<(), ConnectionsError>;
    /// Asks it for one short reply.
    async fn test(&self, id: ConnectionId) -> Result<ConnectionTest, ModelError>;
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
