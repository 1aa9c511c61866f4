//! What is spent: usage, budgets, virtual keys.

use super::names::Period;
use serde::{Deserialize, Serialize};
use steward_core::ports;
use steward_core::{AgentId, ConnectionId, KeyId, UserId};
use utoipa::ToSchema;
use uuid::Uuid;

/// Sums of calls of models.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct UsageSum {
    /// Day as `2026-11-21`, id, or model name; empty: none.
    pub group: String,
    /// Calls.
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

/// A group, with a name for people.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageRow {
    /// Its sums.
    #[serde(flatten)]
    pub sum: UsageSum,
    /// Its name.
    pub label: String,
}

/// What was spent in a time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageReport {
    /// Groups: days in order, others dearest first.
    pub items: Vec<UsageRow>,
    /// All of them together.
    pub total: UsageSum,
    /// Calls whose cost nobody knows, since their model has no price.
    pub unpriced_calls: u64,
}

/// Whose calls a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub(crate) enum BudgetScope {
    /// All.
    Installation,
    /// A user's.
    User(Uuid),
    /// An agent's.
    Agent(Uuid),
    /// Those to a connection.
    Connection(Uuid),
    /// Those by a virtual key.
    Key(Uuid),
}

/// A hard limit.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SpendLimit {
    /// Its id.
    pub id: Uuid,
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

/// A limit and what is gone of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct BudgetState {
    /// The limit.
    pub limit: SpendLimit,
    /// When its period began.
    pub since: i64,
    /// Spent in it.
    pub tokens: u64,
    /// Spent in it, millionths of a US dollar.
    pub cost_micros: u64,
    /// Set aside for calls in flight.
    pub reserved_tokens: u64,
    /// Set aside for calls in flight, millionths of a US dollar.
    pub reserved_cost_micros: u64,
    /// Whose it is, for people.
    pub label: String,
}

/// A new budget.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetInput {
    /// Whose.
    pub scope: BudgetScope,
    /// How long it counts; days and months are those of UTC.
    pub period: Period,
    /// Most tokens, of prompts and replies together.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Most millionths of a US dollar.
    #[serde(default)]
    pub cost_micros: Option<u64>,
}

/// Other limits for a budget; what is left out is not limited any more.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetChange {
    /// Most tokens.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Most millionths of a US dollar.
    #[serde(default)]
    pub cost_micros: Option<u64>,
}

/// A virtual key.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct VirtualKey {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub user: Uuid,
    /// First characters, to recognise it by.
    pub prefix: String,
    /// Connections it may use, by name; empty: all.
    pub connections: Vec<String>,
    /// Agents it may use, by name; null: none, an empty list: all.
    #[schema(required)]
    pub agents: Option<Vec<String>>,
    /// Most requests a minute.
    #[schema(required)]
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute.
    #[schema(required)]
    pub tokens_per_minute: Option<u32>,
    /// When it was made.
    pub created_at: i64,
    /// When it ends by itself.
    #[schema(required)]
    pub expires_at: Option<i64>,
    /// When it was revoked.
    #[schema(required)]
    pub revoked_at: Option<i64>,
}

/// A key that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct NewVirtualKey {
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
pub(crate) struct KeyBudget {
    /// How long it counts.
    pub period: Period,
    /// Most tokens.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Most millionths of a US dollar.
    #[serde(default)]
    pub cost_micros: Option<u64>,
}

/// A new virtual key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyInput {
    /// Its name.
    #[schema(max_length = 100)]
    pub name: String,
    /// Connections it may use, by name; empty: all.
    #[serde(default)]
    pub connections: Vec<String>,
    /// Agents it may use, by name; null or left out: none, an empty list: all.
    #[serde(default)]
    pub agents: Option<Vec<String>>,
    /// Most requests a minute.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub tokens_per_minute: Option<u32>,
    /// When it ends by itself, milliseconds since 1970 UTC.
    #[serde(default)]
    pub expires_at: Option<i64>,
    /// A budget of its own.
    #[serde(default)]
    pub budget: Option<KeyBudget>,
}

/// What to change of a key. What is left out stays; null takes a limit away.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "left out, null, or a value")]
pub(crate) struct KeyChange {
    /// Its name.
    #[serde(default)]
    #[schema(nullable = false, max_length = 100)]
    pub name: Option<String>,
    /// Connections it may use, by name; empty: all.
    #[serde(default)]
    #[schema(nullable = false)]
    pub connections: Option<Vec<String>>,
    /// Agents it may use, by name; null: none, an empty list: all.
    #[serde(default, deserialize_with = "super::given")]
    #[schema(value_type = Option<Vec<String>>)]
    pub agents: Option<Option<Vec<String>>>,
    /// Most requests a minute.
    #[serde(default, deserialize_with = "super::given")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub requests_per_minute: Option<Option<u32>>,
    /// Most tokens a minute.
    #[serde(default, deserialize_with = "super::given")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub tokens_per_minute: Option<Option<u32>>,
    /// When it ends by itself.
    #[serde(default, deserialize_with = "super::given")]
    #[schema(value_type = Option<i64>)]
    pub expires_at: Option<Option<i64>>,
}

impl From<ports::UsageRow> for UsageSum {
    fn from(row: ports::UsageRow) -> Self {
        Self {
            group: row.group,
            calls: row.calls,
            failed: row.failed,
            unpriced: row.unpriced,
            prompt_tokens: row.prompt_tokens,
            cached_tokens: row.cached_tokens,
            completion_tokens: row.completion_tokens,
            cost_micros: row.cost_micros,
        }
    }
}

impl From<ports::BudgetScope> for BudgetScope {
    fn from(scope: ports::BudgetScope) -> Self {
        match scope {
            ports::BudgetScope::Installation => Self::Installation,
            ports::BudgetScope::User(id) => Self::User(id.0),
            ports::BudgetScope::Agent(id) => Self::Agent(id.0),
            ports::BudgetScope::Connection(id) => Self::Connection(id.0),
            ports::BudgetScope::Key(id) => Self::Key(id.0),
        }
    }
}

impl From<BudgetScope> for ports::BudgetScope {
    fn from(scope: BudgetScope) -> Self {
        match scope {
            BudgetScope::Installation => Self::Installation,
            BudgetScope::User(id) => Self::User(UserId(id)),
            BudgetScope::Agent(id) => Self::Agent(AgentId(id)),
            BudgetScope::Connection(id) => Self::Connection(ConnectionId(id)),
            BudgetScope::Key(id) => Self::Key(KeyId(id)),
        }
    }
}

impl BudgetState {
    /// `state`, with whose it is.
    pub fn named(state: &ports::SpendState, label: String) -> Self {
        Self {
            limit: SpendLimit {
                id: state.limit.id.0,
                scope: state.limit.scope.into(),
                period: state.limit.period.into(),
                tokens: state.limit.tokens,
                cost_micros: state.limit.cost_micros,
            },
            since: state.since.0,
            tokens: state.tokens,
            cost_micros: state.cost_micros,
            reserved_tokens: state.reserved_tokens,
            reserved_cost_micros: state.reserved_cost_micros,
            label,
        }
    }
}

impl From<ports::VirtualKey> for VirtualKey {
    fn from(key: ports::VirtualKey) -> Self {
        Self {
            id: key.id.0,
            name: key.name,
            user: key.user.0,
            prefix: key.prefix,
            connections: key.connections,
            agents: key.agents,
            requests_per_minute: key.requests_per_minute,
            tokens_per_minute: key.tokens_per_minute,
            created_at: key.created_at.0,
            expires_at: key.expires_at.map(|at| at.0),
            revoked_at: key.revoked_at.map(|at| at.0),
        }
    }
}
