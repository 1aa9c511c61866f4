use super::store_result::StoreResult;
use crate::model::Connection;
use crate::{ConnectionId, TenantId, Timestamp};
use async_trait::async_trait;
use serde_json::Value;

/// Settings: JSON values by name.
#[async_trait]
pub trait Settings: Send + Sync {
    async fn setting(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Value>>;
    async fn set_setting(&self, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()>;
}

#[async_trait]
pub trait Connections: Send + Sync {
    /// Makes or replaces by id; a name that another has is a conflict.
    async fn save_connection(&self, tenant: TenantId, connection: &Connection) -> StoreResult<()>;
    /// All, by name.
    async fn connections(&self, tenant: TenantId) -> StoreResult<Vec<Connection>>;
    async fn remove_connection(&self, tenant: TenantId, id: ConnectionId) -> StoreResult<()>;
}

/// What became of a request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remembered {
    /// First time: do it, then [`Idempotency::remember`].
    New,
    /// Begun, its end is not known.
    Begun,
    /// Same key, other request.
    Other,
    Done {
        status: u16,
        body: String,
    },
}

#[async_trait]
pub trait Idempotency: Send + Sync {
    /// Notes the key of `owner` with a hash of the request, unless known; keys older than `forget` are forgotten first.
    async fn begin(
        &self,
        tenant: TenantId,
        owner: &str,
        key: &str,
        request_hash: &str,
        at: Timestamp,
        forget: Timestamp,
    ) -> StoreResult<Remembered>;
    async fn remember(&self, tenant: TenantId, owner: &str, key: &str, status: u16, body: &str) -> StoreResult<()>;
    /// Forgets a key whose request changed nothing.
    async fn forget(&self, tenant: TenantId, owner: &str, key: &str) -> StoreResult<()>;
}
