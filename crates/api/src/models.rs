//! `GET /v1/models`: the agents and the connections, as models.

use crate::auth::Caller;
use crate::gateway::{PREFIX, may_use_agent, may_use_connection, name_of};
use crate::openai::OpenAiError;
use crate::state::ApiState;
use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};
use steward_core::agent::Agent;
use steward_core::ports::Principal;

fn entry(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "steward"})
}

/// `GET /v1/models`: those that the caller may use.
pub(crate) async fn list(State(state): State<ApiState>, Caller(principal): Caller) -> Result<Json<Value>, OpenAiError> {
    let agents = agents(&state, &principal).await?;
    let mut data: Vec<Value> = agents.iter().map(|name| entry(name)).collect();
    for name in connections(&state, &principal).await {
        data.push(entry(&format!("{PREFIX}{name}")));
    }
    data.push(entry(state.runs.deps().embedder.model()));
    Ok(Json(json!({"object": "list", "data": data})))
}

/// `GET /v1/models/{name}`.
pub(crate) async fn one(
    State(state): State<ApiState>,
    Caller(principal): Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, OpenAiError> {
    let Some(connection) = name_of(&name) else {
        let agent = find(&state, &principal, &name).await?;
        return Ok(Json(entry(&agent.name)));
    };
    let known = connections(&state, &principal).await;
    if known.iter().any(|one| one == connection) {
        return Ok(Json(entry(&name)));
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Err(OpenAiError::unknown_connection(connection, &known, "model"))
}

/// The agent of this name, if the caller may use it.
pub(crate) async fn find(state: &ApiState, principal: &Principal, name: &str) -> Result<Agent, OpenAiError> {
    let deps = state.runs.deps();
    if may_use_agent(principal, name)
        && let Some(agent) = deps.store.agent_by_name(deps.tenant, name).await?
    {
        return Ok(agent);
    }
    let known = agents(state, principal).await?;
    Err(OpenAiError::unknown_model(name, &known))
}

async fn agents(state: &ApiState, principal: &Principal) -> Result<Vec<String>, OpenAiError> {
    let deps = state.runs.deps();
    let agents = deps.store.agents(deps.tenant).await?;
    let names = agents.into_iter().map(|agent| agent.name);
    Ok(names.filter(|name| may_use_agent(principal, name)).collect())
}

async fn connections(state: &ApiState, principal: &Principal) -> Vec<String> {
    let known = state.connections.list().await;
    let names = known.into_iter().map(|one| one.connection.name);
    names.filter(|name| may_use_connection(principal, name)).collect()
}
