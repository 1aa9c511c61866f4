use super::store_result::StoreResult;
use crate::TenantId;
use async_trait::async_trait;
use serde_json::Value;

/// Settings: JSON values by name.
#[async_trait]
pub trait Settings: Send + Sync {
    async fn setting(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Value>>;
    async fn set_setting(&self, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()>;
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
