use super::store_result::StoreResult;
use crate::{TenantId, Timestamp};
use async_trait::async_trait;

/// A customer of the installation. Nothing of one is seen by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    /// By which logins name it: lower-case letters, digits and hyphens.
    pub slug: String,
    pub name: String,
    pub created_at: Timestamp,
    /// Since then nothing of it opens anything. `None`: it is not disabled.
    pub disabled_at: Option<Timestamp>,
}

/// What is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantChange {
    pub name: Option<String>,
    /// `Some(None)`: enables it. A second disabling keeps the time of the first.
    pub disabled_at: Option<Option<Timestamp>>,
}

/// How many rows of a tenant were deleted from a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedRows {
    pub table: &'static str,
    pub rows: u64,
}

#[async_trait]
pub trait TenantRows: Send + Sync {
    /// A slug or id that another has is a conflict.
    async fn create_tenant(&self, tenant: &Tenant) -> StoreResult<()>;
    /// Changes a tenant and returns it as it is then. Disabling ends all its logins in the same transaction.
    async fn change_tenant(&self, id: TenantId, change: &TenantChange) -> StoreResult<Tenant>;
    /// By slug.
    async fn tenants(&self) -> StoreResult<Vec<Tenant>>;
    /// Deletes all rows of a tenant, then the tenant, and says how many there were in each table. A tenant that is not
    /// disabled is a conflict. What is interrupted goes on with the next call.
    async fn delete_tenant(&self, id: TenantId) -> StoreResult<Vec<DeletedRows>>;
}
