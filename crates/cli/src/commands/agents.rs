mod change;
mod own_data;

use crate::args::{self, AgentAction};
use crate::client::Client;
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;
use steward_core::agent::Agent;
use steward_core::policy::Decision;
use steward_core::ports::KnownConnection;

pub async fn run(client: &Client, args: args::Agents, term: Term) -> anyhow::Result<Exit> {
    let json = args.json;
    match args.action {
        None if args.removed => removed(client, json, term).await,
        None => list(client, json, term).await,
        Some(AgentAction::Show { name }) => show(client, name.as_deref(), json, term).await,
        Some(AgentAction::Add { name, from, fields }) => {
            change::add(client, name, from.as_deref(), &fields, json, term).await
        }
        Some(AgentAction::Edit { name, rename, from, fields }) => {
            let from = from.as_deref();
            change::edit(client, &name, rename, from, &fields, json, term).await
        }
        Some(AgentAction::Remove { name }) => change::remove(client, &name, json, term).await,
        Some(AgentAction::Memory { action }) => own_data::memory(client, &action, json, term).await,
        Some(AgentAction::Database { action }) => own_data::database(client, &action, json, term).await,
        Some(AgentAction::ImportMetatron { file, agent, yes }) => {
            own_data::import(client, &file, &agent, (yes, json), term).await
        }
        Some(AgentAction::Restore { name }) => change::restore(client, &name, json, term).await,
    }
}

async fn removed(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(change::REMOVED).await?;
    if term.listed(&rows, as_json, "no agent was removed") {
        return Ok(Exit::Done);
    }
    for row in &rows {
        println!("{:<20} {}", text(row, "name"), term.dim(text(row, "id")));
    }
    Ok(Exit::Done)
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let agents = client.agents().await?;
    if as_json {
        println!("{}", json!(agents));
        return Ok(Exit::Done);
    }
    for agent in &agents {
        let first = agent.instructions.lines().next().unwrap_or_default();
        let first: String = first.chars().take(60).collect();
        println!("{:<20} {:<12} {}", agent.name, tools(agent), term.dim(&first));
    }
    Ok(Exit::Done)
}

fn tools(agent: &Agent) -> String {
    match agent.tools.len() {
        0 => "all tools".to_owned(),
        1 => "1 tool".to_owned(),
        many => format!("{many} tools"),
    }
}

async fn show(client: &Client, name: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let agent = client.agent_named(name).await?;
    if as_json {
        println!("{}", json!(agent));
        return Ok(Exit::Done);
    }
    let known = client.connections().await?;
    println!("{}  {}", term.bold(&agent.name), term.dim(&agent.id.to_string()));
    println!("model        {}", model(&agent, &known));
    let named = agent.tools.join(", ");
    println!("tools        {}", if named.is_empty() { "all" } else { &named });
    println!("budget       {}", word(agent.budget));
    let policy = &agent.policy;
    for (what, decision) in [
        ("looks", policy.read),
        ("changes", policy.write),
        ("sends out", policy.external),
        ("can't undo", policy.destructive),
    ] {
        println!("{what:<12} {}", says(decision));
    }
    for (tool, decision) in &policy.tools {
        println!("{tool:<12} {}", says(*decision));
    }
    println!("\n{}", agent.instructions);
    Ok(Exit::Done)
}

fn model(agent: &Agent, known: &[KnownConnection]) -> String {
    let own = known.iter().find(|one| Some(one.connection.id) == agent.connection);
    match (own, agent.connection) {
        (Some(one), _) => format!("{} ({})", one.connection.name, one.connection.model),
        (None, Some(id)) => format!("connection {id}, which is not there any more"),
        (None, None) => known.iter().find(|one| one.default).map_or_else(
            || "the default".to_owned(),
            |one| format!("the default, now {} ({})", one.connection.name, one.connection.model),
        ),
    }
}

fn word(budget: steward_core::budget::Preset) -> String {
    json!(budget).as_str().unwrap_or_default().to_owned()
}

fn says(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Ask => "asks first",
        Decision::Deny => "never",
    }
}
