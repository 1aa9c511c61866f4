use super::budgets::{all_limits, is_limited, save};
use super::reservations::{ReserveRequest, period_end, reserve, reserved_under, settle};
use super::usage::UsageSum;
use crate::error::require_changed;
use crate::limit_lookup::LimitLookup;
use crate::store::Store;
use crate::tx::{Tx, args};
use async_trait::async_trait;
use steward_core::ports::{
    ReserveError, Reserved, SpendLimit, SpendLimits, SpendState, Spender, SpentRecord, StoreError, StoreResult,
};
use steward_core::{BudgetId, ConnectionId, ReservationId, TenantId, Timestamp};

#[async_trait]
impl SpendLimits for Store {
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
        let request = ReserveRequest {
            tenant,
            id,
            spender,
            connections: spender.connection.iter().chain(others).copied().collect(),
            tokens,
            cost_micros,
            now,
            until,
        };
        let done = self.write(request, |request, tx| Box::pin(reserve(tx, request))).await?;
        match done {
            Ok(full) => Ok(Reserved { held: true, full }),
            Err(state) => {
                let resets = period_end(&state, now);
                Err(ReserveError::Exceeded(Box::new(state), resets))
            }
        }
    }

    async fn settle(&self, tenant: TenantId, id: Option<ReservationId>, spent: &SpentRecord) -> StoreResult<()> {
        let ids: Vec<ReservationId> = id.into_iter().collect();
        self.settle_all(tenant, &ids, std::slice::from_ref(spent)).await
    }

    async fn settle_all(&self, tenant: TenantId, ids: &[ReservationId], spent: &[SpentRecord]) -> StoreResult<()> {
        let Some(sum) = UsageSum::of(spent) else {
            return match spent {
                [] => Ok(()),
                _ => Err(StoreError::Conflict(
                    "calls of several spenders, models or days can't be settled at once".to_owned(),
                )),
            };
        };
        // Where there was no limit, nothing was reserved.
        let ids = match self.limit_lookup() {
            LimitLookup::Cached(scopes) if scopes.is_empty() => &[],
            _ => ids,
        };
        self.write((tenant, ids.to_vec(), sum), |(tenant, ids, sum), tx| Box::pin(settle(tx, *tenant, ids, sum))).await
    }
}

impl Store {
    pub async fn spend_limits(&self, tenant: TenantId, now: Timestamp) -> StoreResult<Vec<SpendState>> {
        self.read((tenant, now), |(tenant, now), tx| Box::pin(states(tx, *tenant, *now))).await
    }

    /// Creates or replaces by id. A second limit of the same scope and period is a conflict.
    pub async fn save_spend_limit(&self, tenant: TenantId, limit: &SpendLimit) -> StoreResult<()> {
        self.write((tenant, limit.clone(), self.limit_lookup()), |(tenant, limit, limited), tx| {
            Box::pin(save(tx, *tenant, limit, limited))
        })
        .await
    }

    pub async fn remove_spend_limit(&self, tenant: TenantId, id: BudgetId) -> StoreResult<()> {
        let sql = "delete from spend_limits where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("budget {id}"))
    }
}

impl Store {
    /// Whether a limit may count the calls of `spender`: the cheap way out where there is none.
    async fn may_be_limited(&self, tenant: TenantId, spender: Spender) -> StoreResult<bool> {
        match self.limit_lookup() {
            // Only this process writes: it knows.
            LimitLookup::Cached(scopes) => Ok(scopes.count(tenant, &spender)),
            // Another node may just have made one, so nothing is remembered.
            LimitLookup::Database => {
                self.read((tenant, spender), |(tenant, spender), tx| Box::pin(is_limited(tx, *tenant, spender))).await
            }
        }
    }
}

/// Ordered by scope, then by period.
async fn states(tx: &mut Tx<'_>, tenant: TenantId, now: Timestamp) -> StoreResult<Vec<SpendState>> {
    let mut states = Vec::new();
    for limit in all_limits(tx, tenant).await? {
        let (mut state, _) = limit.spent(tx, tenant, now).await?;
        (state.reserved_tokens, state.reserved_cost_micros) =
            reserved_under(tx, tenant, limit.limit.scope, now).await?;
        states.push(state);
    }
    states.sort_by_key(|state| (state.limit.scope, state.limit.period as u8, state.limit.id));
    Ok(states)
}
