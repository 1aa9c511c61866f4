use super::store::RunStatus;
use super::store_result::StoreResult;
use crate::{TenantId, Timestamp, UserId};
use async_trait::async_trait;

/// Runs that began within the same step of time and went the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCount {
    /// Which step, from 0.
    pub step: i64,
    pub status: RunStatus,
    /// The `status` of an [`crate::event::Outcome`], once it has ended.
    pub ended_as: Option<String>,
    pub runs: u64,
}

/// Sums over what happened.
#[async_trait]
pub trait Overview: Send + Sync {
    /// Runs that began from `from` on and before `to`, by steps of `step_ms`; of one user or of all.
    async fn run_counts(
        &self,
        tenant: TenantId,
        from: Timestamp,
        to: Timestamp,
        step_ms: i64,
        user: Option<UserId>,
    ) -> StoreResult<Vec<RunCount>>;
    /// Questions that wait for a person, on runs of one user or of all.
    async fn open_approvals(&self, tenant: TenantId, user: Option<UserId>) -> StoreResult<u64>;
}
