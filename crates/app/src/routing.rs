use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::connections::of;
use crate::dto::routing::{PlannerRoute, RoutingPreview, RoutingPreviewRequest, RoutingTarget};
use futures::FutureExt as _;
use serde_json::json;
use std::collections::BTreeMap;
use steward_core::ConnectionId;
use steward_core::agent::{Agent, Deep};
use steward_core::model::Connection;
use steward_core::ports::KnownConnection;
use steward_core::routing::{Hint, Redirect, RouteTaken, Routing, hint};
use steward_engine::{PreviewFor, RoutePreview};

const MAX_CHAIN: usize = 20;

impl App {
    /// Where a message to an agent, saved or not, would go. Nothing is sent.
    pub async fn preview_routing(&self, caller: &Caller, request: RoutingPreviewRequest) -> AppResult<RoutingPreview> {
        authorize(caller, Action::Read, Resource::Agents)?;
        let (message, saved) = (request.message.clone(), request.agent_id.is_some());
        let agent = self.routed_agent(caller, request).await?;
        let asked = PreviewFor { user: Some(caller.user()), workspace: self.workspace.copy() };
        let RoutePreview { agent: to, redirected, route, planner } =
            self.runs.preview_route(&agent, &message, asked).boxed().await?;
        // An agent brings its connections to whoever may use it.
        let open = if to.id == agent.id { saved } else { self.agent_for(caller, Action::Read, to.id).await.is_ok() };
        let planner = match planner {
            Some(plans) => {
                let targets = self.routing_targets(caller, &plans, open).await?;
                Some(PlannerRoute { targets, reason: plans.reason })
            }
            None => None,
        };
        let about = hint(&message);
        Ok(RoutingPreview {
            task: route.task,
            targets: self.routing_targets(caller, &route, open).await?,
            reason: route.reason,
            hint: about.hint,
            hint_words: about.words,
            planner,
            redirected,
        })
    }

    /// `open`: also those that the caller may not use otherwise.
    async fn routing_targets(&self, caller: &Caller, route: &RouteTaken, open: bool) -> AppResult<Vec<RoutingTarget>> {
        let models = &self.deps().models;
        let health = models.health().await;
        let breakers: BTreeMap<ConnectionId, _> = health.into_iter().map(|one| (one.connection, one.breaker)).collect();
        let shown = |one: &Connection| open || authorize(caller, Action::Read, of(one)).is_ok();
        let mut targets = Vec::new();
        for connection in models.existing(&route.targets).await?.into_iter().filter(shown) {
            let report = self.examiner.report(connection.id).await;
            targets.push(RoutingTarget {
                id: connection.id,
                grade: report.and_then(|report| report.grades.get(&route.task).copied()),
                price: self.gateway.price(&connection),
                breaker: breakers.get(&connection.id).copied().unwrap_or_default(),
                name: connection.name,
                model: connection.model,
            });
        }
        Ok(targets)
    }

    /// The agent, or one that has only these settings.
    async fn routed_agent(&self, caller: &Caller, request: RoutingPreviewRequest) -> AppResult<Agent> {
        if let Some(id) = request.agent_id {
            if request.routing.is_some() || request.connection.is_some() || request.tools.is_some() {
                return Err(AppError::invalid(
                    "agent_id",
                    "an agent has its own routing, connection and tools",
                    "give either `agent_id`, or `routing`, `connection` and `tools`",
                ));
            }
            return self.agent_for(caller, Action::Read, id).await.map_err(|_| {
                AppError::invalid("agent_id", format!("there is no agent {id}"), "choose one of /api/agents")
            });
        }
        let connections = self.readable_connections(caller).await;
        if let Some(id) = request.connection {
            check_connection("connection", id, &connections)?;
        }
        let routing = request.routing.unwrap_or_default();
        check_routing(&routing, &connections)?;
        // All else is as usual.
        let agent = json!({"id": self.new_id(), "name": "this agent", "instructions": ""});
        let agent: Agent = serde_json::from_value(agent).map_err(|error| AppError::unavailable(error.to_string()))?;
        Ok(Agent { tools: request.tools.unwrap_or_default(), connection: request.connection, routing, ..agent })
    }
}

pub(crate) fn check_routing(routing: &Routing, connections: &[KnownConnection]) -> AppResult<()> {
    for (field, id) in routing.connections() {
        check_connection(&format!("routing.{field}"), id, connections)?;
    }
    if routing.redirects.get(&Hint::General) == Some(&Redirect::Tools) {
        return Err(AppError::invalid(
            "routing.redirects.general",
            "the hint `general` names no tools",
            "give such requests to another agent, or leave `general` out",
        ));
    }
    for (fits, field, hint) in [
        (routing.fallback_chain.len() <= MAX_CHAIN, "routing.fallback_chain", "name at most 20 connections"),
        ((1..=20).contains(&routing.max_fallback_attempts), "routing.max_fallback_attempts", "choose 1 to 20"),
        (
            routing.hedge_after_ms.is_none_or(|ms| (50..=600_000).contains(&ms)),
            "routing.hedge_after_ms",
            "choose 50 to 600000 milliseconds, or null for never",
        ),
    ] {
        in_range(fits, field, hint)?;
    }
    Ok(())
}

pub(crate) fn check_deep(deep: Deep) -> AppResult<()> {
    in_range(
        deep.max_steps.is_none_or(|steps| (1..=20).contains(&steps)),
        "deep.max_steps",
        "choose 1 to 20, or null for the installation's setting",
    )
}

pub(crate) fn check_connection(field: &str, id: ConnectionId, connections: &[KnownConnection]) -> AppResult<()> {
    if connections.iter().any(|one| one.connection.id == id) {
        return Ok(());
    }
    // Names would tell of connections that the caller may not use.
    let hint = match connections {
        [] => "there are none yet: add a connection first",
        _ => "GET /api/connections lists those that you may use",
    };
    Err(AppError::invalid(field, format!("there is no connection {id}"), hint))
}

pub(crate) fn in_range(fits: bool, field: &str, hint: &str) -> AppResult<()> {
    if fits {
        return Ok(());
    }
    Err(AppError::invalid(field, format!("`{field}` is out of range"), hint))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::{Value, json};

    fn fits(value: &Value) -> bool {
        super::check_routing(&serde_json::from_value(value.clone()).unwrap(), &[]).is_ok()
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let id = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";
        for (value, expected) in [
            (json!({}), true),
            (json!({"max_fallback_attempts": 20}), true),
            (json!({"max_fallback_attempts": 0}), false),
            (json!({"max_fallback_attempts": 21}), false),
            (json!({"hedge_after_ms": 50}), true),
            (json!({"hedge_after_ms": null}), true),
            (json!({"hedge_after_ms": 1}), false),
            (json!({"fallback_chain": [id]}), false),
            (json!({"task_routing": {"chat": id}}), false),
            (json!({"planner": id}), false),
            (json!({"executor": id}), false),
            (json!({"planner": null, "executor": null}), true),
            (json!({"redirects": {"analytics": "tools", "general": {"agent": id}}}), true),
            (json!({"redirects": {"general": "tools"}}), false),
        ] {
            assert_eq!(fits(&value), expected, "{value}");
        }
        for (steps, expected) in [(json!(null), true), (json!(6), true), (json!(0), false)] {
            let deep = serde_json::from_value(json!({"max_steps": steps})).unwrap();
            assert_eq!(super::check_deep(deep).is_ok(), expected, "{steps}");
        }
    }
}
