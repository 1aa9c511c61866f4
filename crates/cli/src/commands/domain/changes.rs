use super::cell;
use crate::client::Client;
use crate::commands::rows::{Resource, items, text};
use crate::term::{Exit, Term};
use anyhow::{Context as _, bail};
use clap::Subcommand;
use serde_json::{Value, json};

#[derive(Debug, Clone, Subcommand)]
pub enum ChangeAction {
    /// List them, the newest first.
    List {
        /// Also those that are decided on.
        #[arg(long)]
        all: bool,
    },
    /// Propose one: a JSON object such as {"change": "update", "domain": "customer", "key": 5, "set": {"City": "Oslo"}}.
    Propose {
        /// The change.
        change: String,
    },
    /// Write one.
    Confirm {
        /// The beginning or end of its id.
        id: String,
    },
    /// Decline one.
    Discard {
        /// The beginning or end of its id.
        id: String,
    },
    /// Put the record back as it was.
    Undo {
        /// The beginning or end of its id.
        id: String,
    },
}

const CHANGE: Resource =
    Resource { path: "/api/record-changes", what: "change", list: "steward domain changes list --all" };

pub(super) async fn run(client: &Client, action: Option<ChangeAction>, term: Term) -> anyhow::Result<Exit> {
    let (id, verb) = match action.unwrap_or(ChangeAction::List { all: false }) {
        ChangeAction::List { all } => {
            let path = if all { CHANGE.path } else { "/api/record-changes?state=proposed" };
            let rows = client.rows(path).await?;
            return Ok(term.listed(&rows, "No change of a record waits.", |one| show(one, term)));
        }
        ChangeAction::Propose { change } => {
            let change: Value = serde_json::from_str(&change).context("the change is no JSON object")?;
            let made: Value = client.post(CHANGE.path, &json!({"change": change})).await?;
            return Ok(term.shown(&made, || {
                show(&made, term);
                println!(
                    "Nothing is written yet. Confirm it with: steward domain changes confirm {}",
                    text(&made["change"], "id")
                );
            }));
        }
        ChangeAction::Confirm { id } => (id, "confirm"),
        ChangeAction::Discard { id } => (id, "discard"),
        ChangeAction::Undo { id } => (id, "undo"),
    };
    let rows = client.rows(CHANGE.path).await?;
    let found = CHANGE.pick(rows.iter().map(|one| one["change"].clone()).collect(), &id)?;
    let done: Value = client.act(&format!("{}/{verb}", CHANGE.path_of(&found))).await?;
    let exit = term.shown(&done, || show(&done, term));
    if done["change"]["state"] == "failed" {
        bail!("{}", done["change"]["outcome"].as_str().unwrap_or("it was not written"));
    }
    Ok(exit)
}

fn show(one: &Value, term: Term) {
    let change = &one["change"];
    let what = text(&change["change"], "change");
    println!("{}  {:<9} {what} {}", text(change, "id"), text(change, "state"), text(change, "domain"));
    for field in items(one, "difference") {
        let line = format!("    {}: {} → {}", text(field, "field"), cell(&field["before"]), cell(&field["after"]));
        println!("{}", term.dim(&line));
    }
}
