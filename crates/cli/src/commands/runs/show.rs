//! `steward runs show`.

use super::list::{state, verdict};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;
use steward_core::event::EventBody;

/// Longest body shown in a line, characters.
const SHOWN: usize = 200;

/// Shows a run's log.
pub async fn show(client: &Client, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    if !as_json {
        println!("run {}  {} {}  {}", row.id, state(&row), verdict(&row), row.title);
        if let Some(from) = row.forked_from {
            println!("forked from {from}");
        }
    }
    let mut after = 0;
    loop {
        let page = client.log(row.id, after).await?;
        let Some(last) = page.last() else { break };
        after = last.event.seq;
        for logged in &page {
            let event = &logged.event;
            if as_json {
                println!(
                    "{}",
                    json!({"seq": event.seq, "at": event.at.rfc3339(), "epoch": event.epoch, "body": logged.raw})
                );
            } else if !matches!(event.body, EventBody::ModelDelta { .. }) {
                let kind = logged.raw["type"].as_str().unwrap_or_default();
                let raw: String = logged.raw.to_string().chars().take(SHOWN).collect();
                println!("{:>4}  {}  {kind:<19} {}", event.seq, event.at.rfc3339(), term.dim(&raw));
            }
        }
    }
    Ok(Exit::Done)
}
