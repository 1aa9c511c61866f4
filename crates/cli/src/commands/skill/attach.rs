//! `steward skill attach` and `steward skill detach`.

use super::find;
use crate::client::Client;
use crate::client::DEFAULT_AGENT;
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use http::Method;
use serde_json::Value;

pub(super) async fn run(
    client: &Client,
    wanted: &str,
    agent: Option<&str>,
    attached: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skill = find(client, wanted).await?;
    let agent = agent.unwrap_or(DEFAULT_AGENT);
    let id = client.agent_named(Some(agent)).await?.id;
    let path = format!("/api/agents/{id}/skills/{}", text(&skill, "id"));
    let method = if attached { Method::PUT } else { Method::DELETE };
    client.request::<Value>(method, &path, None).await?;
    let name = text(&skill, "name");
    term.say(&if attached {
        format!("{agent} has `{name}` from its next run on")
    } else {
        format!("{agent} no longer has `{name}`")
    });
    Ok(Exit::Done)
}
