//! Which connections a request goes to.

use super::allowed::{may_use_connection, not_for_this_key};
use crate::openai::OpenAiError;
use crate::state::ApiState;
use axum::http::HeaderMap;
use steward_core::model::{Connection, Provider, Wire};
use steward_core::ports::Principal;

/// What the model's name begins with if it is a connection's.
pub(crate) const PREFIX: &str = "connection/";
/// Names of connections that are asked if the first does not answer, with commas between them.
const FALLBACK: &str = "x-steward-fallback";

/// The connection's name in a model's name.
pub(crate) fn name_of(model: &str) -> Option<&str> {
    model.strip_prefix(PREFIX)
}

/// The connection of this name and those of the header, in the order in which they are tried.
pub(super) async fn resolve(
    state: &ApiState,
    principal: &Principal,
    name: &str,
    headers: &HeaderMap,
) -> Result<Vec<Connection>, OpenAiError> {
    let mut targets = vec![find(state, principal, name, "model").await?];
    let more = headers.get_all(FALLBACK).iter();
    for name in more.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')) {
        let name = name.trim();
        if name.is_empty() {
            continue;
        }
        let name = name_of(name).unwrap_or(name);
        let next = find(state, principal, name, FALLBACK).await?;
        if !targets.iter().any(|one| one.id == next.id) {
            targets.push(next);
        }
    }
    Ok(targets)
}

async fn find(
    state: &ApiState,
    principal: &Principal,
    name: &str,
    param: &'static str,
) -> Result<Connection, OpenAiError> {
    if !may_use_connection(principal, name) {
        return Err(not_for_this_key(&format!("the connection `{name}`")));
    }
    if let Some(found) = state.connections.named(name).await {
        return Ok(found);
    }
    let known = state.connections.list().await;
    let names: Vec<&str> = known
        .iter()
        .map(|one| one.connection.name.as_str())
        .filter(|name| may_use_connection(principal, name))
        .collect();
    Err(OpenAiError::unknown_connection(name, &names, param))
}

/// Whether requests of the OpenAI dialect are understood there; others are translated.
pub(super) fn speaks_the_dialect(connection: &Connection) -> bool {
    match connection.wire {
        Some(Wire::Chat | Wire::Responses) => true,
        Some(Wire::Native) => false,
        None => !matches!(
            connection.provider,
            Provider::Anthropic | Provider::Gemini | Provider::Cohere | Provider::Bedrock
        ),
    }
}
