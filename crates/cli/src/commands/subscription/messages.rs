//! What was told, and trying whether it arrives.

use super::rows::{SUBSCRIPTION, describe_fate, find, print_message};
use crate::client::Client;
use crate::commands::rows::{by_id, text};
use crate::commands::unattended::argument_of;
use crate::term::{Exit, Term};
use clap::Args;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Messages searched for the beginning or end of an id: as many as are kept.
const LOOKED_THROUGH: usize = 2_000;
/// How long it is waited for what becomes of a test.
const WAITED: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Messages among which a test is looked for, the latest ones.
const LATEST: usize = 100;

/// What was told and what became of it, the latest first.
#[derive(Debug, Clone, Args)]
pub struct Messages {
    /// Its name, or the beginning or end of its id.
    name: String,
    /// Only those that were given up.
    #[arg(long)]
    failed: bool,
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

/// Send a message once more, whatever became of it; it keeps its id.
#[derive(Debug, Clone, Args)]
pub struct OfMessage {
    /// The subscription's name, or the beginning or end of its id.
    name: String,
    /// The message: the beginning or end of its id (see `steward subscription messages`).
    message: String,
}

pub(super) async fn list(client: &Client, wanted: &Messages, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, &wanted.name).await?;
    let path = format!("{}/messages{}", SUBSCRIPTION.path_of(&row), if wanted.failed { "?failed=true" } else { "" });
    let (found, more): (Vec<Value>, bool) = client.list(&path, wanted.limit as usize).await?;
    Ok(term.shown(&json!({"messages": found, "more": more}), || {
        if found.is_empty() {
            term.say(if wanted.failed { "No message was given up." } else { "Nothing was told yet." });
        }
        for one in &found {
            print_message(one, term);
        }
        if more {
            term.say("there are more; see them with a higher --limit");
        }
    }))
}

pub(super) async fn send(client: &Client, wanted: &OfMessage, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, &wanted.name).await?;
    let (path, how) = (format!("{}/messages", SUBSCRIPTION.path_of(&row)), argument_of(&row));
    let id = if let Ok(id) = wanted.message.parse::<Uuid>() {
        id.to_string()
    } else {
        let (rows, _): (Vec<Value>, bool) = client.list(&path, LOOKED_THROUGH).await?;
        let none = format!("no message `{}`; `steward subscription messages {how}` lists them", wanted.message);
        let one = by_id(rows, &wanted.message, |row| text(row, "id").to_owned(), "messages", &none)?;
        text(&one, "id").to_owned()
    };
    let sent: Value = client.act(&format!("{path}/{id}/send")).await?;
    let said = format!("message {id} is sent once more; see it with: steward subscription messages {how}");
    let exit = term.changed(&sent, &said);
    say_when(client, term);
    Ok(exit)
}

pub(super) async fn test(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, name).await?;
    let (path, name) = (SUBSCRIPTION.path_of(&row), text(&row, "name"));
    let mut message: Value = client.act(&format!("{path}/test")).await?;
    if client.server_url().is_none() {
        let exit = term.changed(&message, &format!("a test of `{name}` waits to be sent"));
        say_when(client, term);
        return Ok(exit);
    }
    let begun = Instant::now();
    // A first try that failed says enough, though it is tried again.
    while message["status"] == "waiting" && message["last"].is_null() && begun.elapsed() < WAITED {
        tokio::time::sleep(LOOK_EVERY).await;
        let (latest, _): (Vec<Value>, bool) = client.list(&format!("{path}/messages"), LATEST).await?;
        if let Some(found) = latest.into_iter().find(|one| one["id"] == message["id"]) {
            message = found;
        }
    }
    let arrived = message["status"] == "sent";
    let said = match message["last"].as_str() {
        Some(_) if arrived => format!("it arrived: {}", describe_fate(&message)),
        Some(_) => format!("it didn't arrive: {}", describe_fate(&message)),
        None => format!(
            "it isn't known yet whether it arrives; look later with: steward subscription messages {}",
            argument_of(&row)
        ),
    };
    let exit = term.changed(&message, &said);
    Ok(if arrived { exit } else { Exit::Failed })
}

fn say_when(client: &Client, term: Term) {
    if client.server_url().is_none() && !term.json {
        term.note("messages are sent while a server runs: steward serve");
    }
}
