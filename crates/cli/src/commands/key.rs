use super::rows::{is_part, name_of};
use crate::client::Client;
use crate::options::duration;
use crate::term::{Exit, Term};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::{KeyId, Timestamp, UserId};

/// Virtual keys, with which programs use /v1.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward key\n  steward key create my-program --allow-connection big --requests-per-minute 60\n  steward key revoke my-program"
)]
pub enum KeyAction {
    /// List them.
    List,
    Create(Create),
    /// Revoke one for good.
    Revoke {
        /// Its id, the beginning or end of it, or its name.
        id: String,
    },
}

/// Make one; its secret is printed this once.
#[derive(Debug, Clone, Args)]
pub struct Create {
    /// Its name.
    name: String,
    /// A connection it may use, as `--connection` on this command line is; several: repeat. None: all.
    #[arg(long = "allow-connection", value_name = "NAME")]
    connections: Vec<String>,
    /// An agent it may use; several: repeat. None: no agents.
    #[arg(long = "agent", value_name = "NAME", conflicts_with = "all_agents")]
    agents: Vec<String>,
    /// It may use all agents.
    #[arg(long)]
    all_agents: bool,
    /// Most requests a minute.
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<u32>,
    /// Most tokens a minute.
    #[arg(long, value_name = "N")]
    tokens_per_minute: Option<u32>,
    /// When it ends by itself: 90s, 30m, 1h or 7d.
    #[arg(long = "for", value_parser = duration)]
    lasts: Option<Duration>,
}

/// A key as the API lists it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct VirtualKey {
    pub id: KeyId,
    pub name: String,
    user: UserId,
    prefix: String,
    connections: Vec<Value>,
    agents: Option<Vec<Value>>,
    requests_per_minute: Option<u32>,
    tokens_per_minute: Option<u32>,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Made {
    #[serde(flatten)]
    key: VirtualKey,
    secret: Option<String>,
}

impl KeyAction {
    /// Takes `--connection NAME` as one that the key to make may use.
    pub(super) fn allow_connection(&mut self, name: &str) {
        if let Self::Create(wanted) = self {
            wanted.connections.push(name.to_owned());
        }
    }
}

const PATH: &str = "/api/keys";

pub async fn run(client: &Client, action: Option<KeyAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(KeyAction::List) {
        KeyAction::List => {
            let keys: Vec<VirtualKey> = client.all(PATH).await?;
            let now = client.now();
            let empty = "There are no virtual keys. Make one with: steward key create my-program";
            Ok(term.listed(&keys, empty, |key| {
                println!("{}  {}  {}…", key.id, key.name, key.prefix);
                println!("    {}", term.dim(&describe(key, now)));
            }))
        }
        KeyAction::Create(wanted) => create(client, wanted, term).await,
        KeyAction::Revoke { id } => {
            let key = find(client, &id).await?;
            client.delete(&format!("{PATH}/{}", key.id)).await?;
            Ok(term.done(&format!("revoked: {}", key.name)))
        }
    }
}

fn describe(key: &VirtualKey, now: Timestamp) -> String {
    let named = |all: &[Value]| {
        let names: Vec<String> = all.iter().map(name_of).collect();
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

async fn create(client: &Client, wanted: Create, term: Term) -> anyhow::Result<Exit> {
    for name in &wanted.connections {
        client.known_connection(Some(name)).await?;
    }
    for name in &wanted.agents {
        client.agent_named(Some(name)).await?;
    }
    let agents = (wanted.all_agents || !wanted.agents.is_empty()).then_some(wanted.agents);
    let body = json!({
        "name": wanted.name,
        "connections": wanted.connections,
        "agents": agents,
        "requests_per_minute": wanted.requests_per_minute,
        "tokens_per_minute": wanted.tokens_per_minute,
        "expires_at": wanted.lasts.map(|lasts| client.now().plus(lasts)),
    });
    let Made { key, secret } = client.post(PATH, &body).await?;
    let secret = secret.with_context(|| {
        format!("the key was made, but the answer with its secret was lost; revoke `{}` and make another", key.id)
    })?;
    let mut shown = json!(key);
    shown["secret"] = json!(secret);
    Ok(term.shown(&shown, || {
        println!("{secret}");
        term.say(&format!("It opens {}.", describe(&key, client.now())));
        term.say(&format!(
            "This is the only time that the secret of `{}` is shown. Send it to /v1 as the bearer token.",
            key.name
        ));
    }))
}

/// Finds a key by its name or a part of its id; one in force takes precedence over others of its name.
pub(super) async fn find(client: &Client, text: &str) -> anyhow::Result<VirtualKey> {
    let keys: Vec<VirtualKey> = client.all(PATH).await?;
    let mut fits: Vec<_> = keys.iter().filter(|key| key.name == text && key.revoked_at.is_none()).collect();
    if fits.is_empty() && !text.is_empty() {
        fits.extend(keys.iter().filter(|key| is_part(text, &key.id.to_string())));
    }
    match fits[..] {
        [one] => Ok(one.clone()),
        [] => bail!("no key has the name or id `{text}`; `steward key list` shows them"),
        _ => bail!("`{text}` fits {} keys; give the id", fits.len()),
    }
}
