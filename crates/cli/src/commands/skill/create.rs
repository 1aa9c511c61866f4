//! `steward skill create`.

use crate::client::Client;
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;

pub(super) async fn run(
    client: &Client,
    file: &Path,
    upsert: bool,
    agent: Option<&str>,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skills = read(file)?;
    let agent = match agent {
        Some(name) => Some((name, client.agent_named(Some(name)).await?.id)),
        None => None,
    };
    let mut made = Vec::new();
    for skill in &skills {
        let name = text(skill, "name");
        let kept = if let Some((_, id)) = agent {
            let path = format!("/api/universal-agents/{id}/skills:create_and_attach");
            let mut both: Value = client.post(&path, skill).await?;
            both["skill"].take()
        } else {
            let path = format!("/api/skills?upsert={upsert}");
            client.post(&path, skill).await?
        };
        if !as_json {
            let whose = agent.map_or_else(String::new, |(agent, _)| format!(", and {agent} has it"));
            term.say(&format!("`{name}` is kept, version {}{whose}", kept["version"]));
        }
        made.push(kept);
    }
    if as_json {
        println!("{}", json!(made));
    }
    Ok(Exit::Done)
}

/// One skill or several.
fn read(file: &Path) -> anyhow::Result<Vec<Value>> {
    let shown = file.display();
    let content = if file == Path::new("-") {
        let mut content = String::new();
        std::io::stdin().read_to_string(&mut content).context("standard input can't be read")?;
        content
    } else {
        std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?
    };
    let value: Value = serde_json::from_str(&content).with_context(|| format!("{shown} is no JSON"))?;
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    let named = |one: &Value| one["name"].as_str().is_some_and(|name| !name.is_empty());
    if all.is_empty() || !all.iter().all(named) {
        bail!("{shown} holds no skill; write an object with name, description, type and config, or a list of them");
    }
    Ok(all)
}
