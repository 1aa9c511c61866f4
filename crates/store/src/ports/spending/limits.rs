//! The port of hard budgets.

use super::record::Sum;
use super::reserve::{Wish, aside_of, ends, reserve};
use super::row::{self, MOST, period_word, scope_columns};
use super::settle::settle;
use crate::error::clash;
use crate::store::{Limited, Store};
use crate::tx::{Tx, args};
use async_trait::async_trait;
use steward_core::ports::{
    ReserveError, Reserved, SpendLimit, SpendLimits, SpendState, Spender, SpentRecord, StoreError, StoreResult,
};
use steward_core::{BudgetId, ConnectionId, ReservationId, TenantId, Timestamp};

#[async_trait]
impl SpendLimits for Store {
    async fn spend_limits(&self, tenant: TenantId, now: Timestamp) -> StoreResult<Vec<SpendState>> {
        self.read((tenant, now), |(tenant, now), tx| Box::pin(list(tx, *tenant, *now))).await
    }

    async fn save_spend_limit(&self, tenant: TenantId, limit: &SpendLimit) -> StoreResult<()> {
        self.write((tenant, limit.clone(), self.limited()), |(tenant, limit, limited), tx| {
            Box::pin(save(tx, *tenant, limit, limited))
        })
        .await
    }

    async fn remove_spend_limit(&self, tenant: TenantId, id: BudgetId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove(tx, *tenant, *id))).await
    }

    async fn reserve(
        &self,
        tenant: TenantId,
        id: ReservationId,
        spender: Spender,
        others: &[ConnectionId],
        tokens: u64,
        cost_micros: u64,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, ReserveError> {
        let mut limited = self.may_be_limited(tenant, spender).await?;
        for other in others {
            let spender = Spender { connection: Some(*other), ..Spender::default() };
            limited = limited || self.may_be_limited(tenant, spender).await?;
        }
        if !limited {
            return Ok(Reserved::default());
        }
        let wish = Wish {
            tenant,
            id,
            spender,
            connections: spender.connection.iter().chain(others).copied().collect(),
            tokens,
            cost_micros,
            now,
            until,
        };
        let done = self.write(wish, |wish, tx| Box::pin(reserve(tx, wish))).await?;
        match done {
            Ok(full) => Ok(Reserved { held: true, full }),
            Err(state) => {
                let resets = ends(&state, now);
                Err(ReserveError::Exceeded(Box::new(state), resets))
            }
        }
    }

    async fn settle(&self, tenant: TenantId, id: Option<ReservationId>, spent: &SpentRecord) -> StoreResult<()> {
        let ids: Vec<ReservationId> = id.into_iter().collect();
        self.settle_all(tenant, &ids, std::slice::from_ref(spent)).await
    }

    async fn settle_all(&self, tenant: TenantId, ids: &[ReservationId], spent: &[SpentRecord]) -> StoreResult<()> {
        let Some(sum) = Sum::of(spent) else {
            return match spent {
                [] => Ok(()),
                _ => Err(StoreError::Conflict(
                    "calls of several spenders, models or days can't be settled at once".to_owned(),
                )),
            };
        };
        // Where there was no limit, nothing was set aside.
        let ids = match self.limited() {
            Limited::Known(scopes) if scopes.is_empty() => &[],
            _ => ids,
        };
        self.write((tenant, ids.to_vec(), sum), |(tenant, ids, sum), tx| Box::pin(settle(tx, *tenant, ids, sum))).await
    }
}

impl Store {
    /// Whether a limit may count the calls of `spender`: the cheap way out where there is none.
    async fn may_be_limited(&self, tenant: TenantId, spender: Spender) -> StoreResult<bool> {
        match self.limited() {
            // Only this process writes: it knows.
            Limited::Known(scopes) => Ok(scopes.count(tenant, &spender)),
            // Another node may just have made one, so nothing is remembered.
            Limited::Ask => {
                self.read((tenant, spender), |(tenant, spender), tx| Box::pin(row::any_of(tx, *tenant, spender))).await
            }
        }
    }
}

/// Ordered by scope, then by period.
async fn list(tx: &mut Tx<'_>, tenant: TenantId, now: Timestamp) -> StoreResult<Vec<SpendState>> {
    let mut states = Vec::new();
    for limit in row::all(tx, tenant).await? {
        let (mut state, _) = limit.spent(tx, tenant, now).await?;
        (state.reserved_tokens, state.reserved_cost_micros) = aside_of(tx, tenant, limit.limit.scope, now).await?;
        states.push(state);
    }
    states.sort_by_key(|state| (state.limit.scope, state.limit.period as u8, state.limit.id));
    Ok(states)
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, limit: &SpendLimit, limited: &Limited) -> StoreResult<()> {
    if let Tx::Postgres(_) = tx {
        // Calls that are being settled have not seen this limit, and their usage can't be seen yet:
        // wait for them, so that the sum that is counted next has them all.
        tx.script("lock table spend_limits in exclusive mode").await?;
    }
    if let Limited::Known(scopes) = limited {
        // Before it is committed: a call that looks meanwhile must find out by itself.
        scopes.add(tenant, limit.scope);
    }
    let (scope, owner) = scope_columns(limit.scope);
    tx.execute(
        "insert into spend_limits (tenant_id, id, scope, owner_id, period, tokens, cost_micros,
                                   since, spent_tokens, spent_cost_micros)
         values ($1, $2, $3, $4, $5, $6, $7, null, 0, 0)
         on conflict (tenant_id, id) do update set
             scope = excluded.scope, owner_id = excluded.owner_id, period = excluded.period,
             tokens = excluded.tokens, cost_micros = excluded.cost_micros,
             since = null, spent_tokens = 0, spent_cost_micros = 0",
        args![
            tenant,
            limit.id,
            scope,
            owner,
            period_word(limit.period)?,
            limit.tokens.map(capped),
            limit.cost_micros.map(capped)
        ],
    )
    .await
    .map_err(|e| {
        clash(e, || {
            format!("{} has a {} budget already; change that one", limit.scope.whose(), limit.period.adjective())
        })
    })?;
    Ok(())
}

fn capped(value: u64) -> i64 {
    i64::try_from(value.min(MOST)).unwrap_or(i64::MAX)
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: BudgetId) -> StoreResult<()> {
    let removed = tx.execute("delete from spend_limits where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    if removed == 0 {
        return Err(StoreError::NotFound(format!("budget {id}")));
    }
    Ok(())
}
