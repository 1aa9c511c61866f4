//! Models behind whatever endpoints there are.

use crate::exam::{Check, ExamReport};
use crate::model::{Auth, Connection, ModelChunk, ModelError, ModelRequest, Price, Provider};
use crate::routing::{Attempt, Routing, Task};
use crate::{ConnectionId, Timestamp};
use async_trait::async_trait;
use futures::stream::BoxStream;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A streamed reply. Dropping it closes the upstream request.
pub type ChunkStream = BoxStream<'static, Result<ModelChunk, ModelError>>;

/// How likely a model finds a given continuation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    pub candidate: String,
    /// Natural logarithm of its probability.
    pub logprob: f32,
    /// Its length in tokens.
    pub tokens: u32,
}

/// A connection as people manage it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownConnection {
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
    pub text: String,
    /// Model name as answered.
    pub model: String,
}

/// Why connections could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionsError {
    #[error("{0}")]
    Invalid(String),
    /// It was found by itself (environment, this machine) and can't be changed here.
    #[error("{0}")]
    Fixed(String),
    #[error(transparent)]
    Store(#[from] super::StoreError),
    #[error(transparent)]
    Vault(#[from] super::VaultError),
}

/// A key as it was typed, by the fields of [`crate::model::KEY_FIELD`] and its like; empty: none was.
pub type TypedKey = BTreeMap<String, SecretString>;

/// Connections as people manage them: changes are in force at the next run.
#[async_trait]
pub trait ManagedConnections: Send + Sync {
    /// All, saved ones first.
    async fn list(&self) -> Vec<KnownConnection>;
    /// The one of this name.
    async fn named(&self, name: &str) -> Option<Connection> {
        let mut all = self.list().await.into_iter();
        all.find(|one| one.connection.name == name).map(|one| one.connection)
    }
    /// Makes or replaces by id.
    /// Without a typed key, the one that was kept stays, so far as the connection goes to the same server.
    /// The first that is not the built-in model becomes the default; no other does.
    async fn save(&self, connection: Connection, key: TypedKey) -> Result<(), ConnectionsError>;
    async fn remove(&self, id: ConnectionId) -> Result<(), ConnectionsError>;
    /// Makes one the system default.
    async fn set_default(&self, id: ConnectionId) -> Result<(), ConnectionsError>;
    /// Asks it for one short reply.
    async fn test(&self, id: ConnectionId) -> Result<ConnectionTest, ModelError>;
}

/// What a route is chosen by.
#[derive(Debug, Clone, Copy)]
pub struct RouteRequest<'a> {
    /// The caller's own choice; it goes before everything else.
    pub wanted: Option<ConnectionId>,
    pub primary: Option<ConnectionId>,
    pub routing: &'a Routing,
    pub message: &'a str,
    /// The kind of request, where that is known without looking at the message.
    pub task: Option<Task>,
}

/// The connections for a request, best first; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    pub task: Task,
    /// In the order in which they are tried.
    pub targets: Vec<Connection>,
    /// Why, for a person.
    pub reason: String,
}

/// Makes the request for one connection, since each may need another form of it.
pub type RequestFor<'a> = dyn Fn(&Connection) -> ModelRequest + Send + Sync + 'a;

/// A call of whichever connection of a route answers.
pub struct ModelCall<'a> {
    /// The connections to try, in order. Those that are gone meanwhile are left out.
    pub targets: &'a [ConnectionId],
    pub routing: &'a Routing,
    /// The request for each of them.
    pub request: &'a RequestFor<'a>,
    /// Longest time for all attempts and the whole reply, milliseconds.
    pub deadline_ms: u64,
}

/// A reply that has begun.
pub struct Opened {
    pub connection: Connection,
    /// All that were asked, the one that answers last.
    pub attempts: Vec<Attempt>,
    /// The reply from its beginning; usage in it has its cost.
    pub stream: ChunkStream,
}

/// No connection answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct NoAnswer {
    /// The error worth telling; its class says whether another try later makes sense.
    pub error: ModelError,
    pub attempts: Vec<Attempt>,
}

/// All connections of an installation.
#[async_trait]
pub trait Models: Send + Sync {
    /// The connection of this id, or the system default.
    async fn select(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError>;
    /// The connections for a request.
    async fn route(&self, request: RouteRequest<'_>) -> Result<Route, ModelError>;
    /// Asks the connections of a route until one begins to answer. Returns with the first
    /// content; dropping it, or the stream, closes the upstream request.
    async fn open(&self, call: ModelCall<'_>) -> Result<Opened, NoAnswer>;
    /// Asks one connection, once; returns when the endpoint has accepted the request.
    async fn stream(&self, connection: ConnectionId, request: ModelRequest) -> Result<ChunkStream, ModelError>;
    /// Likelihoods of `candidates` as the beginning of the reply. Only where
    /// `capabilities.scoring`.
    async fn score(
        &self,
        connection: ConnectionId,
        request: ModelRequest,
        candidates: &[String],
    ) -> Result<Vec<Scored>, ModelError>;
    async fn health(&self) -> Vec<ConnectionHealth>;
}

/// Whether requests go to a connection: the state of its circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Breaker {
    /// Requests go through.
    #[default]
    Closed,
    /// None does for now.
    Open,
    /// One may try.
    HalfOpen,
}

/// How a connection has fared since the program started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConnectionHealth {
    pub connection: ConnectionId,
    /// Whether it is asked at the moment.
    pub breaker: Breaker,
    /// How long it is not asked yet, milliseconds.
    pub retry_in_ms: Option<u64>,
    pub requests: u64,
    pub failures: u64,
    /// Median time to first content of the last ones, milliseconds.
    pub first_ms: Option<u64>,
    pub last_error: Option<ModelError>,
    pub last_ok_at: Option<Timestamp>,
    pub last_failed_at: Option<Timestamp>,
}

/// Interfaces of the OpenAI dialect that the gateway passes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passage {
    /// `POST chat/completions`.
    ChatCompletions,
    /// `POST completions`.
    Completions,
    /// `POST embeddings`.
    Embeddings,
    /// `POST responses`.
    Responses,
}

/// Bytes of an answer as they come.
pub type ByteStream = BoxStream<'static, Result<bytes::Bytes, ModelError>>;

/// The endpoint's own answer, whatever its status.
pub struct Passed {
    pub connection: Connection,
    /// All that were asked, the one that answers last.
    pub attempts: Vec<Attempt>,
    /// HTTP status.
    pub status: u16,
    /// Headers worth passing on, in lower case: content type, request ids, rate limits, Retry-After.
    pub headers: Vec<(String, String)>,
    /// The body, unchanged.
    pub body: ByteStream,
}

/// Passes requests of the OpenAI dialect straight through, unknown fields and all.
#[async_trait]
pub trait Gateway: Send + Sync {
    /// Sends `body` (a JSON object; its `model` is replaced) to the first of `targets` that answers.
    /// Refusals that are the request's own fault (4xx) come back as they are.
    async fn pass(
        &self,
        targets: &[ConnectionId],
        routing: &Routing,
        passage: Passage,
        body: bytes::Bytes,
        deadline_ms: u64,
    ) -> Result<Passed, NoAnswer>;
    /// The price of `connection`'s model, where one is known.
    fn price(&self, connection: &Connection) -> Option<Price>;
}

#[async_trait]
pub trait Examiner: Send + Sync {
    /// Examines a connection, keeps the report and uses it from now on. `progress` is told each check.
    /// Takes up to a minute or so; dropping the future stops it.
    async fn examine(
        &self,
        id: ConnectionId,
        progress: &(dyn for<'c> Fn(&'c Check) + Send + Sync),
    ) -> Result<ExamReport, ModelError>;
    /// The report of a connection, if there is one.
    async fn report(&self, id: ConnectionId) -> Option<ExamReport>;
    /// Recognises what answers at a URL, by the URL and then by asking; nothing is saved.
    async fn recognise(&self, base_url: &str, auth: &Auth, key: TypedKey) -> Result<Recognised, ModelError>;
}

/// What seems to answer at a URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Recognised {
    /// The provider.
    pub provider: Provider,
    /// The base URL, mended: with scheme and `/v1` where they belong.
    pub base_url: String,
    /// Whether it answered when asked.
    pub confirmed: bool,
    /// Models it lists; empty if it does not tell.
    pub models: Vec<String>,
    /// What it says it is, such as `vllm 0.11.0`.
    pub server: String,
    /// Why, for a person.
    pub reason: String,
}
