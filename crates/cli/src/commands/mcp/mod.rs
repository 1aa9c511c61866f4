//! `steward mcp`: other programs' tools.

mod accept;
mod add;
mod list;
mod login;

use super::picked::{pick, text};
use crate::args::{McpAction, McpArgs};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::Value;

/// Runs the command.
pub async fn run(client: &Client, args: McpArgs, term: Term) -> anyhow::Result<Exit> {
    act(client, args.action.unwrap_or(McpAction::List), args.json, term).await
}

async fn act(client: &Client, action: McpAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        McpAction::List => list::all(client, json, term).await,
        McpAction::Add(add) => add::run(client, add, json, term).await,
        McpAction::Check { server } => list::check(client, &server, json, term).await,
        accept @ McpAction::Accept { .. } => accept::run(client, accept, json, term).await,
        McpAction::Attach { server, tools, agent } => {
            let server = find(client, &server).await?;
            let skills = accept::attach(client, &server, &tools, &agent).await?;
            accept::tell_attached(&skills, &agent, json, term);
            Ok(Exit::Done)
        }
        McpAction::Login { server } => login::run(client, &server, json, term).await,
        McpAction::Remove { server } => {
            let server = find(client, &server).await?;
            client.delete(&place(&server)).await?;
            term.say(&format!("removed `{}`", text(&server, "name")));
            Ok(Exit::Done)
        }
    }
}

/// A server by its name or a part of its id.
async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let all = client.rows("/api/mcp/servers").await?;
    pick(all, wanted, "MCP server", "steward mcp list")
}

fn place(server: &Value) -> String {
    format!("/api/mcp/servers/{}", text(server, "id"))
}
