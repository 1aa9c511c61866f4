use super::store_result::{Page, StoreResult};
use crate::approval::Approval;
use crate::policy::StandingGrant;
use crate::{AgentId, ApprovalId, RunId, TenantId, Timestamp};
use async_trait::async_trait;

#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    pub open: bool,
    /// Only answered or withdrawn ones.
    pub closed: bool,
    pub run: Option<RunId>,
    /// Only those after this one in the order of the list (cursor).
    pub after: Option<ApprovalId>,
    pub limit: u32,
}

#[async_trait]
pub trait Approvals: Send + Sync {
    /// Open ones oldest first, else newest first.
    async fn approvals(&self, tenant: TenantId, filter: ApprovalFilter) -> StoreResult<Page<Approval>>;
    async fn approval(&self, tenant: TenantId, id: ApprovalId) -> StoreResult<Approval>;
}

#[async_trait]
pub trait Grants: Send + Sync {
    async fn save_grant(&self, tenant: TenantId, grant: &StandingGrant) -> StoreResult<()>;
    /// Those in force at `now`, of one agent or of all, newest first.
    async fn grants(&self, tenant: TenantId, agent: Option<AgentId>, now: Timestamp)
    -> StoreResult<Vec<StandingGrant>>;
    async fn revoke_grant(&self, tenant: TenantId, id: uuid::Uuid) -> StoreResult<()>;
}
