use crate::args::{KeyAction, KeyArgs};
use crate::client::{Client, NewKey};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use serde_json::json;
use steward_core::Timestamp;
use steward_core::ports::VirtualKey;

pub async fn run(client: &Client, args: KeyArgs, term: Term) -> anyhow::Result<Exit> {
    match args.action {
        None | Some(KeyAction::List) => list(client, args.json, term).await,
        Some(KeyAction::Create {
            name,
            connections,
            agents,
            all_agents,
            requests_per_minute,
            tokens_per_minute,
            lasts,
        }) => {
            let new = NewKey {
                name,
                connections,
                agents: (all_agents || !agents.is_empty()).then_some(agents),
                requests_per_minute,
                tokens_per_minute,
                expires_at: lasts.map(|lasts| client.now().plus(lasts)),
            };
            create(client, &new, args.json, term).await
        }
        Some(KeyAction::Revoke { id }) => revoke(client, &id, term).await,
    }
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let keys = client.keys().await?;
    if term.listed(&keys, as_json, "There are no virtual keys. Make one with: steward key create my-program") {
        return Ok(Exit::Done);
    }
    let now = client.now();
    for key in &keys {
        println!("{}  {}  {}…", key.id, key.name, key.prefix);
        println!("    {}", term.dim(&describe(key, now)));
    }
    Ok(Exit::Done)
}

fn describe(key: &VirtualKey, now: Timestamp) -> String {
    let named = |names: &[String]| {
        if names.is_empty() { "all".to_owned() } else { names.join(", ") }
    };
    let agents = key.agents.as_deref().map_or("none".to_owned(), named);
    let mut parts = vec![format!("connections: {}", named(&key.connections)), format!("agents: {agents}")];
    parts.extend(key.requests_per_minute.map(|most| format!("{most} requests a minute")));
    parts.extend(key.tokens_per_minute.map(|most| format!("{most} tokens a minute")));
    parts.extend(match (key.revoked_at, key.expires_at) {
        (Some(at), _) => Some(format!("revoked {}", at.rfc3339())),
        (None, Some(at)) if at <= now => Some(format!("ended {}", at.rfc3339())),
        (None, Some(at)) => Some(format!("until {}", at.rfc3339())),
        (None, None) => None,
    });
    parts.join("; ")
}

async fn create(client: &Client, new: &NewKey, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    for name in &new.connections {
        client.known_connection(Some(name)).await?;
    }
    for name in new.agents.iter().flatten() {
        client.agent_named(Some(name)).await?;
    }
    let (key, secret) = client.make_key(new).await?;
    if as_json {
        let mut value = json!(key);
        value["secret"] = json!(secret);
        println!("{value}");
        return Ok(Exit::Done);
    }
    println!("{secret}");
    Ok(term.done(&format!(
        "This is the only time that the secret of `{}` is shown. Send it to /v1 as the bearer token.",
        key.name
    )))
}

/// Finds a key by its name or a part of its id; one in force takes precedence over others of its name.
pub(super) async fn find(client: &Client, text: &str) -> anyhow::Result<VirtualKey> {
    let keys = client.keys().await?;
    let live = |key: &&VirtualKey| key.revoked_at.is_none();
    let named: Vec<_> = keys.iter().filter(|key| key.name == text).filter(live).collect();
    let fits: Vec<_> = if named.is_empty() {
        let fits = |key: &&VirtualKey| {
            let id = key.id.to_string();
            !text.is_empty() && (id.starts_with(text) || id.ends_with(text))
        };
        keys.iter().filter(fits).collect()
    } else {
        named
    };
    match fits[..] {
        [one] => Ok(one.clone()),
        [] => bail!("no key has the name or id `{text}`; `steward key list` shows them"),
        _ => bail!("`{text}` fits {} keys; give the id", fits.len()),
    }
}

async fn revoke(client: &Client, text: &str, term: Term) -> anyhow::Result<Exit> {
    let key = find(client, text).await?;
    client.delete(&format!("/api/keys/{}", key.id)).await?;
    Ok(term.done(&format!("revoked: {}", key.name)))
}
