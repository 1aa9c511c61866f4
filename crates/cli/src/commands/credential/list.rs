//! What is told of credentials.

use crate::client::Client;
use crate::commands::picked::{joined, text, time};
use crate::exit::Exit;
use crate::term::Term;
use serde_json::{Value, json};
use steward_core::credential::CredentialKind;

pub(super) async fn all(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/credentials").await?;
    if as_json {
        println!("{}", json!(rows));
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        term.say("There are no credentials. Keep one with: steward credential add NAME --kind token");
    }
    for one in &rows {
        let used = time(one, "used_at");
        let used = if used.is_empty() { "never used".to_owned() } else { format!("used {used}") };
        println!("{:<24} {:<12} {}", text(one, "name"), text(one, "kind"), term.dim(&used));
    }
    Ok(Exit::Done)
}

/// Kinds and their fields.
pub(super) fn kinds(as_json: bool) -> Exit {
    if as_json {
        let rows: Vec<Value> = CredentialKind::ALL
            .iter()
            .map(|kind| {
                let fields = kind.fields().iter();
                let fields: Vec<_> = fields
                    .map(|field| json!({"name": field.name, "secret": field.secret, "required": field.required}))
                    .collect();
                json!({"kind": kind.as_str(), "fields": fields})
            })
            .collect();
        println!("{}", json!(rows));
        return Exit::Done;
    }
    for kind in CredentialKind::ALL {
        let fields: Vec<String> = kind
            .fields()
            .iter()
            .map(|field| {
                let secret = if field.secret { " (secret)" } else { "" };
                if field.required { format!("{}{secret}", field.name) } else { format!("[{}{secret}]", field.name) }
            })
            .collect();
        println!("{:<12} {}", kind.as_str(), fields.join(", "));
    }
    Exit::Done
}

pub(super) fn show(one: &Value, as_json: bool, term: Term) -> Exit {
    if as_json {
        println!("{one}");
        return Exit::Done;
    }
    println!("{}  {}", term.bold(text(one, "name")), term.dim(text(one, "id")));
    if !text(one, "description").is_empty() {
        println!("{}", text(one, "description"));
    }
    println!("kind         {}", text(one, "kind"));
    for (field, value) in one["shown"].as_object().into_iter().flatten() {
        println!("{field:<12} {}", value.as_str().unwrap_or_default());
    }
    for field in one["secret"].as_array().into_iter().flatten() {
        println!("{:<12} {}", field.as_str().unwrap_or_default(), term.dim("secret"));
    }
    let roles = joined(&one["roles"]);
    println!(
        "used by      agents that name it{}{}",
        if roles.is_empty() { String::new() } else { format!(", runs of the roles {roles}") },
        if one["discoverable"] == true { ", skills that look for its kind" } else { "" }
    );
    for (title, field) in
        [("made", "created_at"), ("changed", "changed_at"), ("last used", "used_at"), ("ends", "expires_at")]
    {
        let at = time(one, field);
        if !at.is_empty() {
            println!("{title:<12} {at}");
        }
    }
    Exit::Done
}

pub(super) async fn uses(client: &Client, one: &Value, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = format!("/api/credentials/{}/uses", text(one, "id"));
    let rows = client.rows(&path).await?;
    if as_json {
        println!("{}", json!(rows));
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        term.say(&format!("`{}` was never used.", text(one, "name")));
    }
    for used in &rows {
        let agent = used["agent_name"].as_str().unwrap_or("a person's test");
        let run = used["run"].as_str().unwrap_or("no run");
        println!("{}  {:<24} {:<16} {}", time(used, "at"), text(used, "tool"), agent, term.dim(run));
    }
    Ok(Exit::Done)
}
