//! `POST /api/routing/preview`.

use super::check;
use crate::auth::Person;
use crate::dto::routing::{RoutingPreview, RoutingPreviewRequest, RoutingTarget};
use crate::extract::Body;
use crate::problem::Problem;
use crate::routes::agents;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use std::collections::BTreeMap;
use steward_core::ConnectionId;
use steward_core::model::Connection;
use steward_core::ports::{Breaker, RouteRequest};
use steward_core::routing::{Routing, Task, hint};

/// Where a message to an agent, saved or not, would go. Nothing is sent.
#[utoipa::path(post, path = "/api/routing/preview", tag = "agents", operation_id = "previewRouting",
    request_body = RoutingPreviewRequest,
    responses((status = 200, description = "Found", body = RoutingPreview)))]
pub(crate) async fn preview(
    State(state): State<ApiState>,
    _: Person,
    Body(request): Body<RoutingPreviewRequest>,
) -> Result<Json<RoutingPreview>, Problem> {
    let message = request.message.clone();
    let (routing, primary) = settings(&state, request).await?;
    let models = &state.runs.deps().models;
    let wanted = RouteRequest { wanted: None, primary, routing: &routing, message: &message, task: None };
    let route = models.route(wanted).await?;
    let health = models.health().await;
    let breakers: BTreeMap<ConnectionId, _> = health.into_iter().map(|one| (one.connection, one.breaker)).collect();
    let mut targets = Vec::new();
    for connection in route.targets {
        let breaker = breakers.get(&connection.id).copied().unwrap_or_default();
        targets.push(RoutingTarget { breaker, ..target(&state, connection, route.task).await });
    }
    let about = hint(&message);
    Ok(Json(RoutingPreview {
        task: route.task,
        targets,
        reason: route.reason,
        hint: about.hint,
        hint_words: about.words,
    }))
}

/// The agent's settings, or those given.
async fn settings(
    state: &ApiState,
    request: RoutingPreviewRequest,
) -> Result<(Routing, Option<ConnectionId>), Problem> {
    if let Some(id) = request.agent_id {
        if request.routing.is_some() || request.connection.is_some() {
            return Err(Problem::invalid(
                "agent_id",
                "an agent has its own routing and connection",
                "give either `agent_id`, or `routing` and `connection`",
            ));
        }
        let agent = agents::live(state, id).await.map_err(|_| {
            Problem::invalid("agent_id", format!("there is no agent {id}"), "choose one of /api/agents")
        })?;
        return Ok((agent.routing, agent.connection));
    }
    let connections = state.connections.list().await;
    if let Some(id) = request.connection {
        check::known("connection", id, &connections)?;
    }
    let routing = request.routing.unwrap_or_default();
    check::routing(&routing, &connections)?;
    Ok((routing, request.connection))
}

async fn target(state: &ApiState, connection: Connection, task: Task) -> RoutingTarget {
    let report = state.examiner.report(connection.id).await;
    let grade = report.and_then(|report| report.grades.get(&task).copied());
    RoutingTarget {
        id: connection.id,
        grade,
        price: state.gateway.price(&connection),
        breaker: Breaker::Closed,
        name: connection.name,
        model: connection.model,
    }
}
