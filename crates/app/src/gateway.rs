//! What a call of a model may take is set aside before it, what it took is settled after it, whatever becomes of it.

mod data_policy;
mod embedding_turns;
mod usage_writer;

use crate::app::App;
use crate::metrics::Metrics;
use std::sync::Arc;
use std::time::Duration;
use steward_core::model::{Connection, Price, Usage};
use steward_core::ports::{
    Clock, Embedder, ModelCall, NoAnswer, Opened, Principal, ReserveError, Spender, SpentRecord,
};
use steward_core::{ReservationId, TenantId, Timestamp};

pub use data_policy::NotPassed;
pub(crate) use usage_writer::Settlement;
pub use usage_writer::UsageWriter;

/// Bytes of a request for each token that is set aside: less than it mostly is.
const BYTES_A_TOKEN: u64 = 3;
/// Reservations of calls whose end was lost end by themselves.
const MARGIN: Duration = Duration::from_mins(1);

/// Tokens that a model is thought to make a second, where nobody waits for them to be told.
const TOKENS_A_SECOND: u64 = 50;

/// A call on somebody's account. Dropped unsettled (the client went away before anything came), it counts as failed, with its
/// prompt and what may have been made meanwhile spent.
pub struct Reservation {
    writer: Arc<UsageWriter>,
    metrics: Arc<Metrics>,
    /// Name of the connection that answers, or of the first one that is asked.
    connection: String,
    clock: Arc<dyn Clock>,
    tenant: TenantId,
    /// `None`: nothing was set aside.
    id: Option<ReservationId>,
    spender: Spender,
    model: String,
    /// Tokens of the prompt, by its length.
    pub prompt: u64,
    /// Most tokens of the answer.
    answer: u64,
    begun: Timestamp,
    /// Of the first connection that is asked.
    price: Option<Price>,
    settled: bool,
}

impl Reservation {
    /// Reserves under all budgets of the caller and of the connections; connections without room are taken out.
    /// `bytes` is the length of the request, `answer` the most tokens of its answer.
    /// Fails if a budget of the caller, or of all connections, has no room.
    pub async fn open(
        app: &App,
        principal: &Principal,
        targets: &mut Vec<Connection>,
        bytes: usize,
        answer: u64,
        deadline: Duration,
    ) -> Result<Self, ReserveError> {
        let deps = app.deps();
        let length = u64::try_from(bytes).unwrap_or(u64::MAX);
        let most =
            Usage { prompt_tokens: length.div_ceil(BYTES_A_TOKEN), completion_tokens: answer, ..Usage::default() };
        let prices = targets.iter().filter_map(|one| app.gateway.price(one));
        let cost = prices.map(|price| price.cost(&most)).max().unwrap_or(0);
        let others: Vec<_> = targets.iter().skip(1).map(|one| one.id).collect();
        let spender = Spender {
            user: Some(principal.user),
            agent: None,
            connection: targets.first().map(|one| one.id),
            key: principal.key.as_ref().map(|key| key.id),
        };
        let (now, id) = (deps.clock.now(), ReservationId(deps.ids.next()));
        let tokens = most.prompt_tokens.saturating_add(most.completion_tokens);
        let until = now.plus(deadline + MARGIN);
        let limits = app.usage_writer.limits();
        let aside = limits.reserve(principal.tenant, id, spender, &others, tokens, cost, now, until).await?;
        app.usage_writer.opened();
        targets.retain(|one| !aside.full.contains(&one.id));
        Ok(Self {
            writer: Arc::clone(&app.usage_writer),
            metrics: Arc::clone(&app.metrics),
            connection: targets.first().map_or_else(String::new, |one| one.name.clone()),
            clock: Arc::clone(&deps.clock),
            tenant: principal.tenant,
            id: aside.held.then_some(id),
            spender,
            model: targets.first().map_or_else(String::new, |one| one.model.clone()),
            // Four bytes are about a token; JSON around the prompt makes up for the difference.
            prompt: length.div_ceil(4),
            answer,
            begun: now,
            price: targets.first().and_then(|first| app.gateway.price(first)),
            settled: false,
        })
    }

    /// What the call may have taken so far: models go on when nobody waits any more.
    pub fn guess(&self) -> Usage {
        let made = self.clock.now().since(self.begun).as_millis().saturating_mul(TOKENS_A_SECOND.into()) / 1000;
        let completion_tokens = u64::try_from(made).unwrap_or(u64::MAX).min(self.answer);
        Usage { prompt_tokens: self.prompt, completion_tokens, ..Usage::default() }
    }

    /// The call is over; `connection` answered. `priced`: whether its tokens have a known price.
    pub fn settle(&mut self, connection: Option<&Connection>, usage: Usage, priced: bool, failed: bool) {
        if self.settled {
            return;
        }
        self.settled = true;
        if let Some(connection) = connection {
            self.spender.connection = Some(connection.id);
            self.model.clone_from(&connection.model);
            self.connection.clone_from(&connection.name);
        }
        self.metrics.model_call("gateway", &self.connection, failed, &usage);
        self.writer.settle(Settlement {
            tenant: self.tenant,
            reservation: self.id,
            record: SpentRecord {
                spender: self.spender,
                model: std::mem::take(&mut self.model),
                at: self.clock.now(),
                usage,
                priced,
                failed,
            },
        });
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut usage = self.guess();
        usage.cost_micros = self.price.map_or(0, |price| price.cost(&usage));
        self.settle(None, usage, self.price.is_some(), true);
    }
}

impl App {
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.deps().embedder
    }

    /// Asks models by Steward's own request, for endpoints that don't speak the dialect of OpenAI.
    pub async fn open_model(&self, call: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        self.deps().models.open(call).await
    }
}
