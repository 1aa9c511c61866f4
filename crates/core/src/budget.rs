//! Limits of a run and what it has spent. An amount is reserved before a call and settled after it.

use serde::{Deserialize, Serialize};

/// What a run may spend.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Budget {
    /// Calls of a model.
    pub model_calls: u32,
    /// Calls of tools.
    pub tool_calls: u32,
    /// Wall time that the run is at work (not parked), milliseconds.
    pub wall_ms: u64,
    /// Longest single tool call, milliseconds.
    pub call_ms: u64,
    /// Prompt and completion tokens together.
    pub tokens: u64,
    /// Money, millionths of a US dollar.
    pub cost_micros: u64,
    /// Levels of delegation below this run.
    pub depth: u8,
}

/// What a run may spend, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Eight model calls.
    Query,
    /// Ten rounds, three levels deep.
    #[default]
    Agent,
    /// Five iterations, 300 s a run, 60 s a call.
    Executor,
    /// Six plan steps.
    Plan,
}

impl Preset {
    pub fn budget(self) -> Budget {
        let agent = Budget {
            model_calls: 10,
            tool_calls: 40,
            wall_ms: 1_800_000,
            call_ms: 120_000,
            tokens: 400_000,
            cost_micros: 5_000_000,
            depth: 3,
        };
        match self {
            Self::Agent => agent,
            Self::Query => Budget { model_calls: 8, depth: 0, ..agent },
            Self::Executor => Budget { model_calls: 5, wall_ms: 300_000, call_ms: 60_000, ..agent },
            Self::Plan => Budget { model_calls: 18, tool_calls: 6, ..agent },
        }
    }
}

/// What a run has spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Spent {
    /// Calls of a model, failed ones and those that a crash cut off included.
    pub model_calls: u32,
    /// Of these, the ones that a crash of Steward cut off.
    #[serde(default)]
    pub cut_off: u32,
    /// Calls of a model that runs below made.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub below: u32,
    /// Calls of tools.
    pub tool_calls: u32,
    /// Time at work, milliseconds.
    pub wall_ms: u64,
    /// Tokens, settled.
    pub tokens: u64,
    /// Tokens reserved for a call in flight.
    pub tokens_reserved: u64,
    /// Millionths of a US dollar, settled.
    pub cost_micros: u64,
    /// Millionths of a US dollar reserved for a call in flight.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cost_reserved: u64,
}

impl Spent {
    /// Model calls that count against `budget`. Those cut off by a crash of the node are free, but at most as many as
    /// the budget has, so that a run that itself crashes its node still ends.
    pub fn counted_calls(&self, budget: &Budget) -> u32 {
        let made = self.model_calls + self.below;
        made.saturating_sub(self.cut_off.min(budget.model_calls))
    }
}

impl Budget {
    /// What is left of it for a child run, one level deeper; the longest single call stays the same.
    #[must_use]
    pub fn left(&self, spent: &Spent) -> Self {
        Self {
            model_calls: self.model_calls.saturating_sub(spent.counted_calls(self)),
            tool_calls: self.tool_calls.saturating_sub(spent.tool_calls),
            wall_ms: self.wall_ms.saturating_sub(spent.wall_ms),
            tokens: self.tokens.saturating_sub(spent.tokens + spent.tokens_reserved),
            cost_micros: self.cost_micros.saturating_sub(spent.cost_micros + spent.cost_reserved),
            depth: self.depth.saturating_sub(1),
            call_ms: self.call_ms,
        }
    }

    /// The lower value of each limit.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.min(other.model_calls),
            tool_calls: self.tool_calls.min(other.tool_calls),
            wall_ms: self.wall_ms.min(other.wall_ms),
            call_ms: self.call_ms.min(other.call_ms),
            tokens: self.tokens.min(other.tokens),
            cost_micros: self.cost_micros.min(other.cost_micros),
            depth: self.depth.min(other.depth),
        }
    }
}

/// The limit that ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Too many model calls.
    ModelCalls,
    /// Too many tool calls.
    ToolCalls,
    /// Too long at work.
    Wall,
    /// Too many tokens.
    Tokens,
    /// Too much money.
    Cost,
    /// Too deep a delegation.
    Depth,
    /// A hard budget of the installation, a user, an agent, a connection or a key.
    Spend,
}

impl Limit {
    pub fn explain(self, budget: &Budget) -> String {
        let (what, value) = match self {
            Self::ModelCalls => ("model calls", u64::from(budget.model_calls)),
            Self::ToolCalls => ("tool calls", u64::from(budget.tool_calls)),
            Self::Wall => ("milliseconds at work", budget.wall_ms),
            Self::Tokens => ("tokens", budget.tokens),
            Self::Cost => ("millionths of a dollar", budget.cost_micros),
            Self::Depth => ("levels of delegation", u64::from(budget.depth)),
            Self::Spend => {
                return "stopped at a hard budget; see `steward budget list`, wait until it begins \
                        anew, or ask an operator to raise it"
                    .to_owned();
            }
        };
        format!("stopped at the limit of {value} {what}; raise the agent's budget or narrow the request")
    }
}

pub fn model_call_fits(budget: &Budget, spent: &Spent, tokens: u64, cost_micros: u64) -> Result<(), Limit> {
    if spent.counted_calls(budget) >= budget.model_calls {
        return Err(Limit::ModelCalls);
    }
    if spent.tokens + spent.tokens_reserved + tokens > budget.tokens {
        return Err(Limit::Tokens);
    }
    if spent.cost_micros + spent.cost_reserved + cost_micros > budget.cost_micros {
        return Err(Limit::Cost);
    }
    common(budget, spent)
}

pub fn tool_call_fits(budget: &Budget, spent: &Spent) -> Result<(), Limit> {
    if spent.tool_calls >= budget.tool_calls {
        return Err(Limit::ToolCalls);
    }
    common(budget, spent)
}

fn common(budget: &Budget, spent: &Spent) -> Result<(), Limit> {
    if spent.wall_ms > budget.wall_ms {
        return Err(Limit::Wall);
    }
    if spent.cost_micros > budget.cost_micros {
        return Err(Limit::Cost);
    }
    Ok(())
}
