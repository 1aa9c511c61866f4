//! Implements the core's model port over all connections of an installation: routing, retries, health, pass-through.

pub(crate) mod attempt;
mod choose;
mod circuit;
mod connections;
mod document_as_stream;
mod errors;
mod health;
mod kept_responses;
mod passthrough;
mod passthrough_answer;

pub(crate) use attempt::{Answered, Plan, try_targets};
pub(crate) use circuit::RouterOptions;
pub(crate) use health::Permit;

use super::openai::Client;
use super::price::Prices;
use async_trait::async_trait;
use choose::{Chooser, Turns, choose};
use connections::ConnectionSet;
use futures::{Stream, StreamExt};
use health::HealthTracker;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::exam::ExamReport;
use steward_core::locks::{lock, read, write};
use steward_core::model::{Connection, ModelChunk, ModelError, ModelErrorClass, ModelRequest, Price};
use steward_core::ports::{
    ChunkStream, Clock, ConnectionHealth, ModelCall, Models, NoAnswer, Opened, Route, RouteRequest, Scored,
};
use steward_core::routing::Role;

/// Connections can be replaced while it runs.
pub struct Router {
    client: Client,
    known: RwLock<ConnectionSet>,
    health: Arc<HealthTracker>,
    prices: Prices,
    turns: Mutex<Turns>,
}

impl Router {
    /// Without `default` the first connection is the default. Uses the built-in prices.
    pub fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        connections: Vec<Connection>,
        default: Option<ConnectionId>,
    ) -> Self {
        Self {
            client,
            known: RwLock::new(ConnectionSet { connections, default, ..ConnectionSet::default() }),
            health: Arc::new(HealthTracker::new(clock, RouterOptions::default())),
            prices: Prices::built_in(),
            turns: Mutex::default(),
        }
    }

    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Running calls go on. Health is kept for connections that are called as before.
    pub fn replace_connections(&self, connections: Vec<Connection>, default: Option<ConnectionId>) {
        let mut known = write(&self.known);
        self.health.replaced(&known.connections, &connections);
        known.connections = connections;
        known.default = default;
        drop(known);
        lock(&self.turns).clear();
    }

    /// Resets the health of a connection, since its key has changed.
    pub fn reset_health(&self, id: ConnectionId) {
        self.health.forget(id);
    }

    /// Replaces the exam reports, whose grades `cost_aware` routing uses.
    pub fn set_reports(&self, reports: Vec<ExamReport>) {
        write(&self.known).set_reports(reports);
    }

    pub fn connections(&self) -> Vec<Connection> {
        read(&self.known).connections.clone()
    }

    pub fn default_connection(&self) -> Option<Connection> {
        read(&self.known).system_default().cloned()
    }

    /// The connection that a setting names for a part of the work.
    pub fn named(&self, role: Role, name: &str) -> Result<Connection, ModelError> {
        read(&self.known).named(role, name).cloned()
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn price(&self, connection: &Connection) -> Option<Price> {
        self.prices.of(connection, None)
    }

    pub fn prices(&self) -> &Prices {
        &self.prices
    }
}

#[async_trait]
impl Models for Router {
    async fn select(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError> {
        read(&self.known).resolve(wanted)
    }

    async fn route(&self, request: RouteRequest<'_>) -> Result<Route, ModelError> {
        let mut turns = lock(&self.turns);
        let chooser = Chooser { known: &read(&self.known), prices: &self.prices, health: &self.health };
        choose(&chooser, &mut turns, request)
    }

    async fn open(&self, call: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        if call.targets.is_empty() {
            return Err(not_asked(errors::no_connection()));
        }
        let plan = Plan::new(call.routing, call.deadline_ms);
        let attempt = |connection: Connection, left: Duration| {
            let mut request = (call.request)(&connection);
            let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
            request.timeout_ms = request.timeout_ms.min(left_ms);
            async move {
                let stream = self.client.stream(&connection, &request).await?;
                wait_for_content(&connection, stream).await
            }
        };
        let answered = try_targets(&self.health, call.targets, plan, attempt).await?;
        let Answered { connection, attempts, value, permit } = answered;
        let stream = report_outcome(value, connection.clone(), permit, self.prices.clone()).boxed();
        let examined = read(&self.known).is_examined(&connection);
        Ok(Opened { connection, examined, attempts, stream })
    }

    async fn stream(&self, connection: ConnectionId, request: ModelRequest) -> Result<ChunkStream, ModelError> {
        let target = read(&self.known).resolve(Some(connection))?;
        let permit = self.health.force(target.id);
        match self.client.stream(&target, &request).await {
            Ok(stream) => Ok(Box::pin(report_outcome(stream, target, permit, self.prices.clone()))),
            Err(error) => {
                permit.failed(&error);
                Err(error)
            }
        }
    }

    async fn score(
        &self,
        connection: ConnectionId,
        request: ModelRequest,
        candidates: &[String],
    ) -> Result<Vec<Scored>, ModelError> {
        let target = read(&self.known).resolve(Some(connection))?;
        if !target.capabilities.scoring {
            return Err(ModelError::new(
                ModelErrorClass::BadRequest,
                format!("connection `{}` gives no likelihoods", target.name),
                "choose a connection that does, such as the local model",
            ));
        }
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        self.client.score(&target, &request, candidates).await
    }

    async fn health(&self) -> Vec<ConnectionHealth> {
        let ids: Vec<ConnectionId> = read(&self.known).connections.iter().map(|one| one.id).collect();
        ids.into_iter().map(|id| self.health.health(id)).collect()
    }
}

fn not_asked(error: ModelError) -> NoAnswer {
    NoAnswer { error, attempts: Vec::new() }
}

/// Most chunks kept back before the first content.
const HELD: usize = 256;

/// Waits for the first content and gives the whole stream. Blank text is none, since it may be all that comes.
async fn wait_for_content(connection: &Connection, mut stream: ChunkStream) -> Result<ChunkStream, ModelError> {
    let mut held = Vec::new();
    while let Some(item) = stream.next().await {
        let chunk = item?;
        if let ModelChunk::End { finish, .. } = &chunk {
            return Err(errors::nothing_came(connection, Some(finish)));
        }
        let content = is_content(&chunk);
        held.push(chunk);
        if content || held.len() >= HELD {
            return Ok(futures::stream::iter(held.into_iter().map(Ok)).chain(stream).boxed());
        }
    }
    Err(errors::nothing_came(connection, None))
}

fn is_content(chunk: &ModelChunk) -> bool {
    match chunk {
        ModelChunk::Text(text) | ModelChunk::Reasoning(text) => !text.trim().is_empty(),
        ModelChunk::ToolCall { .. } => true,
        ModelChunk::Signature { .. } | ModelChunk::End { .. } => false,
    }
}

/// The same chunks, the last with its cost; tells the permit how it went.
fn report_outcome(
    stream: impl Stream<Item = Result<ModelChunk, ModelError>> + Send + 'static,
    connection: Connection,
    permit: Permit,
    prices: Prices,
) -> impl Stream<Item = Result<ModelChunk, ModelError>> + Send + 'static {
    let mut permit = Some(permit);
    stream.map(move |item| match item {
        Ok(mut chunk) => {
            if let ModelChunk::End { usage, model, .. } = &mut chunk {
                prices.fill(&connection, model, usage);
                if let Some(permit) = permit.take() {
                    permit.completed();
                }
            } else if let Some(permit) = permit.as_mut().filter(|_| is_content(&chunk)) {
                permit.answered();
            }
            Ok(chunk)
        }
        Err(error) => {
            if let Some(permit) = permit.take() {
                permit.failed(&error);
            }
            Err(error)
        }
    })
}
