//! `steward skill show` and `steward skill rollback`.

use super::find;
use crate::client::Client;
use crate::commands::picked::{first_line, text, time};
use crate::exit::Exit;
use crate::term::Term;
use serde_json::{Value, json};
use steward_core::agent::Agent;

pub(super) async fn run(
    client: &Client,
    wanted: &str,
    versions: bool,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skill = find(client, wanted).await?;
    let path = format!("/api/skills/{}", text(&skill, "id"));
    if versions {
        let all = client.rows(&format!("{path}/versions")).await?;
        return Ok(list(&all, as_json, term));
    }
    let skill: Value = client.get(&path).await?;
    if as_json {
        println!("{skill}");
        return Ok(Exit::Done);
    }
    let agents = client.agents().await?;
    tell(&skill, &agents, term);
    Ok(Exit::Done)
}

fn list(versions: &[Value], as_json: bool, term: Term) -> Exit {
    if as_json {
        println!("{}", json!(versions));
        return Exit::Done;
    }
    for one in versions {
        println!(
            "{:>4}  {}  {:<24} {}",
            one["version"],
            time(one, "at"),
            text(one, "by"),
            term.dim(&first_line(text(one, "description"), 60))
        );
    }
    Exit::Done
}

fn tell(skill: &Value, agents: &[Agent], term: Term) {
    println!("{}  {}", term.bold(text(skill, "name")), term.dim(text(skill, "id")));
    println!("{}\n", text(skill, "description"));
    println!("type         {}, version {}", text(skill, "type"), skill["version"]);
    println!("risk         {}; after a crash in mid-call: {}", text(skill, "risk"), text(skill, "effect"));
    if skill["enabled"] == false {
        println!("state        switched off");
    }
    if let Some(package) = skill["package"].as_str() {
        println!("package      {package}");
    }
    if skill["credential"].is_object() {
        let wanted = &skill["credential"];
        let named = wanted["name"].as_str().or(wanted["kind"].as_str());
        println!("credential   {}", named.unwrap_or("any that suits"));
    }
    if let Some(back) = skill["compensation"]["skill"].as_str() {
        println!("taken back   by {back}");
    }
    let has = |agent: &&Agent| {
        let id = agent.id.to_string();
        let ids = skill["agents"].as_array().into_iter().flatten();
        ids.filter_map(Value::as_str).any(|one| one == id)
    };
    let names: Vec<&str> = agents.iter().filter(has).map(|agent| agent.name.as_str()).collect();
    let names = if names.is_empty() {
        format!("nobody; give it with: steward skill attach {}", skill["name"].as_str().unwrap_or("NAME"))
    } else {
        names.join(", ")
    };
    println!("agents       {names}");
    for (title, field) in [("inputs", "parameters"), ("config", "config")] {
        println!("\n{}\n{:#}", term.dim(title), skill[field]);
    }
}

/// Makes an earlier version the next one.
pub(super) async fn rollback(
    client: &Client,
    wanted: &str,
    version: u32,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skill = find(client, wanted).await?;
    let path = format!("/api/skills/{}/rollback", text(&skill, "id"));
    let body = json!({"version": version});
    let now: Value = client.post(&path, &body).await?;
    if as_json {
        println!("{now}");
    } else {
        term.say(&format!("`{}` is as in version {version} again, now version {}", text(&now, "name"), now["version"]));
    }
    Ok(Exit::Done)
}
