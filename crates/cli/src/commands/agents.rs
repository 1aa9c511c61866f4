mod change;
mod own_data;

use crate::client::{Client, KnownConnection};
use crate::commands::rows::{cell, first_line, text};
use crate::options::Actions;
use crate::term::{Exit, Term, print_text};
use clap::{Args, Subcommand};
use serde_json::json;
use steward_core::ConnectionId;
use steward_core::agent::Agent;
use steward_core::policy::Decision;
use steward_core::routing::Redirect;

/// List agents; show, add, edit, remove or restore one.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward agents\n  steward agents add reporter --instructions \"You write short reports.\" --tools read,list,write\n  steward agents edit reporter --allow write --prefers big\n  steward agents remove reporter\n  steward ask --agent reporter \"…\""
)]
pub struct Agents {
    /// Those that were removed instead.
    #[arg(long)]
    removed: bool,
    #[command(flatten)]
    actions: Actions<AgentAction>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum AgentAction {
    /// Show an agent's settings.
    Show {
        /// Its name [default: steward].
        name: Option<String>,
    },
    Add(change::Add),
    Edit(change::Edit),
    /// Remove an agent; its runs stay, and `restore` takes it back.
    Remove {
        /// Its name.
        name: String,
    },
    /// What an agent remembers for you, or for all of its users where they share that.
    #[command(
        after_help = "Examples:\n  steward agents memory show clerk\n  steward agents memory append clerk \"The fiscal year starts in April.\"\n  steward agents memory set clerk --from memory.md"
    )]
    Memory {
        #[command(subcommand)]
        action: own_data::MemoryAction,
    },
    /// The private database of an agent: your own, or the one that all of its users share.
    #[command(
        after_help = "Examples:\n  steward agents database tables clerk\n  steward agents database query clerk \"SELECT * FROM ai_expenses\""
    )]
    Database {
        #[command(subcommand)]
        action: own_data::DatabaseAction,
    },
    ImportMetatron(own_data::Import),
    /// Take a removal back.
    Restore {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
}

pub async fn run(client: &Client, args: Agents, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.actions.json);
    match args.actions.action {
        None if args.removed => removed(client, term).await,
        None => list(client, term).await,
        Some(AgentAction::Show { name }) => show(client, name.as_deref(), term).await,
        Some(AgentAction::Add(add)) => change::add(client, add, term).await,
        Some(AgentAction::Edit(edit)) => change::edit(client, edit, term).await,
        Some(AgentAction::Remove { name }) => change::remove(client, &name, term).await,
        Some(AgentAction::Memory { action }) => own_data::memory(client, &action, term).await,
        Some(AgentAction::Database { action }) => own_data::database(client, &action, term).await,
        Some(AgentAction::ImportMetatron(import)) => own_data::import(client, &import, term).await,
        Some(AgentAction::Restore { name }) => change::restore(client, &name, term).await,
    }
}

async fn removed(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(change::REMOVED.path).await?;
    Ok(term.listed(&rows, "no agent was removed", |row| {
        println!("{:<20} {}", text(row, "name"), term.dim(text(row, "id")));
    }))
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let agents = client.agents().await?;
    Ok(term.shown(&agents, || {
        for agent in &agents {
            let first = first_line(&agent.instructions, 60);
            println!("{:<20} {:<12} {}", agent.name, tools(agent), term.dim(&first));
        }
    }))
}

fn tools(agent: &Agent) -> String {
    match agent.tools.len() {
        0 => "all tools".to_owned(),
        1 => "1 tool".to_owned(),
        many => format!("{many} tools"),
    }
}

async fn show(client: &Client, name: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let agent = client.agent_named(name).await?;
    let known = if term.json { Vec::new() } else { client.connections().await? };
    Ok(term.shown(&agent, || tell(&agent, &known, term)))
}

fn tell(agent: &Agent, known: &[KnownConnection], term: Term) {
    println!("{}  {}", term.bold(&agent.name), term.dim(&agent.id.to_string()));
    println!("model        {}", model(agent, known));
    for (role, id) in [("planner", agent.routing.planner), ("executor", agent.routing.executor)] {
        if let Some(id) = id {
            println!("{role:<12} {}", connection(id, known));
        }
    }
    for (hint, to) in &agent.routing.redirects {
        let to = match to {
            Redirect::Tools => "only tools for them".to_owned(),
            Redirect::Agent(id) => format!("agent {id}"),
        };
        println!("{:<12} {to}", hint.name());
    }
    if agent.auto_link_uploads {
        println!("uploads      linked to it");
    }
    let named = agent.tools.join(", ");
    println!("tools        {}", if named.is_empty() { "all" } else { &named });
    println!("budget       {}", cell(&json!(agent.budget)));
    let policy = &agent.policy;
    let classes = [
        ("looks", policy.read),
        ("changes", policy.write),
        ("sends out", policy.external),
        ("can't undo", policy.destructive),
    ];
    let tools = policy.tools.iter().map(|(tool, decision)| (tool.as_str(), *decision));
    for (what, decision) in classes.into_iter().chain(tools) {
        println!("{what:<12} {}", says(decision));
    }
    println!();
    print_text(&agent.instructions);
}

fn model(agent: &Agent, known: &[KnownConnection]) -> String {
    match agent.connection {
        Some(id) => connection(id, known),
        None => known.iter().find(|one| one.default).map_or_else(
            || "the default".to_owned(),
            |one| format!("the default, now {} ({})", one.connection.name, one.connection.model),
        ),
    }
}

fn connection(id: ConnectionId, known: &[KnownConnection]) -> String {
    known.iter().find(|one| one.connection.id == id).map_or_else(
        || format!("connection {id}, which is not there any more"),
        |one| format!("{} ({})", one.connection.name, one.connection.model),
    )
}

fn says(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Ask => "asks first",
        Decision::Deny => "never",
    }
}
