//! Budgets, usage and keys of nobody.

use super::nothing::Nothing;
use async_trait::async_trait;
use steward_core::ports::{
    Page, ReserveError, Reserved, SpendLimit, SpendLimits, SpendState, Spender, SpentRecord, StoreError, StoreResult,
    UsageBy, UsageRecord, UsageRow, VirtualKey, VirtualKeys,
};
use steward_core::{BudgetId, ConnectionId, KeyId, ReservationId, TenantId, Timestamp, UserId};

fn missing<T>() -> StoreResult<T> {
    Err(StoreError::NotFound("it".to_owned()))
}

#[async_trait]
impl SpendLimits for Nothing {
    async fn spend_limits(&self, _: TenantId, _: Timestamp) -> StoreResult<Vec<SpendState>> {
        Ok(Vec::new())
    }
    async fn save_spend_limit(&self, _: TenantId, _: &SpendLimit) -> StoreResult<()> {
        missing()
    }
    async fn remove_spend_limit(&self, _: TenantId, _: BudgetId) -> StoreResult<()> {
        missing()
    }
    async fn reserve(
        &self,
        _: TenantId,
        _: ReservationId,
        _: Spender,
        _: &[ConnectionId],
        _: u64,
        _: u64,
        _: Timestamp,
        _: Timestamp,
    ) -> Result<Reserved, ReserveError> {
        Ok(Reserved::default())
    }
    async fn settle(&self, _: TenantId, _: Option<ReservationId>, _: &SpentRecord) -> StoreResult<()> {
        Ok(())
    }
    async fn settle_all(&self, _: TenantId, _: &[ReservationId], _: &[SpentRecord]) -> StoreResult<()> {
        Ok(())
    }
}

#[async_trait]
impl UsageRecord for Nothing {
    async fn usage(
        &self,
        _: TenantId,
        _: UsageBy,
        _: Timestamp,
        _: Timestamp,
        _: Option<UserId>,
    ) -> StoreResult<Vec<UsageRow>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl VirtualKeys for Nothing {
    async fn save_key(&self, _: TenantId, _: &VirtualKey, _: Option<&str>) -> StoreResult<()> {
        missing()
    }
    async fn key_by_hash(&self, _: TenantId, _: &str, _: Timestamp) -> StoreResult<Option<VirtualKey>> {
        Ok(None)
    }
    async fn keys(&self, _: TenantId, _: Option<UserId>, _: Option<KeyId>, _: u32) -> StoreResult<Page<VirtualKey>> {
        Ok(Page { items: Vec::new(), more: false })
    }
    async fn key(&self, _: TenantId, _: KeyId) -> StoreResult<VirtualKey> {
        missing()
    }
    async fn revoke_key(&self, _: TenantId, _: KeyId, _: Timestamp) -> StoreResult<()> {
        missing()
    }
}
