//! Hard budgets around a model call: reserved before it, settled after it, whatever became of it. A run has one call
//! at a time, so its reservation has the run's id, and one that is lost ends by time or is replaced.

use crate::deps::Deps;
use crate::run::RunContext;
use std::time::Duration;
use steward_core::event::{AskedModel, Setup};
use steward_core::governance::{Classified, DataPolicy};
use steward_core::model::{Connection, ModelError, ModelErrorClass, Price, Usage};
use steward_core::ports::{
    BudgetScope, ReserveError, Reserved, SideWrite, SpendState, Spender, SpentRecord, StoreResult,
};
use steward_core::routing::Attempt;
use steward_core::run::RunState;
use steward_core::{ConnectionId, ReservationId, Timestamp};

/// How much longer than the call itself a reservation lasts.
const RESERVATION_MARGIN: Duration = Duration::from_mins(1);

/// A connection that a call may go to, selected once for the call, and its price if one is known.
type Target = (Connection, Option<Price>);

pub(crate) struct Estimate {
    prompt: u64,
    reply: u64,
    /// At the highest price of the targets, millionths of a dollar.
    pub cost_micros: u64,
    /// The one that is asked first, first; never empty.
    targets: Vec<Target>,
}

pub(crate) struct Reservation {
    id: ReservationId,
    spender: Spender,
    /// Those whose budget has room for the call.
    targets: Vec<Target>,
    /// Model name of the connection that is asked first.
    model: String,
    prompt: u64,
}

impl Reservation {
    pub fn connections(&self) -> Vec<Connection> {
        self.targets.iter().map(|(connection, _)| connection.clone()).collect()
    }
}

/// What a call used: who was asked last, its model's name, and the tokens as far as they are known.
pub(crate) struct CallUsage {
    pub connection: ConnectionId,
    pub model: String,
    pub usage: Usage,
    pub received: u64,
}

/// What a call with so many tokens may take; an error if every connection of the run was removed.
pub(crate) async fn estimate(
    context: &RunContext<'_>,
    model: AskedModel<'_>,
    prompt: u64,
    reply: u64,
) -> Result<Estimate, ModelError> {
    let deps = context.deps;
    let mut connections = deps.models.existing(model.targets).await?;
    keep_data_in_the_house(&context.journal.state, &mut connections)?;
    let priced = connections.into_iter().map(|one| {
        let price = (deps.price)(&one);
        (one, price)
    });
    let targets: Vec<Target> = priced.collect();
    let most = Usage { prompt_tokens: prompt, completion_tokens: reply, ..Usage::default() };
    let costs = targets.iter().filter_map(|(_, price)| price.map(|price| price.cost(&most)));
    Ok(Estimate { prompt, reply, cost_micros: costs.max().unwrap_or(0), targets })
}

/// Leaves only connections that may see what the run has seen; an error if none is left.
fn keep_data_in_the_house(state: &RunState, connections: &mut Vec<Connection>) -> Result<(), ModelError> {
    let refused = |policy: &DataPolicy, seen: &Classified, hint: &str| {
        let what = format!("{} data ({}, by the label “{}”)", seen.classification, seen.source, seen.label);
        let message = format!("the policy “{}” keeps {what} from this run's model", policy.name);
        Err(ModelError::new(ModelErrorClass::BlockedByPolicy, message, hint))
    };
    if let Some((policy, seen)) = state.blocked_by() {
        return refused(policy, seen, "an administrator can change the policy, or the label, under Governance");
    }
    let first = connections.first().and_then(|first| state.kept_from(first));
    connections.retain(|connection| state.kept_from(connection).is_none());
    match first {
        Some((policy, seen)) if connections.is_empty() => {
            refused(policy, seen, "give the agent a connection in the house, as its own or among its fallbacks")
        }
        _ => Ok(()),
    }
}

/// Reserves what a call may take. `Err` is a message to a person why it does not fit.
pub(crate) async fn reserve(
    context: &RunContext<'_>,
    setup: &Setup,
    model: AskedModel<'_>,
    estimate: Estimate,
) -> StoreResult<Result<Reservation, String>> {
    let deps = context.deps;
    let Estimate { prompt, reply, cost_micros, mut targets } = estimate;
    let ids: Vec<ConnectionId> = targets.iter().map(|(one, _)| one.id).collect();
    let (first, others) = ids.split_first().map_or((model.connection, &[][..]), |(first, others)| (*first, others));
    let spender = Spender { user: setup.user, agent: Some(setup.agent.id), connection: Some(first), key: setup.key };
    let id = ReservationId(context.journal.run().0);
    let now = deps.clock.now();
    let until = now.plus(Duration::from_millis(setup.agent.tuning.timeout_ms)).plus(RESERVATION_MARGIN);
    let tokens = prompt.saturating_add(reply);
    match deps.store.reserve(deps.tenant, id, spender, others, tokens, cost_micros, now, until).await {
        Ok(Reserved { full, .. }) => {
            targets.retain(|(one, _)| !full.contains(&one.id));
            Ok(Ok(Reservation { id, spender, targets, model: model.model.to_owned(), prompt }))
        }
        Err(ReserveError::Exceeded(state, resets_at)) => {
            Ok(Err(limit_message(deps, setup, &targets, &state, resets_at).await))
        }
        Err(ReserveError::Store(error)) => Err(error),
    }
}

async fn limit_message(
    deps: &Deps,
    setup: &Setup,
    targets: &[Target],
    state: &SpendState,
    resets_at: Option<Timestamp>,
) -> String {
    let key;
    let name = match state.limit.scope {
        BudgetScope::Installation => None,
        BudgetScope::User(_) => Some(setup.asked_by.as_str()),
        BudgetScope::Agent(_) => Some(setup.agent.name.as_str()),
        BudgetScope::Connection(id) => {
            let full = targets.iter().find(|(one, _)| one.id == id);
            full.map(|(one, _)| one.name.as_str())
        }
        BudgetScope::Key(id) => {
            key = deps.store.key(deps.tenant, id).await.ok();
            key.as_ref().map(|key| key.name.as_str())
        }
    };
    state.used_up(name, resets_at)
}

/// What a call used, and the rows that record it in the transaction of its reply; `used` is `None` where nobody began to
/// answer. Requests that were dropped for a quicker answer count with their prompt.
pub(crate) fn settle(
    deps: &Deps,
    reservation: &Reservation,
    used: Option<CallUsage>,
    attempts: &[Attempt],
    failed: bool,
) -> (Usage, Vec<SideWrite>) {
    let mut spent = SpentRecord {
        spender: reservation.spender,
        model: reservation.model.clone(),
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
        spent = priced(reservation, spent, used.connection);
    }
    let mut all = spent.usage;
    let mut side = vec![SideWrite::Settle(Some(reservation.id), spent.clone())];
    for attempt in attempts.iter().filter(|attempt| attempt.class == Some(ModelErrorClass::Cancelled)) {
        let overtaken = SpentRecord {
            usage: Usage { prompt_tokens: reservation.prompt, ..Usage::default() },
            failed: true,
            ..spent.clone()
        };
        let overtaken = priced(reservation, overtaken, attempt.connection);
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
fn priced(reservation: &Reservation, mut spent: SpentRecord, connection: ConnectionId) -> SpentRecord {
    spent.spender.connection = Some(connection);
    let target = reservation.targets.iter().find(|(one, _)| one.id == connection);
    if spent.failed
        && let Some((connection, _)) = target
    {
        spent.model.clone_from(&connection.model);
    }
    let price = target.and_then(|(_, price)| *price);
    if let Some(price) = price
        && spent.usage.cost_micros == 0
    {
        spent.usage.cost_micros = price.cost(&spent.usage);
    }
    spent.priced = price.is_some() || spent.usage.cost_micros > 0;
    spent
}
