use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use async_trait::async_trait;
use steward_core::ConnectionId;
use steward_core::exam::ExamReport;
use steward_core::model::{Connection, ModelError, ModelErrorClass, ModelRequest, Price};
use steward_core::ports::{
    ChunkStream, Clock, ConnectionHealth, ModelCall, Models, NoAnswer, Opened, Route, RouteRequest, Scored,
};

use super::attempt::{Plan, try_targets};
use super::balance::Turns;
use super::board::Board;
use super::choose::{Chooser, choose};
use super::known::Known;
use super::open::{begun, watched};
use super::options::RouterOptions;
use crate::openai::Client;
use crate::price::Prices;

/// Chooses connections and calls them. Connections are replaced while it runs.
#[derive(Debug)]
pub struct Router {
    client: Client,
    known: RwLock<Known>,
    board: Arc<Board>,
    prices: Prices,
    turns: Mutex<Turns>,
}

impl Router {
    /// `default` is the system's; without one the first connection is. Prices are those that the
    /// program brings along.
    pub fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        connections: Vec<Connection>,
        default: Option<ConnectionId>,
    ) -> Self {
        Self {
            client,
            known: RwLock::new(Known { connections, default, ..Known::default() }),
            board: Arc::new(Board::new(clock, RouterOptions::default())),
            prices: Prices::built_in(),
            turns: Mutex::default(),
        }
    }

    /// With other prices, such as those of a file of the installation.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// With other limits. What is known of connections so far is forgotten.
    #[must_use]
    pub fn with_options(mut self, options: RouterOptions) -> Self {
        self.board = Arc::new(Board::new(self.board.clock(), options));
        self
    }

    /// Other connections from now on. Calls that run are not touched. How the ones fared that are
    /// called as before is kept, the others begin anew.
    pub fn replace_connections(&self, connections: Vec<Connection>, default: Option<ConnectionId>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        self.board.replaced(&known.connections, &connections);
        known.connections = connections;
        known.default = default;
        drop(known);
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Forgets how a connection has fared, since its key is another one now.
    pub fn begin_anew(&self, id: ConnectionId) {
        self.board.forget(id);
    }

    /// Other report cards from now on; `cost_aware` routing looks at their grades.
    pub fn set_reports(&self, reports: Vec<ExamReport>) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).set_reports(reports);
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// All connections.
    pub fn connections(&self) -> Vec<Connection> {
        self.known().connections.clone()
    }

    /// The system default.
    pub fn default_connection(&self) -> Option<Connection> {
        self.known().system_default().cloned()
    }

    /// The client beneath, for listing an endpoint's models.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What tokens of this connection cost, if that is known: by its own price, or by the table.
    pub fn price(&self, connection: &Connection) -> Option<Price> {
        self.prices.of(connection, None)
    }

    /// The price table in use.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Breakers and health, for [`try_targets`].
    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// The connections of these ids, without those that are gone; an error if that is all of them.
    pub(crate) fn targets(&self, ids: &[ConnectionId]) -> Result<Vec<Connection>, ModelError> {
        let known = self.known();
        let found: Vec<Connection> = ids.iter().filter_map(|id| known.find(*id)).cloned().collect();
        match ids.first() {
            Some(first) if found.is_empty() => Err(known.unknown(*first)),
            None => Err(super::words::no_connection()),
            Some(_) => Ok(found),
        }
    }
}

#[async_trait]
impl Models for Router {
    async fn select(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError> {
        self.known().resolve(wanted)
    }

    async fn route(&self, request: RouteRequest<'_>) -> Result<Route, ModelError> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let chooser = Chooser { known: &self.known(), prices: &self.prices, board: &self.board };
        choose(&chooser, &mut turns, request)
    }

    async fn open(&self, call: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        let targets = self.targets(call.targets).map_err(|error| NoAnswer { error, attempts: Vec::new() })?;
        let plan = Plan::new(call.routing, call.deadline_ms);
        let attempt = |connection: Connection, left: Duration| {
            let mut request = (call.request)(&connection);
            let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
            request.timeout_ms = request.timeout_ms.min(left_ms);
            async move {
                let stream = self.client.stream(&connection, &request).await?;
                begun(&connection, stream).await
            }
        };
        let answered = try_targets(&self.board, &targets, plan, attempt).await?;
        Ok(Opened {
            connection: answered.connection.clone(),
            attempts: answered.attempts,
            stream: answered.value.replay(answered.connection, answered.permit, self.prices.clone()),
        })
    }

    async fn stream(&self, connection: ConnectionId, request: ModelRequest) -> Result<ChunkStream, ModelError> {
        let target = self.known().resolve(Some(connection))?;
        let permit = self.board.force(target.id);
        match self.client.stream(&target, &request).await {
            Ok(stream) => Ok(Box::pin(watched(stream, target, permit, self.prices.clone()))),
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
        let target = self.known().resolve(Some(connection))?;
        if !target.capabilities.scoring {
            return Err(ModelError {
                class: ModelErrorClass::BadRequest,
                message: format!("connection `{}` gives no likelihoods", target.name),
                hint: "choose a connection that does, such as the local model".to_owned(),
                detail: None,
                retry_after_ms: None,
            });
        }
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        self.client.score(&target, &request, candidates).await
    }

    async fn health(&self) -> Vec<ConnectionHealth> {
        let ids: Vec<ConnectionId> = self.known().connections.iter().map(|one| one.id).collect();
        ids.into_iter().map(|id| self.board.health(id)).collect()
    }
}
