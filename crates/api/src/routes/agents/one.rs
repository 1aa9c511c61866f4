//! `/api/agents/{id}`.

use super::change::change;
use crate::auth::Person;
use crate::dto::agent::AgentInput;
use crate::extract::{PathId, PublishedBody};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::AgentId;
use steward_core::agent::Agent;
use steward_core::ports::Role;

/// An agent that is not deleted.
pub(crate) async fn live(state: &ApiState, id: AgentId) -> Result<Agent, Problem> {
    let deps = state.runs.deps();
    let agents = deps.store.agents(deps.tenant).await?;
    agents.into_iter().find(|agent| agent.id == id).ok_or_else(|| Problem::not_found(format!("agent {id}")))
}

/// One agent.
#[utoipa::path(get, path = "/api/agents/{id}", tag = "agents", operation_id = "getAgent",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Agent)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    _: Person,
    PathId(id): PathId<AgentId>,
) -> Result<Json<Agent>, Problem> {
    Ok(Json(live(&state, id).await?))
}

/// Replaces an agent; runs at work keep the one they started with.
#[utoipa::path(put, path = "/api/agents/{id}", tag = "agents", operation_id = "replaceAgent",
    params(("id" = Uuid, Path)), request_body = AgentInput,
    responses((status = 200, description = "Found", body = Agent)))]
pub(crate) async fn replace(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<AgentId>,
    PublishedBody(input): PublishedBody<AgentInput>,
) -> Result<Json<Agent>, Problem> {
    person.may(Role::Operator)?;
    let agent = change(&state, id, |_| Ok(input.clone())).await?;
    Ok(Json(agent))
}

/// Deletes an agent; its runs stay, and it can be restored.
#[utoipa::path(delete, path = "/api/agents/{id}", tag = "agents", operation_id = "deleteAgent",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<AgentId>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    live(&state, id).await?;
    let deps = state.runs.deps();
    deps.store.delete_agent(deps.tenant, id, deps.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a deletion back.
#[utoipa::path(post, path = "/api/agents/{id}/restore", tag = "agents", operation_id = "restoreAgent",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Agent)))]
pub(crate) async fn restore(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<AgentId>,
) -> Result<Json<Agent>, Problem> {
    person.may(Role::Operator)?;
    let deps = state.runs.deps();
    Ok(Json(deps.store.restore_agent(deps.tenant, id).await?))
}
