//! `steward skill attach` and `steward skill detach`.

use super::find;
use crate::backend::Backend;
use crate::commands::picked::text;
use crate::compose::DEFAULT_AGENT;
use crate::exit::Exit;
use crate::term::Term;
use reqwest::Method;
use serde_json::Value;

pub(super) async fn run(
    backend: &Backend,
    wanted: &str,
    agent: Option<&str>,
    attached: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skill = find(backend, wanted).await?;
    let agent = agent.unwrap_or(DEFAULT_AGENT);
    let id = backend.agent_id(agent).await?;
    let path = format!("/api/agents/{id}/skills/{}", text(&skill, "id"));
    let method = if attached { Method::PUT } else { Method::DELETE };
    backend.api::<Value>(method, &path, None).await?;
    let name = text(&skill, "name");
    term.say(&if attached {
        format!("{agent} has `{name}` from its next run on")
    } else {
        format!("{agent} no longer has `{name}`")
    });
    Ok(Exit::Done)
}
