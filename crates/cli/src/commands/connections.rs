use super::connection_auth::{AuthArgs, given, has_own_header, secret, with_secret};
use super::model::exam;
use super::rows::{CONNECTION, cell, text};
use crate::client::{Client, KnownConnection};
use crate::term::{Exit, Term, print_json};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use steward_core::model::Connection;
use steward_core::ports::Recognised;

/// Model endpoints that were found or saved.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward connections\n  steward connections add big http://host:8000/v1 --model qwen3-32b --key\n  steward connections test big"
)]
pub enum ConnectionAction {
    Add(Add),
    Key(Key),
    /// Remove a saved one.
    Remove {
        /// Its name.
        name: String,
    },
    /// Ask one for a word and say how it went.
    Test {
        /// Its name; none tests the default.
        name: Option<String>,
    },
    /// Use this one where nothing else is said.
    Default {
        /// Its name.
        name: String,
    },
}

/// Save an endpoint. What answers there is recognised and asked for a word, as in the studio.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "A key never stands in the command: other programs can see it. --key asks for it without echo, --key - reads it from standard input; it is sealed in the vault.\n\nExamples:\n  steward connections add big http://host:8000/v1 --model qwen3-32b\n  steward connections add claude https://api.anthropic.com/v1 --model claude-sonnet-4-5 --key --exam\n  steward connections add big http://host:8000/v1 --key - < key.txt\n  steward connections add bedrock https://bedrock-runtime.eu-central-1.amazonaws.com --model eu.amazon.nova-pro-v1:0 --region eu-central-1 --access-key-id AKIA… --key"
)]
pub struct Add {
    /// Its name.
    name: String,
    /// Any address of the server.
    url: String,
    /// Model name there; found out where the server lists only one.
    #[arg(long)]
    model: Option<String>,
    #[command(flatten)]
    auth: AuthArgs,
    /// Context window, tokens; an exam finds it out.
    #[arg(long)]
    window: Option<u32>,
    /// How its model calls tools; an exam finds it out.
    #[arg(long, value_name = "FORM", value_parser = ["native", "guided_json", "react", "markers"])]
    strategy: Option<String>,
    /// Examine its model, whatever that costs; where it costs nothing it is examined anyway.
    #[arg(long)]
    exam: bool,
}

/// Type in a new key for a saved one; it acts at the next call, without a restart.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  steward connections key big\n  steward connections key big - < key.txt")]
pub struct Key {
    /// Its name.
    name: String,
    /// `-` reads the key from standard input.
    #[arg(value_name = "-")]
    from: Option<String>,
    /// Id of the access key, where requests are signed for Amazon.
    #[arg(long, value_name = "ID")]
    access_key_id: Option<String>,
    /// Ask for a session token, too; on standard input it is the second line.
    #[arg(long, requires = "access_key_id")]
    session_token: bool,
}

/// `chosen` is the value of `--connection`.
pub async fn run(
    client: &Client,
    action: Option<ConnectionAction>,
    chosen: Option<&str>,
    term: Term,
) -> anyhow::Result<Exit> {
    match action {
        None => list(client, term).await,
        Some(ConnectionAction::Add(wanted)) => add(client, wanted, term).await,
        Some(ConnectionAction::Key(wanted)) => key(client, &wanted, term).await,
        Some(ConnectionAction::Remove { name }) => {
            let id = client.known_connection(Some(&name)).await?.connection.id;
            client.delete(&format!("/api/connections/{id}")).await?;
            Ok(term.done(&format!("removed `{name}`")))
        }
        Some(ConnectionAction::Test { name }) => test(client, name.as_deref().or(chosen), term).await,
        Some(ConnectionAction::Default { name }) => {
            let id = client.known_connection(Some(&name)).await?.connection.id;
            client.act::<()>(&format!("/api/connections/{id}/default")).await?;
            Ok(term.done(&format!("`{name}` is the default now")))
        }
    }
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let all = client.connections().await?;
    let row =
        |known: &KnownConnection| json!({"connection": known.connection, "from": known.from, "default": known.default});
    Ok(term.shown(&all.iter().map(row).collect::<Vec<_>>(), || {
        for known in &all {
            let one = &known.connection;
            let mark = if known.default { "*" } else { " " };
            let place = if one.base_url.is_empty() { "in a child process" } else { &one.base_url };
            println!("{mark} {:<16} {:<28} {place}  {}", one.name, one.model, term.dim(&known.from));
        }
        term.note(
            "* used where nothing else is said; --connection NAME or `steward connections default NAME` changes it",
        );
    }))
}

async fn test(client: &Client, name: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let Connection { id, name, .. } = client.known_connection(name).await?.connection;
    let tested = tried(client, &name, &id.to_string(), term).await?;
    let (ok, ms, said) = (tested["ok"] == true, &tested["total_ms"], text(&tested, "text"));
    let (error, hint) = (text(&tested, "error"), text(&tested, "hint"));
    let shown = if ok {
        json!({"connection": name, "ok": true, "answer": said, "ms": ms, "first_ms": tested["first_ms"]})
    } else {
        json!({"connection": name, "ok": false, "error": error, "hint": hint})
    };
    term.shown(&shown, || {
        if ok {
            println!("{name} answered in {ms} ms: {said}");
        } else {
            term.say_text(&format!("{} {error}\n{hint}", term.red("failed:")));
        }
    });
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

async fn add(client: &Client, wanted: Add, term: Term) -> anyhow::Result<Exit> {
    let Add { name, url, model, auth, window, strategy, exam: wanted_exam } = wanted;
    let mut auth = given(&auth, term).await?;
    term.status(&format!("asking what answers at {url}…"));
    let mut found = client.recognise(&url, &auth).await?;
    // The provider was not known yet when the key was read.
    let other = match text(&auth, "kind") {
        "bearer" if has_own_header(found.provider) => Some("api_key"),
        "bearer_env" if has_own_header(found.provider) => Some("api_key_env"),
        _ => None,
    };
    if let Some(kind) = other {
        auth["kind"] = json!(kind);
        found = client.recognise(&url, &auth).await?;
    }
    term.clear();
    let model = chosen(model, &found)?;
    let mut body = json!({
        "name": name, "provider": found.provider, "base_url": found.base_url, "model": model, "auth": auth,
    });
    if let Some(window) = window {
        body["capabilities"] = json!({"window": window});
    }
    if let Some(strategy) = strategy {
        body["strategy"] = json!(strategy);
    }
    let saved = client.rows(CONNECTION.path).await?;
    let saved = saved.into_iter().find(|one| text(one, "name") == name && text(one, "from") == "saved");
    let made: Value = match &saved {
        None => client.post(CONNECTION.path, &body).await?,
        Some(one) => client.put(&CONNECTION.path_of(one), &body).await?,
    };
    let tested = tried(client, text(&made, "name"), text(&made, "id"), term).await?;
    if term.json {
        print_json(&json!({"connection": made, "recognised": found, "test": tested}));
        return Ok(Exit::Done);
    }
    let sure = if found.confirmed { "" } else { "perhaps " };
    term.say(&format!("saved `{name}`: {model}, {sure}{} ({})", cell(&json!(found.provider)), found.reason));
    if text(&made["auth"], "kind").ends_with("_env") {
        term.say("its key is read from the server's environment at each call");
    } else if text(&made["auth"], "kind") != "none" {
        term.say("its key is sealed in the vault and never shown again");
    }
    told(&name, &tested, term);
    if made["default"] == true {
        term.say(&format!("`{name}` is the default: it answers where nothing else is said"));
    } else {
        term.say(&format!(
            "the default stays as it was; make this one the default: steward connections default {name}"
        ));
    }
    if wanted_exam {
        return exam(client, Some(&name), false, term).await;
    }
    let state = &made["exam_state"];
    Ok(term.done(&match text(state, "state") {
        "running" => format!("it is being examined; what it can do: steward model exam {name} --last"),
        "done" => format!("its model was examined before: steward model exam {name} --last"),
        _ => format!("find out what it can do, for {}: steward model exam {name}", cost(state)),
    }))
}

/// What an exam costs at most.
fn cost(state: &Value) -> String {
    let tokens = state["most_tokens"].as_u64().unwrap_or_default();
    match state["most_cost"].as_u64() {
        Some(0) => format!("at most {tokens} tokens that cost nothing"),
        // Millionths of a dollar, rounded up to cents.
        Some(most) => {
            let cents = most.div_ceil(10_000);
            format!("at most {tokens} tokens or ${}.{:02}", cents / 100, cents % 100)
        }
        None => format!("at most {tokens} tokens, whose price isn't known"),
    }
}

fn chosen(model: Option<String>, found: &Recognised) -> anyhow::Result<String> {
    match (model, &found.models[..]) {
        (Some(model), _) => Ok(model),
        (None, [only]) => Ok(only.clone()),
        (None, []) => bail!("name the model with --model: the server lists none ({})", found.reason),
        (None, several) => {
            let shown: Vec<&str> = several.iter().take(20).map(String::as_str).collect();
            bail!("choose a model with --model; there are {}", shown.join(", "))
        }
    }
}

async fn tried(client: &Client, name: &str, id: &str, term: Term) -> anyhow::Result<Value> {
    term.status(&format!("asking {name}…"));
    let tested = client.act(&format!("/api/connections/{id}/test")).await;
    term.clear();
    tested
}

fn told(name: &str, tested: &Value, term: Term) {
    if tested["ok"] == true {
        let (ms, said) = (&tested["total_ms"], text(tested, "text"));
        term.say(&format!("`{name}` answered in {ms} ms: {said}"));
    } else {
        let why = term.red("it does not answer yet:");
        term.say_text(&format!("{why} {}\n{}", text(tested, "error"), text(tested, "hint")));
    }
}

async fn key(client: &Client, wanted: &Key, term: Term) -> anyhow::Result<Exit> {
    let Key { name, from, access_key_id: id, session_token } = wanted;
    let rows = client.rows(CONNECTION.path).await?;
    let found = rows.iter().find(|one| text(one, "name") == name);
    let found =
        found.with_context(|| format!("there is no connection `{name}`; `steward connections` shows what there is"))?;
    let before = &found["auth"];
    let auth = match text(before, "kind") {
        "none" | "bearer" | "bearer_env" | "api_key" | "api_key_env" => {
            let provider = serde_json::from_value(found["provider"].clone())?;
            let own = has_own_header(provider) || text(before, "kind").starts_with("api_key");
            json!({"kind": if own { "api_key" } else { "bearer" }})
        }
        "basic" | "basic_env" => json!({"kind": "basic", "user": before["user"]}),
        "header" | "header_env" => json!({"kind": "header", "header": before["header"]}),
        _ => json!({"kind": "aws", "region": before["region"]}),
    };
    match (auth["kind"] == "aws", id) {
        (true, None) => bail!("an access key has an id, too: add --access-key-id ID"),
        (false, Some(_)) => bail!("only keys of Amazon have an id; leave --access-key-id out"),
        _ => {}
    }
    let secret = secret(from.as_deref(), *session_token, term).await?;
    let mut body = json!({"auth": with_secret(auth, id.as_deref(), &secret)});
    for field in ["name", "provider", "base_url", "model", "wire", "price", "weight"] {
        body[field] = found[field].clone();
    }
    let made: Value = client.put(&CONNECTION.path_of(found), &body).await?;
    term.say(&format!("the new key of `{name}` is sealed in the vault and acts at the next call"));
    let tested = tried(client, text(&made, "name"), text(&made, "id"), term).await?;
    told(name, &tested, term);
    Ok(Exit::Done)
}
