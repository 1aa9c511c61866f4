//! `steward connections`: model endpoints.

use super::connection_add::{Adding, add, key};
use crate::args::{self, ConnectionAction};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;

/// Runs the command; `chosen`: the connection of `--connection`.
pub async fn run(client: &Client, args: args::Connections, chosen: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    match args.action {
        None => list(client, args.json, term).await,
        Some(ConnectionAction::Add { name, url, model, auth, window }) => {
            let wanted = Adding { name, url, model, auth, window };
            add(client, wanted, args.json, term).await
        }
        Some(ConnectionAction::Key { name, from, access_key_id, session_token }) => {
            let access_key = (access_key_id, session_token);
            key(client, &name, from.as_deref(), access_key, term).await
        }
        Some(ConnectionAction::Remove { name }) => {
            let known = client.known_connection(Some(&name)).await?;
            client.remove_connection(known.connection.id).await?;
            term.say(&format!("removed `{name}`"));
            Ok(Exit::Done)
        }
        Some(ConnectionAction::Test { name }) => test(client, name.as_deref().or(chosen), args.json, term).await,
        Some(ConnectionAction::Default { name }) => {
            let known = client.known_connection(Some(&name)).await?;
            client.default_connection(known.connection.id).await?;
            term.say(&format!("`{name}` is the default now"));
            Ok(Exit::Done)
        }
    }
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let all = client.connections().await?;
    if as_json {
        let rows: Vec<_> = all
            .iter()
            .map(|known| json!({"connection": known.connection, "from": known.from, "default": known.default}))
            .collect();
        println!("{}", json!(rows));
        return Ok(Exit::Done);
    }
    for known in &all {
        let one = &known.connection;
        let mark = if known.default { "*" } else { " " };
        let place = if one.base_url.is_empty() { "in a child process" } else { &one.base_url };
        println!("{mark} {:<16} {:<28} {place}  {}", one.name, one.model, term.dim(&known.from));
    }
    term.say(
        &term.dim(
            "* used where nothing else is said; --connection NAME or `steward connections default NAME` changes it",
        ),
    );
    Ok(Exit::Done)
}

async fn test(client: &Client, name: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let connection = client.known_connection(name).await?.connection;
    term.status(&format!("asking {}…", connection.name));
    let outcome = client.test_connection(connection.id).await;
    term.clear();
    let (exit, line) = match outcome? {
        Ok(test) => (
            Exit::Done,
            json!({"connection": connection.name, "ok": true, "answer": test.text, "ms": test.total_ms, "first_ms": test.first_ms}),
        ),
        Err(failed) => (
            Exit::Failed,
            json!({"connection": connection.name, "ok": false, "error": failed.error, "hint": failed.hint}),
        ),
    };
    if as_json {
        println!("{line}");
    } else if exit == Exit::Done {
        println!("{} answered in {} ms: {}", connection.name, line["ms"], line["answer"].as_str().unwrap_or_default());
    } else {
        term.say(&format!(
            "{} {}\n{}",
            term.red("failed:"),
            line["error"].as_str().unwrap_or_default(),
            line["hint"].as_str().unwrap_or_default()
        ));
    }
    Ok(exit)
}
