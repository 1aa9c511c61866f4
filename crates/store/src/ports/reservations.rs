//! Reservations: what calls in flight may take, until they are settled.

use super::LONGEST_WAIT;
use super::budgets::{lock_limits, write_spent};
use super::usage::{MAX_AMOUNT, UsageSum, add_usage};
use crate::tx::{Row, Tx, args};
use steward_core::ports::{BudgetScope, SpendState, Spender, StoreResult};
use steward_core::{ConnectionId, ReservationId, TenantId, Timestamp};

pub(super) struct ReserveRequest {
    pub tenant: TenantId,
    pub id: ReservationId,
    pub spender: Spender,
    pub connections: Vec<ConnectionId>,
    pub tokens: u64,
    pub cost_micros: u64,
    pub now: Timestamp,
    pub until: Timestamp,
}

/// Reserves under all limits; returns the connections without room, or the limit that stands in the way.
pub(super) async fn reserve(
    tx: &mut Tx<'_>,
    request: &ReserveRequest,
) -> StoreResult<Result<Vec<ConnectionId>, SpendState>> {
    let limits = lock_limits(tx, request.tenant, &request.spender, &request.connections).await?;
    if limits.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    remove_ended(tx, request.tenant, request.now).await?;
    tx.execute("delete from reservations where tenant_id = $1 and id = $2", args![request.tenant, request.id]).await?;
    let reserved = reserved_by_scope(tx, request.tenant, &request.spender, request.now).await?;
    let (mut full, mut of_connections) = (None, None);
    let mut closed = Vec::new();
    for limit in &limits {
        let (mut state, changed) = limit.spent(tx, request.tenant, request.now).await?;
        if changed {
            write_spent(tx, request.tenant, &state).await?;
        }
        let scope = limit.limit.scope;
        (state.reserved_tokens, state.reserved_cost_micros) = match scope {
            BudgetScope::Connection(_) => reserved_under(tx, request.tenant, scope, request.now).await?,
            _ => reserved.of(scope)?,
        };
        if state.admits(request.tokens, request.cost_micros) {
            continue;
        }
        if let BudgetScope::Connection(id) = scope {
            closed.push(id);
            keep_longest(&mut of_connections, state, request.now);
        } else {
            keep_longest(&mut full, state, request.now);
        }
    }
    let open: Vec<ConnectionId> = request.connections.iter().filter(|id| !closed.contains(id)).copied().collect();
    if open.is_empty() {
        full = full.or(of_connections);
    }
    if let Some(full) = full {
        return Ok(Err(full));
    }
    let first = Spender { connection: open.first().copied(), ..request.spender };
    let further = open.iter().skip(1).map(|id| Spender { connection: Some(*id), ..Spender::default() });
    for (place, who) in (0_u64..).zip(std::iter::once(first).chain(further)) {
        let sql = "insert into reservations (tenant_id, id, place, user_id, agent_id, connection_id,
                                       key_id, tokens, cost_micros, ends_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        tx.execute(
            sql,
            args![
                request.tenant,
                request.id,
                place,
                who.user,
                who.agent,
                who.connection,
                who.key,
                request.tokens.min(MAX_AMOUNT),
                request.cost_micros.min(MAX_AMOUNT),
                request.until
            ],
        )
        .await?;
    }
    Ok(Ok(closed))
}

/// Of several full limits, the one that stands in the way longest.
fn keep_longest(full: &mut Option<SpendState>, state: SpendState, now: Timestamp) {
    let longer = full.as_ref().is_none_or(|full| {
        period_end(full, now).is_some_and(|known| period_end(&state, now).is_none_or(|this| this > known))
    });
    if longer {
        *full = Some(state);
    }
}

pub(super) fn period_end(state: &SpendState, now: Timestamp) -> Option<Timestamp> {
    state.limit.period.ends(now.max(state.since))
}

/// What was never settled is given back, and what a clock that was ahead has reserved for longer than anything takes. Rows
/// that another transaction is at are its business.
async fn remove_ended(tx: &mut Tx<'_>, tenant: TenantId, now: Timestamp) -> StoreResult<()> {
    let sql = match tx {
        Tx::Sqlite(_) => "delete from reservations where tenant_id = $1 and (ends_at <= $2 or ends_at > $3)",
        Tx::Postgres(_) => {
            "delete from reservations where tenant_id = $1 and id in (
                 select id from reservations where tenant_id = $1 and (ends_at <= $2 or ends_at > $3)
                 for update skip locked)"
        }
    };
    tx.run(sql, args![tenant, now, now.plus(LONGEST_WAIT)]).await
}

/// Tokens and money by kind of scope, each pair in two columns.
struct ReservedByScope(Option<Row>);

impl ReservedByScope {
    fn of(&self, scope: BudgetScope) -> StoreResult<(u64, u64)> {
        let at = match scope {
            BudgetScope::Installation => 0,
            BudgetScope::User(_) => 2,
            BudgetScope::Agent(_) => 4,
            BudgetScope::Connection(_) => 6,
            BudgetScope::Key(_) => 8,
        };
        self.0.as_ref().map_or(Ok((0, 0)), |row| Ok((row.count(at)?, row.count(at + 1)?)))
    }
}

async fn reserved_by_scope(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    who: &Spender,
    now: Timestamp,
) -> StoreResult<ReservedByScope> {
    let sql = "select cast(coalesce(sum(case when place = 0 then tokens end), 0) as bigint),
                    cast(coalesce(sum(case when place = 0 then cost_micros end), 0) as bigint),
                    cast(coalesce(sum(case when user_id = $3 then tokens end), 0) as bigint),
                    cast(coalesce(sum(case when user_id = $3 then cost_micros end), 0) as bigint),
                    cast(coalesce(sum(case when agent_id = $4 then tokens end), 0) as bigint),
                    cast(coalesce(sum(case when agent_id = $4 then cost_micros end), 0) as bigint),
                    cast(coalesce(sum(case when connection_id = $5 then tokens end), 0) as bigint),
                    cast(coalesce(sum(case when connection_id = $5 then cost_micros end), 0) as bigint),
                    cast(coalesce(sum(case when key_id = $6 then tokens end), 0) as bigint),
                    cast(coalesce(sum(case when key_id = $6 then cost_micros end), 0) as bigint)
             from reservations where tenant_id = $1 and ends_at > $2";
    let row = tx.row(sql, args![tenant, now, who.user, who.agent, who.connection, who.key]).await?;
    Ok(ReservedByScope(row))
}

/// What is reserved at `now` under a limit of any scope.
pub(super) async fn reserved_under(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    scope: BudgetScope,
    now: Timestamp,
) -> StoreResult<(u64, u64)> {
    let mut spender = Spender::default();
    match scope {
        BudgetScope::Installation => {}
        BudgetScope::User(id) => spender.user = Some(id),
        BudgetScope::Agent(id) => spender.agent = Some(id),
        BudgetScope::Connection(id) => spender.connection = Some(id),
        BudgetScope::Key(id) => spender.key = Some(id),
    }
    reserved_by_scope(tx, tenant, &spender, now).await?.of(scope)
}

/// Ends reservations, if there are any, and records what was spent.
pub(super) async fn settle(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ids: &[ReservationId],
    spent: &UsageSum,
) -> StoreResult<()> {
    // The limits first: while they are ours, nobody else counts what we are about to record.
    for limit in lock_limits(tx, tenant, &spent.spender, &[]).await? {
        let (mut state, changed) = limit.spent(tx, tenant, spent.at).await?;
        // What ends after its period is over belongs to that one.
        let counts = state.limit.period.began(spent.at) >= state.since;
        if counts {
            state.tokens = state.tokens.saturating_add(spent.tokens());
            state.cost_micros = state.cost_micros.saturating_add(spent.cost_micros);
        }
        if counts || changed {
            write_spent(tx, tenant, &state).await?;
        }
    }
    add_usage(tx, tenant, spent).await?;
    for id in ids {
        tx.execute("delete from reservations where tenant_id = $1 and id = $2", args![tenant, *id]).await?;
    }
    Ok(())
}
