//! `steward connections`: model endpoints.

use crate::cli::{self, ConnectionAction};
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::{Context, bail};
use futures::StreamExt;
use serde_json::json;
use std::time::Instant;
use steward_core::ConnectionId;
use steward_core::message::Message;
use steward_core::model::{Auth, Capabilities, Connection, ModelChunk, ModelRequest, Provider};
use steward_core::ports::{Connections as _, Models as _, Settings as _};

/// Name of the setting that holds the default connection.
pub const DEFAULT_SETTING: &str = "connection.default";

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Connections, term: Term) -> anyhow::Result<Exit> {
    let app = App::open(&settings, Options::default()).await?;
    let exit = match args.action {
        None => list(&app, args.json, term).await,
        Some(ConnectionAction::Add {
            name,
            url,
            model,
            key_env,
            window,
        }) => add(&app, name, url, model, key_env, window, term).await,
        Some(ConnectionAction::Remove { name }) => remove(&app, &name, term).await,
        Some(ConnectionAction::Test { name }) => {
            test(&app, name.or(settings.connection.clone()), args.json, term).await
        }
        Some(ConnectionAction::Default { name }) => {
            app.connection_named(Some(&name))?;
            app.store
                .set_setting(app.tenant, DEFAULT_SETTING, &json!(name))
                .await?;
            term.say(&format!("`{name}` is the default now"));
            Ok(Exit::Done)
        }
    };
    app.close().await;
    exit
}

async fn list(app: &App, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let default = app
        .models
        .select(None)
        .await
        .ok()
        .map(|connection| connection.id);
    if as_json {
        let rows: Vec<_> = app
            .connections
            .iter()
            .map(|known| json!({"connection": known.connection, "from": known.from, "default": Some(known.connection.id) == default}))
            .collect();
        println!("{}", json!(rows));
        return Ok(Exit::Done);
    }
    for known in &app.connections {
        let one = &known.connection;
        let mark = if Some(one.id) == default { "*" } else { " " };
        let place = if one.base_url.is_empty() {
            "in a child process"
        } else {
            &one.base_url
        };
        println!(
            "{mark} {:<16} {:<28} {place}  {}",
            one.name,
            one.model,
            term.dim(&known.from)
        );
    }
    term.say(&term.dim("* used where nothing else is said; --connection NAME or `steward connections default NAME` changes it"));
    Ok(Exit::Done)
}

async fn add(
    app: &App,
    name: String,
    url: String,
    model: String,
    key_env: Option<String>,
    window: u32,
    term: Term,
) -> anyhow::Result<Exit> {
    let parsed = url::Url::parse(&url).with_context(|| format!("`{url}` is not a URL"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        bail!("`{url}`: only http and https can be used");
    }
    let before = app.store.connections(app.tenant).await?;
    let id = before
        .iter()
        .find(|one| one.name == name)
        .map_or_else(|| ConnectionId(app.ids.next()), |one| one.id);
    let connection = Connection {
        id,
        name,
        provider: Provider::Compatible,
        base_url: url.trim_end_matches('/').to_owned(),
        model,
        auth: key_env.map_or(Auth::None, |variable| Auth::BearerEnv { variable }),
        capabilities: Capabilities {
            window,
            ..Capabilities::default()
        },
    };
    app.store.save_connection(app.tenant, &connection).await?;
    term.say(&format!(
        "saved `{0}`; try it: steward connections test {0}",
        connection.name
    ));
    Ok(Exit::Done)
}

async fn remove(app: &App, name: &str, term: Term) -> anyhow::Result<Exit> {
    let saved = app.store.connections(app.tenant).await?;
    let Some(one) = saved.iter().find(|one| one.name == name) else {
        bail!(
            "no saved connection `{name}`; found ones come from the environment and can't be removed here"
        );
    };
    app.store.remove_connection(app.tenant, one.id).await?;
    term.say(&format!("removed `{name}`"));
    Ok(Exit::Done)
}

async fn test(app: &App, name: Option<String>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let id = app.connection_named(name.as_deref())?;
    let connection = app.models.select(id).await?;
    term.status(&format!("asking {}…", connection.name));
    let request = ModelRequest {
        messages: vec![Message::user("Say hello in one word.")],
        tools: Vec::new(),
        schema: None,
        temperature: 0.0,
        max_tokens: 64,
        stop: Vec::new(),
        seed: Some(1),
        timeout_ms: 60_000,
    };
    let begun = Instant::now();
    let outcome = collect(app, connection.id, request).await;
    term.clear();
    let ms = begun.elapsed().as_millis();
    let (exit, line) = match outcome {
        Ok(text) => (
            Exit::Done,
            json!({"connection": connection.name, "ok": true, "answer": text.trim(), "ms": ms}),
        ),
        Err(error) => (
            Exit::Failed,
            json!({"connection": connection.name, "ok": false, "error": error.message, "hint": error.hint, "detail": error.detail, "ms": ms}),
        ),
    };
    if as_json {
        println!("{line}");
    } else if exit == Exit::Done {
        println!(
            "{} answered in {ms} ms: {}",
            connection.name,
            line["answer"].as_str().unwrap_or_default()
        );
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

async fn collect(
    app: &App,
    id: ConnectionId,
    request: ModelRequest,
) -> Result<String, steward_core::model::ModelError> {
    let mut chunks = app.models.stream(id, request).await?;
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            ModelChunk::Text(piece) | ModelChunk::Reasoning(piece) => text.push_str(&piece),
            _ => {}
        }
    }
    Ok(text)
}
