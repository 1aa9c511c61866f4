//! What models are told before each question about data, and the questions that were answered right.

use crate::client::{Client, encoded};
use crate::commands::rows::{first_line, text};
use crate::term::{Exit, Term};
use anyhow::Context as _;
use clap::Subcommand;
use serde_json::{Value, json};

#[derive(Debug, Clone, Subcommand)]
pub enum InstructionAction {
    /// List them in their order.
    List,
    /// Add one or change its text. It acts on the next message.
    Set {
        /// Its name.
        name: String,
        /// What models are told.
        text: String,
        /// Smaller ones are told first.
        #[arg(long, default_value_t = 0)]
        position: u32,
        /// Keep it without telling it.
        #[arg(long)]
        off: bool,
    },
    /// Take one away.
    Remove {
        /// Its name.
        name: String,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub enum VerifiedAction {
    /// List them, the newest first.
    List,
    /// Keep one; the same question takes its place. It acts on the next message.
    Add {
        /// The question, as people ask it.
        text: String,
        /// The query that answers it: a JSON object such as {"domain": "customer", "aggregate": [{"fn": "count"}]}.
        query: String,
    },
    /// Take one away.
    Remove {
        /// Its id.
        id: String,
    },
}

const INSTRUCTIONS: &str = "/api/standing-instructions";
const QUESTIONS: &str = "/api/verified-questions";

pub(super) async fn instructions(
    client: &Client,
    action: Option<InstructionAction>,
    term: Term,
) -> anyhow::Result<Exit> {
    let path = |name: &str| format!("{INSTRUCTIONS}/{}", encoded(name));
    let all = client.rows(INSTRUCTIONS).await?;
    match action.unwrap_or(InstructionAction::List) {
        InstructionAction::List => {
            let empty = "There are none. Add one with: steward domain instructions set NAME TEXT";
            Ok(term.listed(&all, empty, |one| {
                let off = if one["enabled"] == true { "" } else { " (off)" };
                println!("{:<28} {}{off}", text(one, "name"), first_line(text(one, "text"), 90));
            }))
        }
        InstructionAction::Set { name, text: told, position, off } => {
            let known = all.iter().find(|one| text(one, "name") == name);
            let version = known.map_or(json!(0), |one| one["version"].clone());
            let body = json!({"text": told, "position": position, "enabled": !off, "version": version});
            let saved: Value = client.put(&path(&name), &body).await?;
            Ok(term.changed(&saved, &format!("saved `{name}`; it acts on the next message")))
        }
        InstructionAction::Remove { name } => {
            client.delete(&path(&name)).await?;
            Ok(term.done(&format!("removed `{name}`")))
        }
    }
}

pub(super) async fn verified(client: &Client, action: Option<VerifiedAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(VerifiedAction::List) {
        VerifiedAction::List => {
            let all = client.rows(QUESTIONS).await?;
            let empty = "There are none. Keep one with: steward domain verified add QUESTION QUERY";
            Ok(term.listed(&all, empty, |one| {
                println!("{}  {:<20} {}", text(one, "id"), text(one, "domain"), first_line(text(one, "text"), 90));
            }))
        }
        VerifiedAction::Add { text: question, query } => {
            let query: Value = serde_json::from_str(&query).context("the query is no JSON object")?;
            let kept: Value = client.post(QUESTIONS, &json!({"text": question, "query": query})).await?;
            Ok(term.changed(&kept, &format!("kept as {}; it acts on the next message", text(&kept, "id"))))
        }
        VerifiedAction::Remove { id } => {
            client.delete(&format!("{QUESTIONS}/{}", encoded(&id))).await?;
            Ok(term.done(&format!("removed {id}")))
        }
    }
}
