//! Hard budgets around a model call: reserved before it, settled after it, whatever became of it. A run has one call
//! at a time, so its reservation has the run's id, and one that is lost ends by time or is replaced.

use crate::deps::Deps;
use crate::run::RunContext;
use std::time::Duration;
use steward_core::event::Setup;
use steward_core::model::{Connection, ModelErrorClass, Usage};
use steward_core::ports::{
    BudgetScope, ReserveError, Reserved, SideWrite, SpendState, Spender, SpentRecord, StoreResult,
};
use steward_core::routing::Attempt;
use steward_core::{ConnectionId, ReservationId, Timestamp};

/// How much longer than the call itself a reservation lasts.
const RESERVATION_MARGIN: Duration = Duration::from_mins(1);

pub(crate) struct Estimate {
    prompt: u64,
    reply: u64,
    /// At the highest price of the connections that it may go to, millionths of a dollar.
    pub cost_micros: u64,
    /// Connections that it may go to, the first one first.
    connections: Vec<Connection>,
}

pub(crate) struct Reservation {
    id: ReservationId,
    spender: Spender,
    /// Where the call may go: connections whose budget has room for it.
    pub targets: Vec<ConnectionId>,
    /// Model name of the connection that is asked first.
    model: String,
    prompt: u64,
}

/// What a call used: who was asked last, its model's name, and the tokens as far as they are known.
pub(crate) struct CallUsage {
    pub connection: ConnectionId,
    pub model: String,
    pub usage: Usage,
    pub received: u64,
}

pub(crate) async fn estimate(context: &RunContext<'_>, setup: &Setup, prompt: u64, reply: u64) -> Estimate {
    let deps = context.deps;
    let only = [setup.connection];
    let targets = setup.route.as_ref().map_or(&only[..], |route| route.targets.as_slice());
    let most = Usage { prompt_tokens: prompt, completion_tokens: reply, ..Usage::default() };
    let (mut connections, mut cost_micros) = (Vec::new(), 0);
    for target in targets {
        // One that is gone meanwhile is not asked either.
        let Ok(connection) = deps.models.select(Some(*target)).await else {
            continue;
        };
        let price = (deps.price)(&connection);
        cost_micros = cost_micros.max(price.map_or(0, |price| price.cost(&most)));
        connections.push(connection);
    }
    Estimate { prompt, reply, cost_micros, connections }
}

/// Reserves what a call may take. `Err` is a message to a person why it does not fit.
pub(crate) async fn reserve(
    context: &RunContext<'_>,
    setup: &Setup,
    estimate: &Estimate,
) -> StoreResult<Result<Reservation, String>> {
    let deps = context.deps;
    let connections = &estimate.connections;
    let first = connections.first().map_or(setup.connection, |first| first.id);
    let others: Vec<ConnectionId> = connections.iter().skip(1).map(|one| one.id).collect();
    let spender = Spender { user: setup.user, agent: Some(setup.agent.id), connection: Some(first), key: setup.key };
    let id = ReservationId(context.journal.run().0);
    let now = deps.clock.now();
    let until = now.plus(Duration::from_millis(setup.agent.tuning.timeout_ms)).plus(RESERVATION_MARGIN);
    let tokens = estimate.prompt.saturating_add(estimate.reply);
    let cost = estimate.cost_micros;
    let reserved = deps.store.reserve(deps.tenant, id, spender, &others, tokens, cost, now, until).await;
    match reserved {
        Ok(Reserved { full, .. }) => {
            let mut targets = vec![first];
            targets.extend(others);
            targets.retain(|target| !full.contains(target));
            Ok(Ok(Reservation { id, spender, targets, model: setup.model.clone(), prompt: estimate.prompt }))
        }
        Err(ReserveError::Exceeded(state, resets_at)) => {
            Ok(Err(limit_message(deps, setup, connections, &state, resets_at).await))
        }
        Err(ReserveError::Store(error)) => Err(error),
    }
}

async fn limit_message(
    deps: &Deps,
    setup: &Setup,
    connections: &[Connection],
    state: &SpendState,
    resets_at: Option<Timestamp>,
) -> String {
    let key;
    let name = match state.limit.scope {
        BudgetScope::Installation => None,
        BudgetScope::User(_) => Some(setup.asked_by.as_str()),
        BudgetScope::Agent(_) => Some(setup.agent.name.as_str()),
        BudgetScope::Connection(id) => {
            let full = connections.iter().find(|one| one.id == id);
            full.map(|one| one.name.as_str())
        }
        BudgetScope::Key(id) => {
            key = deps.store.key(deps.tenant, id).await.ok();
            key.as_ref().map(|key| key.name.as_str())
        }
    };
    state.used_up(name, resets_at)
}

pub(crate) async fn settle(
    deps: &Deps,
    reservation: Reservation,
    used: Option<CallUsage>,
    attempts: &[Attempt],
    failed: bool,
) -> (Usage, Vec<SideWrite>) {
    let mut spent = SpentRecord {
        spender: reservation.spender,
        model: reservation.model,
        at: deps.clock.now(),
        usage: Usage::default(),
        failed,
        priced: false,
    };
    if let Some(used) = used {
        spent.model = used.model;
        spent.usage = used.usage;
        if spent.usage.prompt_tokens + spent.usage.completion_tokens == 0 {
            // It was cut off before it told, or the endpoint does not tell.
            spent.usage.prompt_tokens = reservation.prompt;
            spent.usage.completion_tokens = used.received;
        }
        spent = priced(deps, spent, used.connection).await;
    }
    let mut all = spent.usage;
    let mut side = vec![SideWrite::Settle(Some(reservation.id), spent.clone())];
    for attempt in attempts.iter().filter(|attempt| attempt.class == Some(ModelErrorClass::Cancelled)) {
        let overtaken = SpentRecord {
            usage: Usage { prompt_tokens: reservation.prompt, ..Usage::default() },
            failed: true,
            ..spent.clone()
        };
        let overtaken = priced(deps, overtaken, attempt.connection).await;
        all.prompt_tokens += overtaken.usage.prompt_tokens;
        all.cost_micros += overtaken.usage.cost_micros;
        side.push(SideWrite::Settle(None, overtaken));
    }
    if let Some(key) = spent.spender.key {
        deps.limiter.took(key, all.prompt_tokens.saturating_add(all.completion_tokens), spent.at);
    }
    (all, side)
}

/// The record of a call to `connection`, at its price.
async fn priced(deps: &Deps, mut spent: SpentRecord, connection: ConnectionId) -> SpentRecord {
    spent.spender.connection = Some(connection);
    let connection = deps.models.select(Some(connection)).await.ok();
    if spent.failed
        && let Some(connection) = &connection
    {
        spent.model.clone_from(&connection.model);
    }
    let price = connection.and_then(|one| (deps.price)(&one));
    if let Some(price) = price
        && spent.usage.cost_micros == 0
    {
        spent.usage.cost_micros = price.cost(&spent.usage);
    }
    spent.priced = price.is_some() || spent.usage.cost_micros > 0;
    spent
}
