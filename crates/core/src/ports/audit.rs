use super::store_result::{Page, StoreResult};
use crate::audit::{AuditEntry, AuditResult, ChainRow, Link, SealedEntry};
use crate::{RunId, TenantId, Timestamp};
use async_trait::async_trait;
use uuid::Uuid;

/// Filter for the audit trail. All that is given must fit.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// The very actor.
    pub actor: Option<String>,
    /// The action, or what it begins with up to a dot: `auth` is also `auth.login`.
    pub action: Option<String>,
    /// The very target.
    pub target: Option<String>,
    pub result: Option<AuditResult>,
    pub run: Option<RunId>,
    /// From this time on.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub to: Option<Timestamp>,
    /// Case-insensitive text in actor, action, target, address or details.
    pub text: Option<String>,
}

/// Which way a list of entries goes, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditOrder {
    /// Newest first: those before this entry, or all.
    NewestBefore(Option<u64>),
    /// Oldest first: those after this entry; 0 for all.
    OldestAfter(u64),
}

/// What the chain begins after and where it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainEnds {
    /// The last entry that the retention deleted.
    pub anchor: Link,
    /// The last entry there is.
    pub head: Link,
}

/// What one step of the retention deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    pub first: u64,
    pub last: u64,
}

/// The audit trail. Entries are only added, and deleted from the beginning by the retention. A new entry is durable at
/// once and gets its place in the chain a moment later, by [`Self::seal`].
#[async_trait]
pub trait AuditLog: Send + Sync {
    async fn record_audit(&self, tenant: TenantId, entry: &AuditEntry) -> StoreResult<()>;
    /// Gives up to `most` new entries their place, the oldest first; returns how many. Nodes that do so at the same time
    /// wait for each other.
    async fn seal_audit(&self, tenant: TenantId, most: u32) -> StoreResult<u64>;
    async fn audit_ends(&self, tenant: TenantId) -> StoreResult<ChainEnds>;
    /// Entries that have their place.
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        order: AuditOrder,
        limit: u32,
    ) -> StoreResult<Page<SealedEntry>>;
    /// Rows after `after` as they are, damaged ones too, for a check.
    async fn audit_chain(&self, tenant: TenantId, after: u64, limit: u32) -> StoreResult<Vec<ChainRow>>;
    /// Deletes up to `most` entries from the beginning, as far as all are older than `before`, and records that under
    /// `id`. `None`: there are none.
    async fn prune_audit(
        &self,
        tenant: TenantId,
        before: Timestamp,
        most: u32,
        id: Uuid,
        now: Timestamp,
    ) -> StoreResult<Option<Pruned>>;
}
