use super::store_result::StoreResult;
use crate::audit::AuditEntry;
use crate::governance::Classification;
use crate::retention::{DeletedItem, RetainedItem, RetainedKind};
use crate::{TenantId, Timestamp, UserId};
use async_trait::async_trait;
use uuid::Uuid;

/// Which items, oldest first.
#[derive(Debug, Clone)]
pub struct RetainedFilter {
    pub kind: RetainedKind,
    /// Last changed before this time; `None`: whenever.
    pub before: Option<Timestamp>,
    pub user: Option<UserId>,
    /// Of conversations only those that were marked deleted.
    pub deleted_only: bool,
    /// Those after this one (cursor).
    pub after: Option<(Timestamp, String)>,
    pub limit: u32,
}

/// Deletes for good, one item a transaction, and says what it was.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Items with nothing at work in them.
    async fn retained(&self, tenant: TenantId, filter: &RetainedFilter) -> StoreResult<Vec<RetainedItem>>;
    /// The most confidential that runs of it have seen.
    async fn retained_classification(
        &self,
        tenant: TenantId,
        item: &RetainedItem,
    ) -> StoreResult<Option<Classification>>;
    /// Deletes it with the audit entry that proves it: `entry`, to which what was deleted is added. `None`: it is gone, has
    /// changed after `item.at`, or something is at work in it, and nothing was done.
    async fn delete_retained(
        &self,
        tenant: TenantId,
        item: &RetainedItem,
        entry: &AuditEntry,
    ) -> StoreResult<Option<DeletedItem>>;
    /// Puts `stand_in` into the place of each of these texts in what others have said and done, as far as it has ended, and
    /// removes what is kept for this user beside their account. Returns how many rows changed.
    async fn erase_mentions(
        &self,
        tenant: TenantId,
        user: UserId,
        texts: &[String],
        stand_in: &str,
    ) -> StoreResult<u64>;
    /// How many rows still have one of these texts, by table, the audit trail included.
    async fn mentions(&self, tenant: TenantId, texts: &[String]) -> StoreResult<Vec<(String, u64)>>;
}

/// That somebody had a text masked so that it can be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskMapRow {
    pub id: Uuid,
    pub user: UserId,
    pub made_at: Timestamp,
    pub ends_at: Timestamp,
    /// What the tokens stand for.
    pub sealed: String,
}

#[async_trait]
pub trait MaskMaps: Send + Sync {
    async fn save_mask_map(&self, tenant: TenantId, row: &MaskMapRow) -> StoreResult<()>;
    async fn mask_map(&self, tenant: TenantId, id: Uuid) -> StoreResult<Option<MaskMapRow>>;
    /// Some of those whose time is over.
    async fn ended_mask_maps(&self, tenant: TenantId, now: Timestamp) -> StoreResult<Vec<MaskMapRow>>;
    async fn remove_mask_map(&self, tenant: TenantId, id: Uuid) -> StoreResult<()>;
}
