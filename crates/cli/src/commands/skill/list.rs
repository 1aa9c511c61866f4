//! `steward skill list`.

use crate::args::SkillFilter;
use crate::client::{Client, encoded};
use crate::commands::picked::{first_line, text};
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;

pub(super) async fn run(client: &Client, filter: &SkillFilter, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let agent = match &filter.agent {
        Some(name) => Some(client.agent_named(Some(name)).await?.id.to_string()),
        None => None,
    };
    let wanted = [("kind", &filter.kind), ("text", &filter.search), ("agent", &agent), ("package", &filter.package)];
    let query: Vec<String> =
        wanted.iter().filter_map(|(name, value)| Some(format!("{name}={}", encoded(value.as_ref()?)))).collect();
    let path = if query.is_empty() { "/api/skills".to_owned() } else { format!("/api/skills?{}", query.join("&")) };
    let skills = client.rows(&path).await?;
    if as_json {
        println!("{}", json!(skills));
        return Ok(Exit::Done);
    }
    if skills.is_empty() && query.is_empty() {
        term.say("There are no skills. Make one with: steward skill create FILE\nor take a package in: steward skill import --ready infra-agent");
    } else if skills.is_empty() {
        term.say("No skill is like that. All: steward skill list");
    }
    for skill in &skills {
        let state = if skill["enabled"] == false { "  switched off" } else { "" };
        println!(
            "{:<24} {:<12} {:<12} {}{state}",
            text(skill, "name"),
            text(skill, "type"),
            text(skill, "risk"),
            term.dim(&first_line(text(skill, "description"), 70)),
        );
    }
    Ok(Exit::Done)
}
