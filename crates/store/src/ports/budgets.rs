//! Hard budgets: limits, and what their periods have spent, counted from the record of usage when a period begins, or
//! another period or owner is set, and with each settled call since. Reservations count until they end. On PostgreSQL a call locks all its limits first, in
//! the order of their ids, so that none wait in a circle.

use super::usage::{MAX_AMOUNT, spent_between};
use crate::codec::{from_word, to_word};
use crate::limit_lookup::{LimitLookup, scope_columns, scope_of};
use crate::tx::{Row, Tx, args, locking};
use steward_core::ports::{BudgetScope, SpendLimit, SpendState, Spender, StoreError, StoreResult};
use steward_core::{BudgetId, ConnectionId, TenantId, Timestamp};

pub(super) async fn save(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    limit: &SpendLimit,
    limited: &LimitLookup,
) -> StoreResult<()> {
    if let Tx::Postgres(_) = tx {
        // Calls that are being settled have not seen this limit: wait for them, so that the sum has them all.
        tx.script("lock table spend_limits in exclusive mode").await?;
    }
    if let LimitLookup::Cached(scopes) = limited {
        // Before it is committed: a call that looks meanwhile must find out by itself.
        scopes.add(tenant, limit.scope);
    }
    let (scope, owner) = scope_columns(limit.scope);
    // Other amounts leave what is spent as it is: the record of usage may have lost some of it to the retention.
    tx.write_unique(
        "insert into spend_limits (tenant_id, id, scope, owner_id, period, tokens, cost_micros,
                                   since, spent_tokens, spent_cost_micros)
         values ($1, $2, $3, $4, $5, $6, $7, null, 0, 0)
         on conflict (tenant_id, id) do update set
             scope = excluded.scope, owner_id = excluded.owner_id, period = excluded.period,
             tokens = excluded.tokens, cost_micros = excluded.cost_micros,
             since = case when spend_limits.scope = excluded.scope and spend_limits.owner_id = excluded.owner_id
                 and spend_limits.period = excluded.period then spend_limits.since end",
        args![
            tenant,
            limit.id,
            scope,
            owner,
            to_word(&limit.period)?,
            limit.tokens.map(capped),
            limit.cost_micros.map(capped)
        ],
        || format!("{} has a {} budget already; change that one", limit.scope.whose(), limit.period.adjective()),
    )
    .await
}

fn capped(value: u64) -> i64 {
    i64::try_from(value.min(MAX_AMOUNT)).unwrap_or(i64::MAX)
}

pub(super) struct LimitRow {
    pub limit: SpendLimit,
    /// Beginning of the period that is counted; `None`: nothing is counted yet.
    since: Option<Timestamp>,
    tokens: u64,
    cost_micros: u64,
}

pub(super) async fn all_limits(tx: &mut Tx<'_>, tenant: TenantId) -> StoreResult<Vec<LimitRow>> {
    let sql = "select id, scope, owner_id, period, tokens, cost_micros, since, spent_tokens,
                    spent_cost_micros
             from spend_limits where tenant_id = $1";
    let rows = tx.rows(sql, args![tenant]).await?;
    rows.iter().map(LimitRow::of).collect()
}

/// Those that count the calls of `spender`, without a lock.
pub(super) async fn is_limited(tx: &mut Tx<'_>, tenant: TenantId, spender: &Spender) -> StoreResult<bool> {
    let sql = "select 1 from spend_limits where tenant_id = $1 and (scope = 'installation'
                 or (scope = 'user' and owner_id = $2) or (scope = 'agent' and owner_id = $3)
                 or (scope = 'connection' and owner_id = $4) or (scope = 'key' and owner_id = $5))
             limit 1";
    let row = tx.row(sql, args![tenant, spender.user, spender.agent, spender.connection, spender.key]).await?;
    Ok(row.is_some())
}

/// Those of calls by `spender` or to `connections`; nobody else changes them before this transaction ends.
pub(super) async fn lock_limits(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    spender: &Spender,
    connections: &[ConnectionId],
) -> StoreResult<Vec<LimitRow>> {
    let sql = locking!(
        tx,
        "select id, scope, owner_id, period, tokens, cost_micros, since, spent_tokens,
                spent_cost_micros
         from spend_limits where tenant_id = $1 and (scope = 'installation'
             or (scope = 'user' and owner_id = $2) or (scope = 'agent' and owner_id = $3)
             or (scope = 'connection' and ($6 = 1 or owner_id = $4))
             or (scope = 'key' and owner_id = $5))
         order by id",
        "for update"
    );
    let rows = tx
        .rows(sql, args![tenant, spender.user, spender.agent, spender.connection, spender.key, !connections.is_empty()])
        .await?;
    let mut limits: Vec<LimitRow> = rows.iter().map(LimitRow::of).collect::<StoreResult<_>>()?;
    limits.retain(|row| match row.limit.scope {
        BudgetScope::Connection(id) => spender.connection == Some(id) || connections.contains(&id),
        _ => true,
    });
    Ok(limits)
}

impl LimitRow {
    fn of(row: &Row) -> StoreResult<Self> {
        let limit = |index| {
            let value = row.opt_int(index)?;
            Ok::<_, StoreError>(value.and_then(|value| u64::try_from(value).ok()))
        };
        Ok(Self {
            limit: SpendLimit {
                id: BudgetId(row.id(0)?),
                scope: scope_of(&row.text(1)?, row.id(2)?)?,
                period: from_word("a budget's period", row.text(3)?)?,
                tokens: limit(4)?,
                cost_micros: limit(5)?,
            },
            since: row.opt_int(6)?.map(Timestamp),
            tokens: row.count(7)?,
            cost_micros: row.count(8)?,
        })
    }

    /// Nothing reserved yet. A lagging clock brings no old period back; a period beyond the next one is of a clock that was
    /// ahead, and doesn't count. The flag: whether the row has to be written.
    pub(super) async fn spent(
        &self,
        tx: &mut Tx<'_>,
        tenant: TenantId,
        now: Timestamp,
    ) -> StoreResult<(SpendState, bool)> {
        let (began, ends) = (self.limit.period.began(now), self.limit.period.ends(now));
        let mut state = SpendState {
            limit: self.limit.clone(),
            since: began,
            tokens: self.tokens,
            cost_micros: self.cost_micros,
            reserved_tokens: 0,
            reserved_cost_micros: 0,
        };
        if let Some(since) = self.since
            && since >= began
            && ends.is_none_or(|ends| since <= ends)
        {
            state.since = since;
            return Ok((state, false));
        }
        (state.tokens, state.cost_micros) = spent_between(tx, tenant, self.limit.scope, began, ends).await?;
        Ok((state, true))
    }
}
pub(super) async fn write_spent(tx: &mut Tx<'_>, tenant: TenantId, state: &SpendState) -> StoreResult<()> {
    let sql = "update spend_limits set since = $3, spent_tokens = $4, spent_cost_micros = $5
         where tenant_id = $1 and id = $2";
    tx.run(sql, args![tenant, state.limit.id, state.since, state.tokens, state.cost_micros]).await
}
