use crate::args::{AgentFields, DatabaseSwitch, PlanSwitch, Switch, Word};
use crate::client::Client;
use crate::commands::picked::{content_of, pick, text};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use http::Method;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) const REMOVED: &str = "/api/agents?deleted=true";

/// Risk classes; any other name in a policy is a tool.
const CLASSES: [&str; 4] = ["read", "write", "external", "destructive"];

pub(super) async fn add(
    client: &Client,
    name: Option<String>,
    from: Option<&Path>,
    fields: &AgentFields,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let mut body = begun(from)?;
    if let Some(name) = name {
        body.insert("name".to_owned(), json!(name));
    }
    if !body.get("name").is_some_and(Value::is_string) {
        bail!("the agent has no name; give one: steward agents add NAME");
    }
    set(client, fields, &mut body).await?;
    let policy = body.remove("policy");
    let made: Value = client.post("/api/agents", &Value::Object(body.clone())).await?;
    // A policy may be partial, which only a change accepts.
    let made = match policy {
        None => made,
        Some(policy) => {
            let changed = patched(client, text(&made, "id"), json!({"policy": policy})).await;
            if changed.is_err() {
                let path = format!("/api/agents/{}", text(&made, "id"));
                client.delete(&path).await?;
            }
            changed?
        }
    };
    let name = text(&made, "name");
    Ok(term.changed(&made, as_json, &format!("made `{name}`; ask it: steward ask --agent {name} \"…\"")))
}

pub(super) async fn edit(
    client: &Client,
    name: &str,
    rename: Option<String>,
    from: Option<&Path>,
    fields: &AgentFields,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let id = client.agent_named(Some(name)).await?.id;
    let mut body = begun(from)?;
    if let Some(rename) = rename {
        body.insert("name".to_owned(), json!(rename));
    }
    set(client, fields, &mut body).await?;
    if body.is_empty() {
        bail!("nothing was changed; say what to change, such as --instructions \"…\" or --tools read,list");
    }
    let agent = patched(client, &id.to_string(), Value::Object(body)).await?;
    Ok(term.changed(&agent, as_json, &format!("changed `{}`", text(&agent, "name"))))
}

pub(super) async fn remove(client: &Client, name: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let id = client.agent_named(Some(name)).await?.id;
    client.delete(&format!("/api/agents/{id}")).await?;
    let said = format!("removed `{name}`; its runs stay. Take it back with: steward agents restore {name}");
    Ok(term.changed(&json!({"id": id, "name": name}), as_json, &said))
}

pub(super) async fn restore(client: &Client, name: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(REMOVED).await?;
    let named = rows.iter().filter(|row| row["name"] == name).count();
    if named > 1 {
        bail!("{named} agents of the name `{name}` were removed; give the id of one: steward agents --removed");
    }
    let row = pick(rows, name, "removed agent", "steward agents --removed")?;
    let path = format!("/api/agents/{}/restore", text(&row, "id"));
    let agent: Value = client.act(&path).await?;
    Ok(term.changed(&agent, as_json, &format!("`{}` is back", text(&agent, "name"))))
}

async fn patched(client: &Client, id: &str, body: Value) -> anyhow::Result<Value> {
    let path = format!("/api/universal-agents/{id}");
    client.request(Method::PATCH, &path, Some(&body)).await
}

/// The object in a file, or an empty one.
fn begun(from: Option<&Path>) -> anyhow::Result<Map<String, Value>> {
    let Some(file) = from else {
        return Ok(Map::new());
    };
    let value: Value =
        serde_json::from_str(&content_of(file)?).with_context(|| format!("{} is no JSON", file.display()))?;
    match value {
        Value::Object(body) => Ok(body),
        _ => bail!("{} holds no JSON object", file.display()),
    }
}

async fn set(client: &Client, fields: &AgentFields, body: &mut Map<String, Value>) -> anyhow::Result<()> {
    let mut put = |field: &str, value: Value| body.insert(field.to_owned(), value);
    if let Some(instructions) = &fields.instructions {
        put("instructions", json!(instructions));
    }
    if let Some(file) = &fields.instructions_from {
        put("instructions", json!(content_of(file)?.trim()));
    }
    match &fields.tools[..] {
        [] => {}
        [all] if all == "all" => {
            put("tools", json!([]));
        }
        names => {
            put("tools", json!(names));
        }
    }
    match fields.prefers.as_deref() {
        None => {}
        Some("default") => {
            put("connection", Value::Null);
        }
        Some(name) => {
            let known = client.known_connection(Some(name)).await?;
            put("connection", json!(known.connection.id));
        }
    }
    if !fields.fallback.is_empty() {
        let mut chain = Vec::new();
        for name in fields.fallback.iter().filter(|name| *name != "none") {
            chain.push(client.known_connection(Some(name)).await?.connection.id);
        }
        put("routing", json!({"fallback_chain": chain}));
    }
    if let Some(preset) = fields.budget {
        put("budget", json!(preset.word()));
    }
    let mut tuning = Map::new();
    if let Some(temperature) = fields.temperature {
        tuning.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(most) = fields.max_tokens {
        tuning.insert("max_tokens".to_owned(), json!(most));
    }
    if !tuning.is_empty() {
        put("tuning", Value::Object(tuning));
    }
    if let Some(plan) = fields.plan {
        put("deep", json!({"enabled": switched(plan)}));
    }
    let own_data = own_data(fields);
    if !own_data.is_empty() {
        put("own_data", Value::Object(own_data));
    }
    let policy = policy(fields)?;
    if !policy.is_empty() {
        put("policy", Value::Object(policy));
    }
    Ok(())
}

fn own_data(fields: &AgentFields) -> Map<String, Value> {
    let mut own = Map::new();
    if let Some(memory) = fields.memory {
        own.insert("memory".to_owned(), switched(memory));
    }
    if let Some(database) = fields.own_database {
        let scope = match database {
            DatabaseSwitch::Off => "off",
            DatabaseSwitch::Agent => "agent",
            DatabaseSwitch::User => "user",
        };
        own.insert("database".to_owned(), json!(scope));
    }
    if let Some(documentation) = fields.documentation {
        own.insert("documentation".to_owned(), json!(documentation == Switch::On));
    }
    own
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

    use super::policy;
    use crate::args::AgentFields;
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
