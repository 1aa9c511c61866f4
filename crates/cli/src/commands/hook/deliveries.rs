//! What came to a webhook, and what would.

use super::rows::{HOOK, describe_delivery, describe_event, find, print_delivery};
use crate::client::Client;
use crate::commands::rows::{by_id, content_of, print_facts, text};
use crate::commands::unattended::argument_of;
use crate::term::{Exit, Term, print_text};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use uuid::Uuid;

/// Deliveries searched for the beginning or end of an id: as many as are kept.
const LOOKED_THROUGH: usize = 2_000;

/// What came and what became of it, the latest first.
#[derive(Debug, Clone, Args)]
pub struct Deliveries {
    /// Its name, or the beginning or end of its id.
    name: String,
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

/// Show one delivery with what was sent, while that is kept.
#[derive(Debug, Clone, Args)]
pub struct OfDelivery {
    /// The webhook's name, or the beginning or end of its id.
    name: String,
    /// The delivery: the beginning or end of its id (see `steward hook deliveries`).
    delivery: String,
}

/// Say what a call would do, without doing it; signatures aren't looked at.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward hook preview issues call.json --header x-github-event:issues\n  curl -s https://api.example.org/event | steward hook preview issues -"
)]
pub struct Preview {
    /// Its name, or the beginning or end of its id.
    name: String,
    /// The body as it would come, in a file; `-` is standard input.
    file: PathBuf,
    /// A header as it would come; may be given often.
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(String, String)>,
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is no header; write NAME: VALUE, such as 'x-github-event: issues'")),
    }
}

pub(super) async fn list(client: &Client, wanted: &Deliveries, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, &wanted.name).await?;
    let path = format!("{}/deliveries", HOOK.path_of(&row));
    let (found, more): (Vec<Value>, bool) = client.list(&path, wanted.limit as usize).await?;
    Ok(term.shown(&json!({"deliveries": found, "more": more}), || {
        if found.is_empty() {
            term.say("Nothing came yet.");
        }
        for one in &found {
            print_delivery(one, term);
        }
        if more {
            term.say("there are more; see them with a higher --limit");
        }
    }))
}

pub(super) async fn show(client: &Client, wanted: &OfDelivery, term: Term) -> anyhow::Result<Exit> {
    let (_, path) = find_delivery(client, wanted).await?;
    let found: Value = client.get(&path).await?;
    Ok(term.shown(&found, || print_content(&found, term)))
}

fn print_content(found: &Value, term: Term) {
    let delivery = &found["delivery"];
    println!("{}  {}", term.bold(text(delivery, "id")), describe_delivery(delivery));
    println!("    {}", term.dim(&describe_event(delivery)));
    let Some(body) = found["body"].as_str() else {
        term.say("what was sent isn't kept any more");
        return;
    };
    println!();
    let headers = found["headers"].as_object().into_iter().flatten();
    print_facts(headers.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default().to_owned())));
    println!();
    print_text(body);
}

pub(super) async fn replay(client: &Client, wanted: &OfDelivery, term: Term) -> anyhow::Result<Exit> {
    let (hook, path) = find_delivery(client, wanted).await?;
    let made: Value = client.act(&format!("{path}/replay")).await?;
    let how = argument_of(&hook);
    let said = format!("delivery {} starts a run; see it with: steward hook deliveries {how}", text(&made, "id"));
    let exit = term.changed(&made, &said);
    if client.server_url().is_none() && !term.json {
        term.note("its run starts while a server runs: steward serve");
    }
    Ok(exit)
}

/// The webhook, and the path of its delivery.
async fn find_delivery(client: &Client, wanted: &OfDelivery) -> anyhow::Result<(Value, String)> {
    let hook = find(client, &wanted.name).await?;
    let path = format!("{}/deliveries", HOOK.path_of(&hook));
    if let Ok(id) = wanted.delivery.parse::<Uuid>() {
        return Ok((hook, format!("{path}/{id}")));
    }
    let (rows, _): (Vec<Value>, bool) = client.list(&path, LOOKED_THROUGH).await?;
    let how = argument_of(&hook);
    let none = format!("no delivery `{}`; `steward hook deliveries {how}` lists them", wanted.delivery);
    let one = by_id(rows, &wanted.delivery, |row| text(row, "id").to_owned(), "deliveries", &none)?;
    let path = format!("{path}/{}", text(&one, "id"));
    Ok((hook, path))
}

pub(super) async fn preview(client: &Client, wanted: &Preview, term: Term) -> anyhow::Result<Exit> {
    let path = HOOK.path_of(&find(client, &wanted.name).await?);
    let headers: Map<String, Value> = wanted.header.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let body = json!({"headers": headers, "body": content_of(&wanted.file)?});
    let seen: Value = client.post(&format!("{path}/preview"), &body).await?;
    Ok(term.shown(&seen, || {
        let does = if seen["starts"] == true {
            "it would start a run".to_owned()
        } else {
            format!("it would start nothing: {}", text(&seen, "reason"))
        };
        let event = seen["event"].as_str().unwrap_or("none: each call is a new one, so a repeat starts another run");
        print_facts([("would", does), ("event", event.to_owned())]);
        println!();
        print_text(text(&seen, "request"));
    }))
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn a_header_is_read_as_it_is_written() {
        assert_eq!(header("X-GitHub-Event: push"), Ok(("X-GitHub-Event".to_owned(), "push".to_owned())));
        assert_eq!(header("a:b:c"), Ok(("a".to_owned(), "b:c".to_owned())));
        for bad in ["", "x-github-event", ": push"] {
            assert!(header(bad).unwrap_err().contains("NAME: VALUE"), "{bad}");
        }
    }
}
