use super::rows::{Resource, text};
use crate::client::Client;
use crate::options::{Actions, duration};
use crate::term::{Exit, Term, print_json};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::Timestamp;

/// What agents were asked to remind of; what is due is told at the next `ask` or `chat` too.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward reminders\n  steward reminders done 3f2a\n  steward reminders snooze 3f2a 1h\n  steward reminders remove 3f2a"
)]
pub struct Reminders {
    /// With those that are done.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    actions: Actions<ReminderAction>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ReminderAction {
    /// Mark them as done.
    Done {
        /// Their ids, or the beginnings of them.
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Be reminded again later.
    Snooze {
        /// Its id, or the beginning of it.
        id: String,
        /// In how long: 10m, 1h, 1d.
        #[arg(default_value = "10m", value_parser = duration)]
        time: Duration,
    },
    /// Remove it.
    Remove {
        /// Its id, or the beginning of it.
        id: String,
    },
}

const REMINDER: Resource = Resource { path: "/api/reminders", what: "reminder", list: "steward reminders" };
const TOLD: usize = 5;

pub async fn run(client: &Client, args: &Reminders, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.actions.json);
    match &args.actions.action {
        None => list(client, args, term).await,
        Some(ReminderAction::Done { ids }) => {
            let mut changed = Vec::new();
            for id in ids {
                let one = change(client, id, &json!({"done": true})).await?;
                if !term.json {
                    term.say(&format!("done: {}", text(&one, "text")));
                }
                changed.push(one);
            }
            if term.json {
                print_json(&changed);
            }
            Ok(Exit::Done)
        }
        Some(ReminderAction::Snooze { id, time }) => {
            let at = client.now().plus(*time);
            let one = change(client, id, &json!({"at": at.0, "done": false})).await?;
            let said = format!("again at {}: {}", local(client, at), text(&one, "text"));
            Ok(term.changed(&one, &said))
        }
        Some(ReminderAction::Remove { id }) => {
            let one = find(client, id).await?;
            client.delete(&REMINDER.path_of(&one)).await?;
            Ok(term.done(&format!("removed: {}", text(&one, "text"))))
        }
    }
}

async fn list(client: &Client, args: &Reminders, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(&format!("/api/reminders?done={}", args.all)).await?;
    Ok(term.listed(&rows, "No reminders. Have one set: steward ask \"Remind me tomorrow at 9 to …\"", |row| {
        let mark = match (row["done"] == true, row["due"] == true) {
            (true, _) => term.dim("  done"),
            (false, true) => term.yellow("  due"),
            (false, false) => String::new(),
        };
        println!("{}  {}  {}{mark}", text(row, "id"), local(client, at(row)), text(row, "text"));
    }))
}

/// Mentions due reminders beside what a command is for.
pub async fn tell(client: &Client, term: Term) {
    let rows = client.rows("/api/reminders?due=true").await.unwrap_or_else(|error| {
        tracing::debug!(%error, "reminders can't be looked at");
        Vec::new()
    });
    for row in rows.iter().take(TOLD) {
        let line = format!("Reminder, {}: {}", local(client, at(row)), text(row, "text"));
        let how = term.dim(&format!("(steward reminders done {})", text(row, "id")));
        term.say(&format!("{} {how}", term.yellow(&line)));
    }
    if rows.len() > TOLD {
        term.note(&format!("and {} more: {}", rows.len() - TOLD, REMINDER.list));
    }
}

async fn change(client: &Client, id: &str, wanted: &Value) -> anyhow::Result<Value> {
    client.patch(&REMINDER.path_of(&find(client, id).await?), wanted).await
}

async fn find(client: &Client, id: &str) -> anyhow::Result<Value> {
    REMINDER.pick(client.rows("/api/reminders?done=true").await?, id)
}

fn at(row: &Value) -> Timestamp {
    Timestamp(row["at"].as_i64().unwrap_or_default())
}

/// `2026-11-22 09:00` in this machine's time zone.
fn local(client: &Client, at: Timestamp) -> String {
    let minutes = i64::from(client.utc_offset_minutes(at));
    let text = Timestamp(at.0.saturating_add(minutes * 60_000)).rfc3339();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}
