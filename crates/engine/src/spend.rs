//! Hard budgets around a model call (ROUTE-7): what it may take is set aside before it, what it took
//! is settled after it, whatever became of it. A call that was lost with its process is given back
//! when its time is over, or replaced when the run goes on: a run has one call at a time, so its
//! reservation has the run's id.

use crate::deps::Deps;
use crate::runner::Runner;
use std::time::Duration;
use steward_core::event::Setup;
use steward_core::model::{Connection, Usage};
use steward_core::ports::{
    BudgetScope, ReserveError, SpendState, Spender, SpentRecord, StoreResult,
};
use steward_core::{ConnectionId, ReservationId, Timestamp};

/// How much longer than the call itself a reservation lasts.
const MARGIN: Duration = Duration::from_mins(1);

/// Tokens and money set aside for a call in flight.
pub(crate) struct Aside {
    id: ReservationId,
    spender: Spender,
    /// Model name of the connection that is asked first.
    model: String,
    /// Tokens of the prompt, estimated.
    prompt: u64,
}

/// What a call took: who was asked last, its model's name, and the tokens as far as they are known.
pub(crate) struct Took {
    pub connection: ConnectionId,
    pub model: String,
    pub usage: Usage,
    /// Tokens of what was received, estimated.
    pub received: u64,
}

/// Sets aside what a call may take: `prompt` tokens and up to `reply` tokens, at the highest price of
/// the connections it may go to. `Err` says to a person why it does not fit.
pub(crate) async fn set_aside(
    runner: &Runner<'_>,
    setup: &Setup,
    prompt: u64,
    reply: u64,
) -> StoreResult<Result<Aside, String>> {
    let deps = runner.deps;
    let only = [setup.connection];
    let targets = setup
        .route
        .as_ref()
        .map_or(&only[..], |route| route.targets.as_slice());
    let most = Usage {
        prompt_tokens: prompt,
        completion_tokens: reply,
        ..Usage::default()
    };
    let (mut first, mut cost) = (None, 0);
    for target in targets {
        // One that is gone meanwhile is not asked either.
        let Ok(connection) = deps.models.select(Some(*target)).await else {
            continue;
        };
        let price = (deps.price)(&connection);
        cost = cost.max(price.map_or(0, |price| price.cost(&most)));
        first.get_or_insert(connection);
    }
    let spender = Spender {
        user: setup.user,
        agent: Some(setup.agent.id),
        connection: Some(first.as_ref().map_or(setup.connection, |one| one.id)),
        key: setup.key,
    };
    let id = ReservationId(runner.journal.run().0);
    let now = deps.clock.now();
    let until = now
        .plus(Duration::from_millis(setup.agent.tuning.timeout_ms))
        .plus(MARGIN);
    let tokens = prompt.saturating_add(reply);
    match deps
        .store
        .reserve(deps.tenant, id, spender, tokens, cost, now, until)
        .await
    {
        Ok(_) => Ok(Ok(Aside {
            id,
            spender,
            model: setup.model.clone(),
            prompt,
        })),
        Err(ReserveError::Exceeded(state, resets_at)) => {
            Ok(Err(
                told(deps, setup, first.as_ref(), &state, resets_at).await
            ))
        }
        Err(ReserveError::Store(error)) => Err(error),
    }
}

async fn told(
    deps: &Deps,
    setup: &Setup,
    connection: Option<&Connection>,
    state: &SpendState,
    resets_at: Option<Timestamp>,
) -> String {
    let key;
    let name = match state.limit.scope {
        BudgetScope::Installation => None,
        BudgetScope::User(_) => Some(setup.asked_by.as_str()),
        BudgetScope::Agent(_) => Some(setup.agent.name.as_str()),
        BudgetScope::Connection(_) => connection.map(|one| one.name.as_str()),
        BudgetScope::Key(id) => {
            key = deps.store.key(deps.tenant, id).await.ok();
            key.as_ref().map(|key| key.name.as_str())
        }
    };
    state.used_up(name, resets_at)
}

/// Ends a reservation with what its call took; `None`: nobody began to answer. The record is not
/// worth losing the reply for, so a store that fails here is only told of: what is set aside ends by
/// itself.
pub(crate) async fn settle(deps: &Deps, aside: Aside, took: Option<Took>, failed: bool) {
    let mut spent = SpentRecord {
        spender: aside.spender,
        model: aside.model,
        at: deps.clock.now(),
        usage: Usage::default(),
        failed,
        priced: false,
    };
    if let Some(took) = took {
        spent.spender.connection = Some(took.connection);
        spent.model = took.model;
        spent.usage = took.usage;
        if spent.usage.prompt_tokens + spent.usage.completion_tokens == 0 {
            // It was cut off before it told, or the endpoint does not tell.
            spent.usage.prompt_tokens = aside.prompt;
            spent.usage.completion_tokens = took.received;
        }
        let connection = deps.models.select(Some(took.connection)).await.ok();
        if let Some(price) = connection.and_then(|one| (deps.price)(&one)) {
            spent.priced = true;
            if spent.usage.cost_micros == 0 {
                spent.usage.cost_micros = price.cost(&spent.usage);
            }
        } else {
            spent.priced = spent.usage.cost_micros > 0;
        }
    }
    if let Err(error) = deps.store.settle(deps.tenant, Some(aside.id), &spent).await {
        tracing::error!(%error, "the usage of a model call was not recorded");
    }
}
