//! `steward mcp`: other programs' tools.

mod accept;
mod add;
mod list;
mod login;

use super::picked::{pick, text};
use crate::backend::Backend;
use crate::cli::{McpAction, McpArgs};
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use reqwest::Method;
use serde_json::Value;

/// Runs the command.
pub async fn run(settings: Settings, args: McpArgs, term: Term) -> anyhow::Result<Exit> {
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let action = args.action.unwrap_or(McpAction::List);
    let exit = act(&backend, action, args.json, term).await;
    backend.close().await;
    exit
}

async fn act(backend: &Backend, action: McpAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        McpAction::List => list::all(backend, json, term).await,
        McpAction::Add(add) => add::run(backend, add, json, term).await,
        McpAction::Check { server } => list::check(backend, &server, json, term).await,
        accept @ McpAction::Accept { .. } => accept::run(backend, accept, json, term).await,
        McpAction::Attach { server, tools, agent } => {
            let server = find(backend, &server).await?;
            let skills = accept::attach(backend, &server, &tools, &agent).await?;
            accept::tell_attached(&skills, &agent, json, term);
            Ok(Exit::Done)
        }
        McpAction::Login { server } => login::run(backend, &server, json, term).await,
        McpAction::Remove { server } => {
            let server = find(backend, &server).await?;
            backend.api::<Value>(Method::DELETE, &place(&server), None).await?;
            term.say(&format!("removed `{}`", text(&server, "name")));
            Ok(Exit::Done)
        }
    }
}

/// A server by its name or a part of its id.
async fn find(backend: &Backend, wanted: &str) -> anyhow::Result<Value> {
    let all = backend.api_rows("/api/mcp/servers").await?;
    pick(all, wanted, "MCP server", "steward mcp list")
}

fn place(server: &Value) -> String {
    format!("/api/mcp/servers/{}", text(server, "id"))
}
