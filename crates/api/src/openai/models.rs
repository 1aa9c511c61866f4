use crate::auth::DialectCaller;
use crate::model_name::{PREFIX, name_of};
use crate::openai::{OpenAiError, unknown_model};
use crate::tenant_app::TenantApp;
use axum::Json;
use axum::extract::Path;
use serde_json::{Value, json};
use steward_app::Caller;
use steward_core::agent::Agent;

fn entry(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "steward"})
}

/// `GET /v1/models`: those that the caller may use.
pub(crate) async fn list(DialectCaller(state, caller): DialectCaller) -> Result<Json<Value>, OpenAiError> {
    let mut data: Vec<Value> = names(&state, &caller).await?.iter().map(|name| entry(name)).collect();
    data.push(entry(state.embedder().model()));
    Ok(Json(json!({"object": "list", "data": data})))
}

/// Agents and connections that the caller may use, under the names of models.
async fn names(state: &TenantApp, caller: &Caller) -> Result<Vec<String>, OpenAiError> {
    let agents = state.usable_agents(caller).await?;
    let mut names: Vec<String> = agents.into_iter().map(|agent| agent.name).collect();
    let connections = state.usable_connections(caller).await;
    names.extend(connections.into_iter().map(|name| format!("{PREFIX}{name}")));
    Ok(names)
}

pub(crate) async fn one(
    DialectCaller(state, caller): DialectCaller,
    Path(name): Path<String>,
) -> Result<Json<Value>, OpenAiError> {
    if name == state.embedder().model() {
        return Ok(Json(entry(&name)));
    }
    let Some(connection) = name_of(&name) else {
        let agent = find(&state, &caller, &name).await?;
        return Ok(Json(entry(&agent.name)));
    };
    let known = state.models_of_connections(&caller).await;
    if known.iter().any(|(_, one)| one == connection) {
        return Ok(Json(entry(&name)));
    }
    Err(OpenAiError::unknown_connection(connection, &known, "model"))
}

pub(crate) async fn find(state: &TenantApp, caller: &Caller, name: &str) -> Result<Agent, OpenAiError> {
    if let Some(agent) = state.usable_agent(caller, name).await? {
        return Ok(agent);
    }
    Err(unknown_model(name, &names(state, caller).await?, &state.models_of_connections(caller).await))
}
