use super::connection_auth::{given, has_own_header, secret};
use super::picked::text;
use crate::args::{self, AuthArgs, ConnectionAction};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use http::Method;
use serde_json::{Value, json};
use steward_core::model::Connection;
use steward_core::ports::Recognised;

/// `chosen` is the value of `--connection`.
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
            client.delete(&format!("/api/connections/{}", known.connection.id)).await?;
            Ok(term.done(&format!("removed `{name}`")))
        }
        Some(ConnectionAction::Test { name }) => test(client, name.as_deref().or(chosen), args.json, term).await,
        Some(ConnectionAction::Default { name }) => {
            let known = client.known_connection(Some(&name)).await?;
            client.act::<()>(&format!("/api/connections/{}/default", known.connection.id)).await?;
            Ok(term.done(&format!("`{name}` is the default now")))
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
    let Connection { id, name, .. } = client.known_connection(name).await?.connection;
    let tested = tried(client, &name, &id.to_string(), term).await?;
    let (ok, ms, said) = (tested["ok"] == true, &tested["total_ms"], text(&tested, "text"));
    let (error, hint) = (text(&tested, "error"), text(&tested, "hint"));
    match (as_json, ok) {
        (true, true) => println!(
            "{}",
            json!({"connection": name, "ok": true, "answer": said, "ms": ms, "first_ms": tested["first_ms"]})
        ),
        (true, false) => println!("{}", json!({"connection": name, "ok": false, "error": error, "hint": hint})),
        (false, true) => println!("{name} answered in {ms} ms: {said}"),
        (false, false) => term.say(&format!("{} {error}\n{hint}", term.red("failed:"))),
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

struct Adding {
    name: String,
    url: String,
    model: Option<String>,
    auth: AuthArgs,
    window: Option<u32>,
}

async fn add(client: &Client, wanted: Adding, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let Adding { name, url, model, auth, window } = wanted;
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
    let saved = client.rows("/api/connections").await?;
    let saved = saved.into_iter().find(|one| text(one, "name") == name && text(one, "from") == "saved");
    let (method, path) = match &saved {
        None => (Method::POST, "/api/connections".to_owned()),
        Some(one) => (Method::PUT, format!("/api/connections/{}", text(one, "id"))),
    };
    let made: Value = client.request(method, &path, Some(&body)).await?;
    let tested = tried(client, text(&made, "name"), text(&made, "id"), term).await?;
    if as_json {
        println!("{}", json!({"connection": made, "recognised": found, "test": tested}));
        return Ok(Exit::Done);
    }
    let provider = json!(found.provider);
    let sure = if found.confirmed { "" } else { "perhaps " };
    term.say(&format!("saved `{name}`: {model}, {sure}{} ({})", provider.as_str().unwrap_or_default(), found.reason));
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
    Ok(term.done(&format!("find out what it can do: steward model exam {name}")))
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
        term.say(&format!("{why} {}\n{}", text(tested, "error"), text(tested, "hint")));
    }
}

async fn key(
    client: &Client,
    name: &str,
    from: Option<&str>,
    access_key: (Option<String>, bool),
    term: Term,
) -> anyhow::Result<Exit> {
    let (id, session) = access_key;
    let rows = client.rows("/api/connections").await?;
    let found = rows.iter().find(|one| text(one, "name") == name);
    let found =
        found.with_context(|| format!("there is no connection `{name}`; `steward connections` shows what there is"))?;
    let before = &found["auth"];
    let mut auth = match text(before, "kind") {
        "none" | "bearer" | "bearer_env" | "api_key" | "api_key_env" => {
            let provider = serde_json::from_value(found["provider"].clone())?;
            let own = has_own_header(provider) || text(before, "kind").starts_with("api_key");
            json!({"kind": if own { "api_key" } else { "bearer" }})
        }
        "basic" | "basic_env" => json!({"kind": "basic", "user": before["user"]}),
        "header" | "header_env" => json!({"kind": "header", "header": before["header"]}),
        _ => json!({"kind": "aws", "region": before["region"]}),
    };
    let aws = auth["kind"] == "aws";
    if aws != id.is_some() {
        bail!(
            "{}",
            if aws {
                "an access key has an id, too: add --access-key-id ID"
            } else {
                "only keys of Amazon have an id; leave --access-key-id out"
            }
        );
    }
    let secret = secret(from, session, term).await?;
    if aws {
        auth["access_key_id"] = json!(id);
        auth["secret_access_key"] = json!(secret.first);
        auth["session_token"] = json!(secret.session);
    } else {
        auth["key"] = json!(secret.first);
    }
    let mut body = json!({"auth": auth});
    for field in ["name", "provider", "base_url", "model", "wire", "price", "weight"] {
        body[field] = found[field].clone();
    }
    let path = format!("/api/connections/{}", text(found, "id"));
    let made: Value = client.request(Method::PUT, &path, Some(&body)).await?;
    term.say(&format!("the new key of `{name}` is sealed in the vault and acts at the next call"));
    let tested = tried(client, text(&made, "name"), text(&made, "id"), term).await?;
    told(name, &tested, term);
    Ok(Exit::Done)
}
