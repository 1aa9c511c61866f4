use serde::{Deserialize, Serialize};
use steward_core::Timestamp;
use steward_core::ports::{self, BudgetScope, Period, SpendLimit, SpendState};
use utoipa::ToSchema;

/// A group, with a name for people.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsageRow {
    /// Its sums.
    #[serde(flatten)]
    pub sum: ports::UsageRow,
    /// Its name.
    pub label: String,
}

/// What was spent in a time.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsageReport {
    /// Groups: days in order, others dearest first.
    pub items: Vec<UsageRow>,
    /// All of them together.
    pub total: ports::UsageRow,
    /// Calls whose cost nobody knows, since their model has no price.
    pub unpriced_calls: u64,
}

/// A limit and what is gone of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BudgetState {
    /// The limit.
    pub limit: SpendLimit,
    /// When its period began.
    pub since: Timestamp,
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
pub struct BudgetInput {
    /// Whose.
    pub scope: BudgetScope,
    /// How long it counts; days and months are those of UTC.
    pub period: Period,
    /// Most tokens, of prompts and replies together.
    pub tokens: Option<u64>,
    /// Most millionths of a US dollar.
    pub cost_micros: Option<u64>,
}

/// Other limits for a budget; what is left out is not limited any more.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetChange {
    /// Most tokens.
    pub tokens: Option<u64>,
    /// Most millionths of a US dollar.
    pub cost_micros: Option<u64>,
}

impl BudgetState {
    pub fn named(label: String, state: SpendState) -> Self {
        let SpendState { limit, since, tokens, cost_micros, reserved_tokens, reserved_cost_micros } = state;
        Self { limit, since, tokens, cost_micros, reserved_tokens, reserved_cost_micros, label }
    }
}
