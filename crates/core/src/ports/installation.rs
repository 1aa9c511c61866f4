//! What the installation keeps beside agents and runs: settings, requests with keys, tenants, and what retention looks at.

use super::store_result::StoreResult;
use crate::retention::RetainedKind;
use crate::{ConnectionId, KeyId, RunId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde_json::Value;
use uuid::Uuid;

/// Settings: JSON values by name.
#[async_trait]
pub trait Settings: Send + Sync {
    async fn setting(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Value>>;
    async fn set_setting(&self, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()>;
}

/// What became of a request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remembered {
    /// First time: do it, then say how it ended.
    New,
    /// Begun, its end is not known.
    Begun,
    /// Same key, other request.
    Other,
    Done {
        status: u16,
        /// Of the answer.
        body: String,
        /// Of the request's body, where it was not in the hash that it was begun with.
        body_hash: Option<String>,
    },
}

/// An answer under `/v1`, by the id that its client has of it.
#[derive(Debug, Clone, PartialEq)]
pub struct DialectAnswer {
    pub id: String,
    pub user: UserId,
    /// The virtual key that it was asked for with.
    pub key: Option<KeyId>,
    /// An agent's, with its run.
    pub run: Option<RunId>,
    /// The connection that made it.
    pub connection: Option<ConnectionId>,
    /// What of its request an answer repeats.
    pub request: serde_json::Value,
    pub request_hash: String,
    /// Whether the run is kept after its end.
    pub stored: bool,
    pub at: Timestamp,
}

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
