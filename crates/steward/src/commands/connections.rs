//! `steward connections`: model endpoints.

use super::connection_add::{Adding, add, key};
use crate::backend::Backend;
use crate::cli::{self, ConnectionAction};
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use serde_json::json;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Connections, term: Term) -> anyhow::Result<Exit> {
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let exit = act(&backend, &settings, args, term).await;
    backend.close().await;
    exit
}

async fn act(backend: &Backend, settings: &Settings, args: cli::Connections, term: Term) -> anyhow::Result<Exit> {
    match args.action {
        None => list(backend, args.json, term).await,
        Some(ConnectionAction::Add { name, url, model, auth, window }) => {
            let wanted = Adding { name, url, model, auth, window };
            add(backend, wanted, args.json, term).await
        }
        Some(ConnectionAction::Key { name, from, access_key_id, session_token }) => {
            let access_key = (access_key_id, session_token);
            key(backend, &name, from.as_deref(), access_key, term).await
        }
        Some(ConnectionAction::Remove { name }) => {
            let known = backend.known_connection(Some(&name)).await?;
            backend.remove_connection(known.connection.id).await?;
            term.say(&format!("removed `{name}`"));
            Ok(Exit::Done)
        }
        Some(ConnectionAction::Test { name }) => {
            let name = name.or(settings.connection.clone());
            test(backend, name.as_deref(), args.json, term).await
        }
        Some(ConnectionAction::Default { name }) => {
            let known = backend.known_connection(Some(&name)).await?;
            backend.default_connection(known.connection.id).await?;
            term.say(&format!("`{name}` is the default now"));
            Ok(Exit::Done)
        }
    }
}

async fn list(backend: &Backend, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let all = backend.connections().await?;
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

async fn test(backend: &Backend, name: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let connection = backend.known_connection(name).await?.connection;
    term.status(&format!("asking {}…", connection.name));
    let outcome = backend.test_connection(connection.id).await;
    term.clear();
    let (exit, line) = match outcome? {
        Ok(test) => (
            Exit::Done,
            json!({"connection": connection.name, "ok": true, "answer": test.text, "ms": test.total_ms, "first_ms": test.first_ms}),
        ),
        Err(failed) => (
            Exit::Failed,
            json!({"connection": connection.name, "ok": false, "error": failed.error, "hint": failed.hint, "detail": failed.detail}),
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
