//! `GET /v1/models`: the agents, as models.

use crate::auth::Caller;
use crate::openai::OpenAiError;
use crate::state::ApiState;
use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};
use steward_core::agent::Agent;

fn entry(agent: &Agent) -> Value {
    json!({"id": agent.name, "object": "model", "created": 0, "owned_by": "steward"})
}

/// `GET /v1/models`.
pub(crate) async fn list(
    State(state): State<ApiState>,
    Caller(_): Caller,
) -> Result<Json<Value>, OpenAiError> {
    let deps = state.runs.deps();
    let agents = deps.store.agents(deps.tenant).await?;
    let data: Vec<Value> = agents.iter().map(entry).collect();
    Ok(Json(json!({"object": "list", "data": data})))
}

/// `GET /v1/models/{name}`.
pub(crate) async fn one(
    State(state): State<ApiState>,
    Caller(_): Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, OpenAiError> {
    find(&state, &name).await.map(|agent| Json(entry(&agent)))
}

/// The agent of this name.
pub(crate) async fn find(state: &ApiState, name: &str) -> Result<Agent, OpenAiError> {
    let deps = state.runs.deps();
    if let Some(agent) = deps.store.agent_by_name(deps.tenant, name).await? {
        return Ok(agent);
    }
    let known: Vec<String> = deps
        .store
        .agents(deps.tenant)
        .await?
        .into_iter()
        .map(|agent| agent.name)
        .collect();
    Err(OpenAiError::unknown_model(name, &known))
}
