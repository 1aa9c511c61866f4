//! What is spent: budgets with reservations, the record of usage, virtual keys, exam reports.

use super::access::VirtualKey;
use super::store_result::{StoreError, StoreResult};
use crate::model::Usage;
use crate::{AgentId, BudgetId, ConnectionId, KeyId, ReservationId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// Whose calls a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum BudgetScope {
    /// All.
    Installation,
    /// A user's.
    User(UserId),
    /// An agent's.
    Agent(AgentId),
    /// Those to a connection.
    Connection(ConnectionId),
    /// Those by a virtual key.
    Key(KeyId),
}

/// When a budget begins anew. Days and months are those of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// At midnight.
    Day,
    /// With the month.
    #[default]
    Month,
    /// Never.
    Total,
}

/// A hard limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SpendLimit {
    /// Its id.
    pub id: BudgetId,
    /// Whose.
    pub scope: BudgetScope,
    /// How long it counts.
    pub period: Period,
    /// Most tokens; null: any.
    #[schema(required)]
    pub tokens: Option<u64>,
    /// Most millionths of a US dollar; null: any.
    #[schema(required)]
    pub cost_micros: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendState {
    pub limit: SpendLimit,
    pub since: Timestamp,
    pub tokens: u64,
    pub cost_micros: u64,
    pub reserved_tokens: u64,
    pub reserved_cost_micros: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spender {
    pub user: Option<UserId>,
    /// `None` for the gateway.
    pub agent: Option<AgentId>,
    pub connection: Option<ConnectionId>,
    pub key: Option<KeyId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reserved {
    /// Whether there is something to give back; `false` if no limit counts the call.
    pub held: bool,
    /// Connections that the call must not go to, since their budget has no room for it.
    pub full: Vec<ConnectionId>,
}

#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    /// A limit is reached. The time is the end of its period.
    #[error("the budget of {} is used up", .0.limit.scope.whose())]
    Exceeded(Box<SpendState>, Option<Timestamp>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Hard limits: calls reserve what they may take and settle afterwards, so spent plus reserved never passes a limit.
#[async_trait]
pub trait SpendLimits: Send + Sync {
    /// Reserves tokens and money under all limits of `spender`, or nothing. One transaction, so that parallel calls
    /// can't both take the rest. A reservation that is never settled is given back at `until`; one of the same id is
    /// replaced. A call may go to the spender's connection or to one of `others`: it is reserved under the limits of
    /// each that has room and refused if none has.
    #[expect(clippy::too_many_arguments, reason = "one row")]
    async fn reserve(
        &self,
        tenant: TenantId,
        id: ReservationId,
        spender: Spender,
        others: &[ConnectionId],
        tokens: u64,
        cost_micros: u64,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, ReserveError>;
    /// Ends a reservation and records what was spent; `None` records without a reservation.
    async fn settle(&self, tenant: TenantId, id: Option<ReservationId>, spent: &SpentRecord) -> StoreResult<()>;
    /// Like [`Self::settle`] for several calls of one spender, model and day (UTC), in one transaction.
    async fn settle_all(&self, tenant: TenantId, ids: &[ReservationId], spent: &[SpentRecord]) -> StoreResult<()>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentRecord {
    pub spender: Spender,
    pub model: String,
    pub at: Timestamp,
    pub usage: Usage,
    pub failed: bool,
    /// Whether a price is known; without one, a cost of 0 says nothing.
    pub priced: bool,
}

/// How usage is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageBy {
    /// Days of UTC.
    Day,
    /// Agents.
    Agent,
    /// Users.
    User,
    /// Connections.
    Connection,
    /// Model names.
    Model,
    /// Virtual keys.
    Key,
}

/// Sums of calls of models in a group. They are kept by days of UTC: a time within a day stands for the whole day.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = UsageSum)]
pub struct UsageRow {
    /// Day as `2026-11-21`, id, or model name; empty: none.
    pub group: String,
    /// Calls of models.
    pub calls: u64,
    /// Of these, failed.
    pub failed: u64,
    /// Of these, without a known price: their cost is not in `cost_micros`.
    pub unpriced: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Of these, cached.
    pub cached_tokens: u64,
    /// Tokens of replies.
    pub completion_tokens: u64,
    /// Millionths of a US dollar.
    pub cost_micros: u64,
}

/// Virtual keys. The secret itself is never stored, only its hash.
#[async_trait]
pub trait VirtualKeys: Send + Sync {
    /// Creates a key, or changes the name and limits of the one with this id.
    async fn save_key(&self, tenant: TenantId, key: &VirtualKey, secret_hash: Option<&str>) -> StoreResult<()>;
    /// A key that is valid at `now`.
    async fn key_by_hash(&self, tenant: TenantId, hash: &str, now: Timestamp) -> StoreResult<Option<VirtualKey>>;
    async fn key(&self, tenant: TenantId, id: KeyId) -> StoreResult<VirtualKey>;
}
