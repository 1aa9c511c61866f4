//! Which connections an agent's requests go to, and how it plans while it works.

use super::connection::Price;
use super::names::{Breaker, Grade, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::{ConnectionId, agent, routing};
use utoipa::ToSchema;
use uuid::Uuid;

/// Choice among connections with the same model name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Balance {
    /// The one that was named.
    #[default]
    Fixed,
    /// By their weights.
    Weighted,
    /// The one that answered soonest of late.
    LeastLatency,
}

/// Which connections an agent's requests go to, besides its own.
#[expect(clippy::struct_field_names, reason = "names of the product")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Routing {
    /// Connections for certain kinds of requests (`code_gen`, `translate`…); they go before the agent's own.
    #[schema(value_type = BTreeMap<String, Uuid>)]
    pub task_routing: BTreeMap<routing::Task, Uuid>,
    /// What is tried after the first choice, in order; the system default comes last by itself.
    #[schema(max_items = 20)]
    pub fallback_chain: Vec<Uuid>,
    /// How many connections are tried at most.
    #[schema(minimum = 1, maximum = 20)]
    pub max_fallback_attempts: u8,
    /// Whether the cheapest connection goes first whose exam grade suffices for the task.
    pub cost_aware: bool,
    /// After so many milliseconds without first content, the next connection is asked as well; null: never.
    #[schema(minimum = 50, maximum = 600_000)]
    pub hedge_after_ms: Option<u64>,
    /// Who goes first among connections with the same model name.
    pub balance: Balance,
}

impl Default for Routing {
    fn default() -> Self {
        routing::Routing::default().into()
    }
}

/// How much a deep plan says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlanStyle {
    /// With dependencies and risk checks.
    Structured,
    /// One line a step.
    Concise,
}

/// Whether and how an agent plans while it works; null: as the installation is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Deep {
    /// Whether it plans.
    pub enabled: Option<bool>,
    /// Most steps of a plan.
    #[schema(minimum = 1, maximum = 20)]
    pub max_steps: Option<u8>,
    /// How much a plan says.
    pub style: Option<PlanStyle>,
}

/// A request whose route is to be shown: of an agent, or of settings that are not saved.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoutingPreviewRequest {
    /// An agent; without it `routing` and `connection` are looked at.
    #[serde(default)]
    pub agent_id: Option<Uuid>,
    /// Settings in place of an agent's.
    #[serde(default)]
    pub routing: Option<Routing>,
    /// The primary connection that belongs to `routing`; null: the default.
    #[serde(default)]
    pub connection: Option<Uuid>,
    /// What is asked.
    #[schema(max_length = 200_000)]
    pub message: String,
}

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoutingHint {
    /// Figures: metrics, dashboards, charts.
    Analytics,
    /// Documents: search, files, scans.
    Documents,
    /// Anything else.
    General,
}

/// A connection that a request would go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct RoutingTarget {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Its model.
    pub model: String,
    /// Its grade for this kind of request; null: not examined.
    #[schema(required)]
    pub grade: Option<Grade>,
    /// Its price; null: not known.
    #[schema(required)]
    pub price: Option<Price>,
    /// Whether requests go to it at the moment.
    pub breaker: Breaker,
}

/// Where a request would go. Nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct RoutingPreview {
    /// What kind of request it is.
    pub task: Task,
    /// In the order in which they would be tried.
    pub targets: Vec<RoutingTarget>,
    /// Why this order.
    pub reason: String,
    /// What the message is about: a hint to the order of tools.
    pub hint: RoutingHint,
    /// The message's words that the hint is from.
    pub hint_words: Vec<String>,
}

impl From<routing::Hint> for RoutingHint {
    fn from(hint: routing::Hint) -> Self {
        match hint {
            routing::Hint::Analytics => Self::Analytics,
            routing::Hint::Documents => Self::Documents,
            routing::Hint::General => Self::General,
        }
    }
}

impl From<routing::Balance> for Balance {
    fn from(balance: routing::Balance) -> Self {
        match balance {
            routing::Balance::Fixed => Self::Fixed,
            routing::Balance::Weighted => Self::Weighted,
            routing::Balance::LeastLatency => Self::LeastLatency,
        }
    }
}

impl From<Balance> for routing::Balance {
    fn from(balance: Balance) -> Self {
        match balance {
            Balance::Fixed => Self::Fixed,
            Balance::Weighted => Self::Weighted,
            Balance::LeastLatency => Self::LeastLatency,
        }
    }
}

impl From<routing::Routing> for Routing {
    fn from(routing: routing::Routing) -> Self {
        let tasks = routing.task_routing.into_iter();
        Self {
            task_routing: tasks.map(|(task, id)| (task, id.0)).collect(),
            fallback_chain: routing.fallback_chain.into_iter().map(|id| id.0).collect(),
            max_fallback_attempts: routing.max_fallback_attempts,
            cost_aware: routing.cost_aware,
            hedge_after_ms: routing.hedge_after_ms,
            balance: routing.balance.into(),
        }
    }
}

impl From<Routing> for routing::Routing {
    fn from(routing: Routing) -> Self {
        let tasks = routing.task_routing.into_iter();
        let chain = routing.fallback_chain.into_iter();
        Self {
            task_routing: tasks.map(|(task, id)| (task, ConnectionId(id))).collect(),
            fallback_chain: chain.map(ConnectionId).collect(),
            max_fallback_attempts: routing.max_fallback_attempts,
            cost_aware: routing.cost_aware,
            hedge_after_ms: routing.hedge_after_ms,
            balance: routing.balance.into(),
        }
    }
}

impl From<agent::PlanStyle> for PlanStyle {
    fn from(style: agent::PlanStyle) -> Self {
        match style {
            agent::PlanStyle::Structured => Self::Structured,
            agent::PlanStyle::Concise => Self::Concise,
        }
    }
}

impl From<PlanStyle> for agent::PlanStyle {
    fn from(style: PlanStyle) -> Self {
        match style {
            PlanStyle::Structured => Self::Structured,
            PlanStyle::Concise => Self::Concise,
        }
    }
}

impl From<agent::Deep> for Deep {
    fn from(deep: agent::Deep) -> Self {
        Self { enabled: deep.enabled, max_steps: deep.max_steps, style: deep.style.map(Into::into) }
    }
}

impl From<Deep> for agent::Deep {
    fn from(deep: Deep) -> Self {
        Self { enabled: deep.enabled, max_steps: deep.max_steps, style: deep.style.map(Into::into) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Deep, Routing};
    use serde_json::json;
    use steward_core::{agent, routing};

    #[test]
    fn routing_is_written_as_the_core_writes_it_and_comes_back() {
        let id = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";
        let body = json!({
            "task_routing": {"code_gen": id}, "fallback_chain": [id], "max_fallback_attempts": 5,
            "cost_aware": true, "hedge_after_ms": 800, "balance": "least_latency",
        });
        let given: Routing = serde_json::from_value(body.clone()).unwrap();
        let core: routing::Routing = given.clone().into();
        assert_eq!(json!(core), body);
        assert_eq!(Routing::from(core), given);
        let deep = json!({"enabled": true, "max_steps": 4, "style": "concise"});
        let given: Deep = serde_json::from_value(deep.clone()).unwrap();
        let core: agent::Deep = given.into();
        assert_eq!(json!(core), deep);
        assert_eq!(Deep::from(core), given);
    }

    #[test]
    fn what_is_left_out_is_as_usual_and_what_is_not_known_is_refused() {
        let given: Routing = serde_json::from_value(json!({})).unwrap();
        assert_eq!(given.max_fallback_attempts, 3);
        for body in
            [json!({"task_routing": {"cooking": null}}), json!({"balance": "random"}), json!({"max_attempts": 3})]
        {
            assert!(serde_json::from_value::<Routing>(body.clone()).is_err(), "{body}");
        }
        assert!(serde_json::from_value::<Deep>(json!({"style": "long"})).is_err());
    }
}
