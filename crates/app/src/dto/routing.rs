use serde::{Deserialize, Serialize};
use steward_core::exam::Grade;
use steward_core::model::Price;
use steward_core::ports::Breaker;
use steward_core::routing::{Hint, Redirected, Routing, Task};
use steward_core::{AgentId, ConnectionId};
use utoipa::ToSchema;

/// A request whose route is to be shown: of an agent, or of settings that are not saved.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingPreviewRequest {
    /// An agent; without it `routing` and `connection` are looked at.
    pub agent_id: Option<AgentId>,
    /// Settings in place of an agent's.
    pub routing: Option<Routing>,
    /// The primary connection that belongs to `routing`; null: the default.
    pub connection: Option<ConnectionId>,
    /// Names of the tools that belong to `routing`; left out or empty: all there are.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// What is asked.
    #[schema(max_length = 200_000)]
    pub message: String,
}

/// A connection that a request would go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoutingTarget {
    /// Its id.
    pub id: ConnectionId,
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
pub struct RoutingPreview {
    /// What kind of request it is.
    pub task: Task,
    /// In the order in which they would be tried.
    pub targets: Vec<RoutingTarget>,
    /// Why this order.
    pub reason: String,
    /// What the message is about: a hint to the order of tools.
    pub hint: Hint,
    /// The message's words that the hint is from.
    pub hint_words: Vec<String>,
    /// Where its plans would be made; null: where the rest is done.
    #[schema(required)]
    pub planner: Option<PlannerRoute>,
    /// What a redirect makes of the message, or why it stays; null: no redirect is for it. If `from` is there, another agent
    /// would carry it out, and all of the above is that agent's.
    #[schema(required)]
    pub redirected: Option<Redirected>,
}

/// Where plans would be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlannerRoute {
    /// In the order in which they would be tried.
    pub targets: Vec<RoutingTarget>,
    /// Why this order.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;
    use steward_core::agent::Deep;
    use steward_core::routing::Routing;

    #[test]
    fn routing_comes_back_as_it_was_given() {
        let id = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";
        let body = json!({
            "task_routing": {"code_gen": id}, "planner": id, "executor": null,
            "redirects": {"analytics": "tools", "documents": {"agent": id}},
            "fallback_chain": [id], "max_fallback_attempts": 5,
            "cost_aware": true, "hedge_after_ms": 800, "balance": "least_latency",
        });
        let given: Routing = serde_json::from_value(body.clone()).unwrap();
        assert_eq!(json!(given), body);
        let deep = json!({"enabled": true, "max_steps": 4, "style": "concise"});
        let given: Deep = serde_json::from_value(deep.clone()).unwrap();
        assert_eq!(json!(given), deep);
    }

    #[test]
    fn what_is_left_out_is_as_usual_and_what_is_not_known_is_refused() {
        let given: Routing = serde_json::from_value(json!({})).unwrap();
        assert_eq!(given.max_fallback_attempts, 3);
        for body in [
            json!({"task_routing": {"cooking": null}}),
            json!({"balance": "random"}),
            json!({"max_attempts": 3}),
            json!({"redirects": {"analytics": "oos"}}),
            json!({"redirects": {"figures": "tools"}}),
        ] {
            assert!(serde_json::from_value::<Routing>(body.clone()).is_err(), "{body}");
        }
        assert!(serde_json::from_value::<Deep>(json!({"style": "long"})).is_err());
    }
}
