use crate::exam::{Check, ExamReport};
use crate::model::{Auth, Connection, ModelChunk, ModelError, ModelRequest, Price, Provider};
use crate::passthrough_request::PassthroughRequest;
use crate::routing::{Attempt, Role, Routing, Task};
use crate::{ConnectionId, Timestamp};
use async_trait::async_trait;
use futures::stream::BoxStream;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A streamed reply. Dropping it closes the upstream request.
pub type ChunkStream = BoxStream<'static, Result<ModelChunk, ModelError>>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    pub candidate: String,
    /// Natural logarithm of its probability.
    pub logprob: f32,
    pub tokens: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct KnownConnection {
    pub connection: Connection,
    /// `saved`, `OPENAI_API_KEY`, `Ollama at …`, `built in`.
    pub from: String,
    pub default: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionTest {
    /// Milliseconds until the request was accepted.
    pub accepted_ms: u64,
    /// Milliseconds until the first piece.
    pub first_ms: u64,
    /// Milliseconds until the end.
    pub total_ms: u64,
    /// The reply, cut.
    pub text: String,
    pub model: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ConnectionsError {
    #[error("{0}")]
    Invalid(String),
    /// Found in the environment or on this machine, so it can't be changed here.
    #[error("{0}")]
    Fixed(String),
    #[error(transparent)]
    Store(#[from] super::StoreError),
    #[error(transparent)]
    Vault(#[from] super::VaultError),
}

/// A key as typed, by field ([`crate::model::KEY_FIELD`] and its like); empty if none was typed.
pub type TypedKey = BTreeMap<String, SecretString>;

/// Connections as people manage them. Changes apply from the next run on.
#[async_trait]
pub trait ManagedConnections: Send + Sync {
    /// All, saved ones first.
    async fn list(&self) -> Vec<KnownConnection>;
    async fn named(&self, name: &str) -> Option<Connection> {
        let mut all = self.list().await.into_iter();
        all.find(|one| one.connection.name == name).map(|one| one.connection)
    }
    /// Creates or replaces by id. Without a typed key the stored one stays, if the connection still goes to the same
    /// server. The first connection besides the built-in model becomes the default; no other does.
    async fn save(&self, connection: Connection, key: TypedKey) -> Result<(), ConnectionsError>;
    async fn remove(&self, id: ConnectionId) -> Result<(), ConnectionsError>;
    async fn set_default(&self, id: ConnectionId) -> Result<(), ConnectionsError>;
    async fn test(&self, id: ConnectionId) -> Result<ConnectionTest, ModelError>;
}

#[derive(Debug, Clone, Copy)]
pub struct RouteRequest<'a> {
    /// The caller's own choice, which takes precedence.
    pub wanted: Option<ConnectionId>,
    /// Named for this part of the work; before all but `wanted`.
    pub assigned: Option<Assigned<'a>>,
    pub primary: Option<ConnectionId>,
    pub routing: &'a Routing,
    pub message: &'a str,
    /// The kind of request; `None` if the message has to tell.
    pub task: Option<Task>,
}

/// Who names a connection for a part of the work.
#[derive(Debug, Clone, Copy)]
pub enum Assigned<'a> {
    ByAgent(Role, ConnectionId),
    /// By a setting of the installation: a connection's name, which must exist.
    BySetting(Role, &'a str),
}

impl Assigned<'_> {
    pub fn role(self) -> Role {
        match self {
            Self::ByAgent(role, _) | Self::BySetting(role, _) => role,
        }
    }
}

/// The connections for a request, best first; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    pub task: Task,
    pub targets: Vec<Connection>,
    pub reason: String,
}

/// Makes the request for one connection, since each may need its own form.
pub type RequestFor<'a> = dyn Fn(&Connection) -> ModelRequest + Send + Sync + 'a;

pub struct ModelCall<'a> {
    /// The connections to try, in order.
    pub targets: &'a [Connection],
    pub routing: &'a Routing,
    pub request: &'a RequestFor<'a>,
    /// Longest time for all attempts and the whole reply, milliseconds.
    pub deadline_ms: u64,
}

pub struct Opened {
    pub connection: Connection,
    /// Whether an exam of it counts.
    pub examined: bool,
    /// All attempts, the successful one last.
    pub attempts: Vec<Attempt>,
    /// The reply from its beginning; its usage includes the cost.
    pub stream: ChunkStream,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct NoAnswer {
    /// The most useful error; its class says whether a later attempt makes sense.
    pub error: ModelError,
    pub attempts: Vec<Attempt>,
}

#[async_trait]
pub trait Models: Send + Sync {
    /// The connection of this id, or the system default.
    async fn select(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError>;
    /// The connections of these ids, in order, without those that were removed; an error if all were.
    async fn existing(&self, ids: &[ConnectionId]) -> Result<Vec<Connection>, ModelError> {
        let (mut found, mut missing) = (Vec::new(), None);
        for id in ids {
            match self.select(Some(*id)).await {
                Ok(connection) => found.push(connection),
                Err(error) => missing = missing.or(Some(error)),
            }
        }
        missing.filter(|_| found.is_empty()).map_or(Ok(found), Err)
    }
    async fn route(&self, request: RouteRequest<'_>) -> Result<Route, ModelError>;
    /// Asks a route's connections until one begins to answer. Dropping the future or the stream closes the request.
    async fn open(&self, call: ModelCall<'_>) -> Result<Opened, NoAnswer>;
    /// Asks one connection, once; returns when the endpoint has accepted the request.
    async fn stream(&self, connection: ConnectionId, request: ModelRequest) -> Result<ChunkStream, ModelError>;
    /// Likelihoods of `candidates` as the beginning of the reply. Only where `capabilities.scoring`.
    async fn score(
        &self,
        connection: ConnectionId,
        request: ModelRequest,
        candidates: &[String],
    ) -> Result<Vec<Scored>, ModelError>;
    async fn health(&self) -> Vec<ConnectionHealth>;
}

/// Whether requests go to a connection: the state of its circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
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

/// Health of a connection since the program started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectionHealth {
    pub connection: ConnectionId,
    pub breaker: Breaker,
    /// Milliseconds until the next attempt.
    pub retry_in_ms: Option<u64>,
    pub requests: u64,
    pub failures: u64,
    /// Median time to first content of the latest requests, milliseconds.
    pub first_ms: Option<u64>,
    pub last_error: Option<ModelError>,
    pub last_ok_at: Option<Timestamp>,
    pub last_failed_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passage {
    ChatCompletions,
    Completions,
    Embeddings,
    Responses,
}

pub type ByteStream = BoxStream<'static, Result<bytes::Bytes, ModelError>>;

/// The endpoint's own answer, whatever its status.
pub struct Passed {
    pub connection: Connection,
    /// All attempts, the successful one last.
    pub attempts: Vec<Attempt>,
    pub status: u16,
    /// Headers worth passing on, names in lower case: content type, request ids, rate limits, Retry-After.
    pub headers: Vec<(String, String)>,
    pub body: ByteStream,
}

/// A request about an answer that an endpoint keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptResponse {
    /// `GET`, `POST` or `DELETE`.
    pub method: String,
    pub id: String,
    /// What of it: `cancel`, `input_items`.
    pub part: Option<&'static str>,
    pub query: Vec<(String, String)>,
}

/// Passes requests of the OpenAI dialect through, including unknown fields.
#[async_trait]
pub trait Gateway: Send + Sync {
    /// Sends `body`, of which `asked` is what was read, to the first of `targets` that answers; its `model` is replaced. Refusals that are
    /// the fault of the request (4xx) are returned as they are.
    async fn pass(
        &self,
        targets: &[Connection],
        routing: &Routing,
        passage: Passage,
        (body, asked): (bytes::Bytes, &PassthroughRequest),
        deadline_ms: u64,
    ) -> Result<Passed, NoAnswer>;
    /// Asks `connection` about an answer that it made and keeps. Its answer comes back as it is.
    async fn kept_response(
        &self,
        connection: &Connection,
        asked: &KeptResponse,
        deadline_ms: u64,
    ) -> Result<Passed, ModelError>;
    /// Vectors of texts, in their order, by the model that `connection` names; asks once. `deadline_ms` is for all of them.
    async fn embed(
        &self,
        connection: &Connection,
        texts: &[String],
        deadline_ms: u64,
    ) -> Result<Vec<Vec<f32>>, ModelError>;
    /// `None` if no price is known.
    fn price(&self, connection: &Connection) -> Option<Price>;
}

#[async_trait]
pub trait Examiner: Send + Sync {
    /// Examines a connection and stores the report, which is used from then on. `progress` is called with each check.
    /// Takes up to about a minute; dropping the future stops it.
    async fn examine(
        &self,
        id: ConnectionId,
        progress: &(dyn for<'c> Fn(&'c Check) + Send + Sync),
    ) -> Result<ExamReport, ModelError>;
    async fn report(&self, id: ConnectionId) -> Option<ExamReport>;
    /// How far the exam of a connection is. `price`: what it costs there, where that is known.
    async fn state(&self, id: ConnectionId, price: Option<Price>) -> ExamState;
    /// Recognises what answers at a URL, first by the URL and then by requests; nothing is saved.
    async fn recognise(&self, base_url: &str, auth: &Auth, key: TypedKey) -> Result<Recognised, ModelError>;
}

/// How far the exam of a connection's model is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ExamState {
    /// There is a report.
    Done,
    /// It is being examined.
    Running,
    /// It ended without a report. The connection is used as one that nothing is known of.
    Failed {
        /// What happened.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Somebody has to begin it, mostly since it costs something.
    Waiting {
        /// Tokens that it takes at most.
        most_tokens: u64,
        /// What they cost at most, millionths of a US dollar; null: the price isn't known.
        #[schema(required)]
        most_cost: Option<u64>,
    },
}

/// What seems to answer at a URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
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
