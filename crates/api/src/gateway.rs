//! Steward as a gateway: requests for `connection/<name>` go to the model itself, without an agent.

mod embed;
mod inbound;
mod kept;
mod pass;
mod relay;
mod translate;
mod usage_sniffer;

use crate::model_name::name_of;
use crate::openai::OpenAiError;
use crate::tenant_app::TenantApp;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use steward_app::{Caller, NoConnection};
use steward_core::model::Connection;
use steward_core::routing::Attempt;

pub(crate) use embed::embeddings;
pub(crate) use inbound::Inbound;
pub(crate) use kept::{ask_where_made, keeps_answers, note_answer_of_connection};
pub(crate) use pass::{completions, pass};

/// Names of connections that are asked if the first does not answer, with commas between them.
const FALLBACK: &str = "x-steward-fallback";

/// The connection `name` and those of the header, in the order in which they are tried.
async fn resolve(
    state: &TenantApp,
    caller: &Caller,
    name: &str,
    headers: &HeaderMap,
) -> Result<Vec<Connection>, OpenAiError> {
    let mut targets = vec![find(state, caller, name, "model").await?];
    let more = headers.get_all(FALLBACK).iter();
    for name in more.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')) {
        let name = name.trim();
        if name.is_empty() {
            continue;
        }
        let name = name_of(name).unwrap_or(name);
        let next = find(state, caller, name, FALLBACK).await?;
        if !targets.iter().any(|one| one.id == next.id) {
            targets.push(next);
        }
    }
    Ok(targets)
}

async fn find(state: &TenantApp, caller: &Caller, name: &str, param: &'static str) -> Result<Connection, OpenAiError> {
    match state.usable_connection(caller, name).await {
        Ok(found) => Ok(found),
        Err(NoConnection::Forbidden(error)) => {
            let code = error.detail.code.unwrap_or("key_not_allowed");
            Err(OpenAiError { code, ..OpenAiError::forbidden(error.to_string()) })
        }
        Err(NoConnection::Unknown { known }) => Err(OpenAiError::unknown_connection(name, &known, param)),
    }
}

/// Says who answered.
fn mark(response: &mut Response, connection: &Connection, attempts: &[Attempt]) {
    let headers = response.headers_mut();
    if let Ok(name) = HeaderValue::from_bytes(connection.name.as_bytes()) {
        headers.insert("x-steward-connection", name);
    }
    headers.insert("x-steward-attempts", HeaderValue::from(attempts.len()));
}
