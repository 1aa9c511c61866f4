//! Limits as rows.

use super::record;
use crate::codec::{from_word, to_word};
use crate::tx::{Row, Tx, args, locking};
use steward_core::ports::{BudgetScope, Period, SpendLimit, SpendState, Spender, StoreError, StoreResult};
use steward_core::{AgentId, BudgetId, ConnectionId, KeyId, TenantId, Timestamp, UserId};
use uuid::Uuid;

/// Most tokens or millionths of a dollar that are told apart: sums of these stay in 64 bits.
pub(super) const MOST: u64 = 1 << 50;

/// A row of `spend_limits`.
pub(super) struct LimitRow {
    pub limit: SpendLimit,
    /// Beginning of the period that is counted; `None`: nothing is counted yet.
    since: Option<Timestamp>,
    tokens: u64,
    cost_micros: u64,
}

/// The columns of the scope.
pub(super) fn scope_columns(scope: BudgetScope) -> (&'static str, Uuid) {
    match scope {
        BudgetScope::Installation => ("installation", Uuid::nil()),
        BudgetScope::User(id) => ("user", id.0),
        BudgetScope::Agent(id) => ("agent", id.0),
        BudgetScope::Connection(id) => ("connection", id.0),
        BudgetScope::Key(id) => ("key", id.0),
    }
}

pub(super) fn scope_of(word: &str, id: Uuid) -> StoreResult<BudgetScope> {
    Ok(match word {
        "installation" => BudgetScope::Installation,
        "user" => BudgetScope::User(UserId(id)),
        "agent" => BudgetScope::Agent(AgentId(id)),
        "connection" => BudgetScope::Connection(ConnectionId(id)),
        "key" => BudgetScope::Key(KeyId(id)),
        other => {
            return Err(StoreError::Corrupt(format!("a budget has the scope {other:?}")));
        }
    })
}

/// All limits of a tenant.
pub(super) async fn all(tx: &mut Tx<'_>, tenant: TenantId) -> StoreResult<Vec<LimitRow>> {
    let rows = tx
        .rows(
            "select id, scope, owner_id, period, tokens, cost_micros, since, spent_tokens,
                    spent_cost_micros
             from spend_limits where tenant_id = $1",
            args![tenant],
        )
        .await?;
    rows.iter().map(LimitRow::of).collect()
}

/// Those that count the calls of `spender`, without a lock.
pub(super) async fn any_of(tx: &mut Tx<'_>, tenant: TenantId, spender: &Spender) -> StoreResult<bool> {
    let row = tx
        .row(
            "select 1 from spend_limits where tenant_id = $1 and (scope = 'installation'
                 or (scope = 'user' and owner_id = $2) or (scope = 'agent' and owner_id = $3)
                 or (scope = 'connection' and owner_id = $4) or (scope = 'key' and owner_id = $5))
             limit 1",
            args![tenant, spender.user, spender.agent, spender.connection, spender.key],
        )
        .await?;
    Ok(row.is_some())
}

/// Those that count the calls of `spender`, or calls to one of `connections`; nobody else changes them before this
/// transaction ends.
pub(super) async fn lock(
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
        let most = |index| {
            let value = row.opt_int(index)?;
            Ok::<_, StoreError>(value.and_then(|value| u64::try_from(value).ok()))
        };
        Ok(Self {
            limit: SpendLimit {
                id: BudgetId(row.id(0)?),
                scope: scope_of(&row.text(1)?, row.id(2)?)?,
                period: from_word("a budget's period", row.text(3)?)?,
                tokens: most(4)?,
                cost_micros: most(5)?,
            },
            since: row.opt_int(6)?.map(Timestamp),
            tokens: row.count(7)?,
            cost_micros: row.count(8)?,
        })
    }

    /// What is spent in the period of `now`, nothing set aside yet. A clock that lags behind another
    /// node's does not bring an old period back. The flag says whether the row has to be written.
    pub(super) async fn spent(
        &self,
        tx: &mut Tx<'_>,
        tenant: TenantId,
        now: Timestamp,
    ) -> StoreResult<(SpendState, bool)> {
        let began = self.limit.period.began(now);
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
        {
            state.since = since;
            return Ok((state, false));
        }
        (state.tokens, state.cost_micros) = record::since(tx, tenant, self.limit.scope, began).await?;
        Ok((state, true))
    }
}

/// Writes what a limit's period has spent.
pub(super) async fn write_spent(tx: &mut Tx<'_>, tenant: TenantId, state: &SpendState) -> StoreResult<()> {
    tx.execute(
        "update spend_limits set since = $3, spent_tokens = $4, spent_cost_micros = $5
         where tenant_id = $1 and id = $2",
        args![tenant, state.limit.id, state.since, state.tokens, state.cost_micros],
    )
    .await?;
    Ok(())
}

/// The word of a period's column.
pub(super) fn period_word(period: Period) -> StoreResult<String> {
    to_word(&period)
}
