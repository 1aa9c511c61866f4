//! Asks a server about itself and about the model.

use std::time::Duration;

use serde_json::{Value, json};
use steward_core::model::{Connection, Provider};

use super::desk::Desk;
use super::told::{Told, named_server, server_name};
use crate::openai::{Client, Limits, Outgoing, Timeouts, json_bytes};

/// Longest wait for one of these answers.
const LIMIT: Duration = Duration::from_secs(5);

/// What the server tells before the model is asked.
pub(super) async fn ask(desk: &Desk<'_>) -> Told {
    let (client, connection) = (desk.client, &desk.connection);
    let mut told = Told::default();
    match connection.provider {
        Provider::Local => told.window = Some(connection.capabilities.window),
        Provider::Ollama => {
            let body = json!({"model": connection.model});
            let show = Outgoing::post_native("api/show".to_owned(), json_bytes(&body));
            if let Some(shown) = get(client, connection, &show).await {
                told.shown(&shown);
            }
        }
        Provider::LlamaCpp => {
            let props = Outgoing::get_native("props".to_owned());
            if let Some(props) = get(client, connection, &props).await {
                told.props(&props);
            }
        }
        _ => {
            if let Some(models) = get(client, connection, &Outgoing::get("models")).await {
                told.listed(&models, &connection.model);
            }
        }
    }
    if told.server.is_empty() {
        told.server = server_version(client, connection).await.unwrap_or_default();
    }
    told
}

/// Ollama: what it has made of the window; only after the model was asked.
pub(super) async fn running(desk: &Desk<'_>, told: &mut Told) {
    let ps = Outgoing::get_native("api/ps".to_owned());
    if let Some(running) = get(desk.client, &desk.connection, &ps).await {
        told.running(&running, &desk.connection.model);
    }
}

/// What the server says it is, such as `ollama 0.13.1`; `None` where it does not answer that.
pub async fn server_version(client: &Client, connection: &Connection) -> Option<String> {
    let name = server_name(connection.provider);
    let path = match connection.provider {
        Provider::Ollama => "api/version",
        Provider::Vllm => "version",
        Provider::LlamaCpp => "props",
        Provider::Local => return Some(format!("steward {}", env!("CARGO_PKG_VERSION"))),
        _ => return None,
    };
    let answer = get(client, connection, &Outgoing::get_native(path.to_owned())).await?;
    let version = answer["version"].as_str().or_else(|| answer["build_info"].as_str());
    Some(named_server(name, version))
}

/// The JSON of an answer; what goes wrong here is no error of the exam.
pub(super) async fn get(client: &Client, connection: &Connection, outgoing: &Outgoing) -> Option<Value> {
    let limits = Limits::new(LIMIT, 0, Timeouts::default());
    let sent = client.send(connection, outgoing, &limits).await.ok()?;
    let (_, value) = client.json(sent, &limits).await.ok()?;
    Some(value)
}
