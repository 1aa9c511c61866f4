use crate::auth::DialectCaller;
use crate::gateway::{PREFIX, name_of};
use crate::openai::OpenAiError;
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
    let agents = state.usable_agents(&caller).await?;
    let mut data: Vec<Value> = agents.iter().map(|agent| entry(&agent.name)).collect();
    for name in state.usable_connections(&caller).await {
        data.push(entry(&format!("{PREFIX}{name}")));
    }
    data.push(entry(state.embedder().model()));
    Ok(Json(json!({"object": "list", "data": data})))
}

pub(crate) async fn one(
    DialectCaller(state, caller): DialectCaller,
    Path(name): Path<String>,
) -> Result<Json<Value>, OpenAiError> {
    let Some(connection) = name_of(&name) else {
        let agent = find(&state, &caller, &name).await?;
        return Ok(Json(entry(&agent.name)));
    };
    let known = state.usable_connections(&caller).await;
    if known.iter().any(|one| one == connection) {
        return Ok(Json(entry(&name)));
    }
    Err(OpenAiError::unknown_connection(connection, &known, "model"))
}

pub(crate) async fn find(state: &TenantApp, caller: &Caller, name: &str) -> Result<Agent, OpenAiError> {
    if let Some(agent) = state.usable_agent(caller, name).await? {
        return Ok(agent);
    }
    let known: Vec<String> = state.usable_agents(caller).await?.into_iter().map(|agent| agent.name).collect();
    Err(OpenAiError::unknown(format!("there is no agent `{name}`; there are: {}", known.join(", ")), "model"))
}
