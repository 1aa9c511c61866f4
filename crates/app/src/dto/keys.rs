use crate::dto::named::NamedRef;
use serde::{Deserialize, Serialize};
use steward_core::ports::{self, Period};
use steward_core::{KeyId, Timestamp, UserId};
use utoipa::ToSchema;

/// A virtual key: lets a program use some connections and agents.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct VirtualKey {
    /// Its id.
    pub id: KeyId,
    /// Its name.
    pub name: String,
    /// Whose it is; its calls are theirs.
    pub user: UserId,
    /// First characters, to recognise it by.
    pub prefix: String,
    /// Connections it may use; empty: all.
    pub connections: Vec<NamedRef>,
    /// Agents it may use; null: none, an empty list: all.
    #[schema(required)]
    pub agents: Option<Vec<NamedRef>>,
    /// Most requests a minute.
    #[schema(required)]
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute.
    #[schema(required)]
    pub tokens_per_minute: Option<u32>,
    /// When it was made, milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// When it ends by itself.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    #[schema(required)]
    pub revoked_at: Option<Timestamp>,
}

/// A key that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NewVirtualKey {
    /// The key.
    #[serde(flatten)]
    pub key: VirtualKey,
    /// What to send as the bearer token. Shown this once; null where the answer is repeated for an
    /// idempotency key.
    #[schema(required)]
    pub secret: Option<String>,
}

/// The budget of a new key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyBudget {
    /// How long it counts.
    pub period: Period,
    /// Most tokens.
    pub tokens: Option<u64>,
    /// Most millionths of a US dollar.
    pub cost_micros: Option<u64>,
}

/// A new virtual key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyInput {
    /// Its name.
    #[schema(max_length = 100)]
    pub name: String,
    /// Connections it may use, by id, or by the name that one has now; empty: all.
    #[serde(default)]
    pub connections: Vec<String>,
    /// Agents it may use, by id, or by the name that one has now; null or left out: none, an empty list: all.
    pub agents: Option<Vec<String>>,
    /// Most requests a minute.
    #[schema(minimum = 1)]
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute.
    #[schema(minimum = 1)]
    pub tokens_per_minute: Option<u32>,
    /// When it ends by itself, milliseconds since 1970 UTC.
    pub expires_at: Option<Timestamp>,
    /// A budget of its own.
    pub budget: Option<KeyBudget>,
}

/// What to change of a key. What is left out stays; null takes a limit away.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyChange {
    /// Its name.
    #[schema(nullable = false, max_length = 100)]
    pub name: Option<String>,
    /// Connections it may use, by id, or by the name that one has now; empty: all.
    #[schema(nullable = false)]
    pub connections: Option<Vec<String>>,
    /// Agents it may use, by id, or by the name that one has now; null: none, an empty list: all.
    #[serde(default, deserialize_with = "ports::given")]
    #[schema(value_type = Option<Vec<String>>)]
    pub agents: Option<Option<Vec<String>>>,
    /// Most requests a minute.
    #[serde(default, deserialize_with = "ports::given")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub requests_per_minute: Option<Option<u32>>,
    /// Most tokens a minute.
    #[serde(default, deserialize_with = "ports::given")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub tokens_per_minute: Option<Option<u32>>,
    /// When it ends by itself.
    #[serde(default, deserialize_with = "ports::given")]
    #[schema(value_type = Option<i64>)]
    pub expires_at: Option<Option<Timestamp>>,
}
