use crate::client::Client;
use crate::commands::rows::{AGENT, Resource, content_of, object, text};
use crate::options::Word;
use crate::term::{Exit, Term};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Make an agent; what is not said is as usual.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward agents add reporter --instructions \"You write short reports.\" --tools read,list,write\n  steward agents add clerk --instructions-from clerk.md --prefers big --ask write --deny web_fetch\n  steward agents add --from agent.json"
)]
pub struct Add {
    /// Its name; not needed where the file of --from has one.
    #[arg(required_unless_present = "from")]
    name: Option<String>,
    /// A JSON object as in the API, to begin with; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    fields: AgentFields,
}

/// Change an agent: only what is said. Runs at work keep what they began with.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward agents edit reporter --rename writer\n  steward agents edit reporter --tools all --plan off\n  steward agents edit reporter --from change.json"
)]
pub struct Edit {
    /// Its name.
    name: String,
    /// Another name for it.
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    /// A JSON object of the fields to change, as in the API; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    fields: AgentFields,
}

/// Settings of an agent.
#[derive(Debug, Clone, Default, Args)]
pub struct AgentFields {
    /// Its standing instructions.
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// The same from a file; `-` reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "instructions")]
    instructions_from: Option<PathBuf>,
    /// Names of its tools, or `all`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,
    /// The connection it prefers, by name, or `default`.
    #[arg(long, value_name = "CONNECTION")]
    prefers: Option<String>,
    /// Connections that are tried after that, in order, or `none`.
    #[arg(long, value_name = "CONNECTIONS", value_delimiter = ',')]
    fallback: Vec<String>,
    /// The connection that makes its plans, by name, or `default`.
    #[arg(long, value_name = "CONNECTION")]
    planner: Option<String>,
    /// The connection that carries its requests out, by name, or `default`.
    #[arg(long, value_name = "CONNECTION")]
    executor: Option<String>,
    /// Where requests go by what they are about: `analytics=AGENT`, `documents=tools` (only tools for documents), `general=none` (nowhere else).
    #[arg(long, value_name = "HINT=WHERE", value_delimiter = ',')]
    redirect: Vec<String>,
    /// Let it do this unasked: read, write, external, destructive, or a tool's name.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    allow: Vec<String>,
    /// Have it ask first.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    ask: Vec<String>,
    /// Never let it.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    deny: Vec<String>,
    /// What a run of it may spend.
    #[arg(long, value_name = "PRESET")]
    budget: Option<BudgetPreset>,
    /// 0 is deterministic.
    #[arg(long, value_name = "0..2")]
    temperature: Option<f32>,
    /// Longest reply, tokens.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,
    /// Whether it remembers; with `default` that is a tool like any other.
    #[arg(long, value_name = "WHEN")]
    memory: Option<PlanSwitch>,
    /// Whether it has a private database.
    #[arg(long, value_name = "WHEN")]
    own_database: Option<Switch>,
    /// Whether it keeps a documentation of its tables.
    #[arg(long, value_name = "WHEN")]
    documentation: Option<Switch>,
    /// Whether all of its users share what it keeps: memory, notes, reminders and database. Else each has their own.
    #[arg(long, value_name = "WHEN")]
    shared: Option<Switch>,
    /// Whether documents that its users upload from now on are linked to it.
    #[arg(long, value_name = "WHEN")]
    link_uploads: Option<Switch>,
    /// Whether it plans while it works; `default` is the installation's setting.
    #[arg(long, value_name = "WHEN")]
    plan: Option<PlanSwitch>,
}

/// Budgets by name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BudgetPreset {
    /// Eight model calls.
    Query,
    /// Ten rounds, three levels deep.
    Agent,
    /// Five iterations.
    Executor,
    /// Six plan steps.
    Plan,
}

/// On, off, or the default.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PlanSwitch {
    /// It does.
    On,
    /// It does not.
    Off,
    /// Neither is said.
    Default,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// It does.
    On,
    /// It does not.
    Off,
}

/// Agents that were removed.
pub(super) const REMOVED: Resource =
    Resource { path: "/api/agents?deleted=true", what: "removed agent", list: "steward agents --removed" };

/// Risk classes; any other name in a policy is a tool.
const CLASSES: [&str; 4] = ["read", "write", "external", "destructive"];

pub(super) async fn add(client: &Client, wanted: Add, term: Term) -> anyhow::Result<Exit> {
    let mut body = begun(wanted.from.as_deref(), wanted.name)?;
    if !body.get("name").is_some_and(Value::is_string) {
        bail!("the agent has no name; give one: steward agents add NAME");
    }
    set(client, &wanted.fields, &mut body).await?;
    let policy = body.remove("policy");
    let mut made: Value = client.post("/api/agents", &Value::Object(body)).await?;
    // A policy may be partial, which only a change accepts.
    if let Some(policy) = policy {
        let changed = patched(client, text(&made, "id"), json!({"policy": policy})).await;
        if changed.is_err() {
            client.delete(&AGENT.path_of(&made)).await?;
        }
        made = changed?;
    }
    let name = text(&made, "name");
    Ok(term.changed(&made, &format!("made `{name}`; ask it: steward ask --agent {name} \"…\"")))
}

pub(super) async fn edit(client: &Client, wanted: Edit, term: Term) -> anyhow::Result<Exit> {
    let id = client.agent_named(Some(&wanted.name)).await?.id;
    let mut body = begun(wanted.from.as_deref(), wanted.rename)?;
    set(client, &wanted.fields, &mut body).await?;
    if body.is_empty() {
        bail!("nothing was changed; say what to change, such as --instructions \"…\" or --tools read,list");
    }
    let agent = patched(client, &id.to_string(), Value::Object(body)).await?;
    Ok(term.changed(&agent, &format!("changed `{}`", text(&agent, "name"))))
}

pub(super) async fn remove(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let id = client.agent_named(Some(name)).await?.id;
    client.delete(&format!("/api/agents/{id}")).await?;
    let said = format!("removed `{name}`; its runs stay. Take it back with: steward agents restore {name}");
    Ok(term.changed(&json!({"id": id, "name": name}), &said))
}

pub(super) async fn restore(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(REMOVED.path).await?;
    let named = rows.iter().filter(|row| row["name"] == name).count();
    if named > 1 {
        bail!("{named} agents of the name `{name}` were removed; give the id of one: steward agents --removed");
    }
    let row = REMOVED.pick(rows, name)?;
    let agent: Value = client.act(&format!("{}/restore", AGENT.path_of(&row))).await?;
    Ok(term.changed(&agent, &format!("`{}` is back", text(&agent, "name"))))
}

async fn patched(client: &Client, id: &str, body: Value) -> anyhow::Result<Value> {
    client.patch(&format!("/api/universal-agents/{id}"), &body).await
}

/// The object in a file, or an empty one, with the name if there is one.
fn begun(from: Option<&Path>, name: Option<String>) -> anyhow::Result<Map<String, Value>> {
    let mut body = Map::new();
    if let Some(file) = from {
        let shown = file.display();
        body = match serde_json::from_str(&content_of(file)?).with_context(|| format!("{shown} is no JSON"))? {
            Value::Object(body) => body,
            _ => bail!("{shown} holds no JSON object"),
        };
    }
    body.extend(object([("name", name.map(Value::from))]));
    Ok(body)
}

async fn set(client: &Client, fields: &AgentFields, body: &mut Map<String, Value>) -> anyhow::Result<()> {
    let instructions = match &fields.instructions_from {
        Some(file) => Some(content_of(file)?.trim().to_owned()),
        None => fields.instructions.clone(),
    };
    let tools = match &fields.tools[..] {
        [] => None,
        [all] if all == "all" => Some(json!([])),
        names => Some(json!(names)),
    };
    let connection = preferred(client, fields.prefers.as_deref()).await?;
    let mut chain = Vec::new();
    for name in fields.fallback.iter().filter(|name| *name != "none") {
        chain.push(client.known_connection(Some(name)).await?.connection.id);
    }
    let own_data = object([
        ("memory", fields.memory.map(switched)),
        ("database", fields.own_database.map(|switch| json!(switch == Switch::On))),
        ("documentation", fields.documentation.map(|switch| json!(switch == Switch::On))),
        ("shared", fields.shared.map(|switch| json!(switch == Switch::On))),
    ]);
    let tuning = object([
        ("temperature", fields.temperature.map(|temperature| json!(temperature))),
        ("max_tokens", fields.max_tokens.map(|most| json!(most))),
    ]);
    let routing = object([
        ("planner", preferred(client, fields.planner.as_deref()).await?),
        ("executor", preferred(client, fields.executor.as_deref()).await?),
        ("redirects", redirects(client, &fields.redirect).await?),
        ("fallback_chain", (!fields.fallback.is_empty()).then(|| json!(chain))),
    ]);
    let filled = |part: Map<String, Value>| (!part.is_empty()).then_some(Value::Object(part));
    body.extend(object([
        ("instructions", instructions.map(Value::from)),
        ("tools", tools),
        ("connection", connection),
        ("routing", filled(routing)),
        ("budget", fields.budget.map(|preset| json!(preset.word()))),
        ("tuning", filled(tuning)),
        ("deep", fields.plan.map(|plan| json!({"enabled": switched(plan)}))),
        ("own_data", filled(own_data)),
        ("auto_link_uploads", fields.link_uploads.map(|switch| json!(switch == Switch::On))),
        ("policy", filled(policy(fields)?)),
    ]));
    Ok(())
}

/// Null: the default.
async fn preferred(client: &Client, name: Option<&str>) -> anyhow::Result<Option<Value>> {
    Ok(match name {
        None => None,
        Some("default") => Some(Value::Null),
        Some(name) => Some(json!(client.known_connection(Some(name)).await?.connection.id)),
    })
}

/// Null: nowhere else.
async fn redirects(client: &Client, wanted: &[String]) -> anyhow::Result<Option<Value>> {
    let mut redirects = Map::new();
    for one in wanted {
        let Some((hint, to)) = one.split_once('=').filter(|(_, to)| !to.is_empty()) else {
            bail!("`{one}` says not where to; write it as analytics=AGENT, documents=tools or general=none");
        };
        let to = match to {
            "none" => Value::Null,
            "tools" => json!("tools"),
            name => json!({"agent": client.agent_named(Some(name)).await?.id}),
        };
        redirects.insert(hint.to_owned(), to);
    }
    Ok((!redirects.is_empty()).then_some(Value::Object(redirects)))
}

/// Null: the default.
fn switched(switch: PlanSwitch) -> Value {
    match switch {
        PlanSwitch::On => json!(true),
        PlanSwitch::Off => json!(false),
        PlanSwitch::Default => Value::Null,
    }
}

fn policy(fields: &AgentFields) -> anyhow::Result<Map<String, Value>> {
    let mut policy = Map::new();
    let mut tools = Map::new();
    for (names, decision) in [(&fields.allow, "allow"), (&fields.ask, "ask"), (&fields.deny, "deny")] {
        for name in names {
            let target = if CLASSES.contains(&name.as_str()) { &mut policy } else { &mut tools };
            if target.insert(name.clone(), json!(decision)).is_some() {
                bail!("`{name}` is named twice; choose one of --allow, --ask and --deny for it");
            }
        }
    }
    if !tools.is_empty() {
        policy.insert("tools".to_owned(), Value::Object(tools));
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{AgentFields, policy};
    use serde_json::{Value, json};

    #[test]
    fn classes_and_tools_are_told_apart() {
        let fields = AgentFields {
            allow: vec!["read".to_owned(), "notes_create".to_owned()],
            deny: vec!["write".to_owned()],
            ..AgentFields::default()
        };
        assert_eq!(
            Value::Object(policy(&fields).unwrap()),
            json!({"read": "allow", "write": "deny", "tools": {"notes_create": "allow"}})
        );
        let twice =
            AgentFields { allow: vec!["write".to_owned()], ask: vec!["write".to_owned()], ..AgentFields::default() };
        assert!(policy(&twice).unwrap_err().to_string().contains("named twice"));
    }
}
