use super::picked::{pick, text};
use crate::args::{self, ReminderAction};
use crate::client::{Client, encoded};
use crate::exit::Exit;
use crate::term::Term;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::Timestamp;

const LIST: &str = "steward reminders";
const TOLD: usize = 5;

pub async fn run(client: &Client, args: &args::Reminders, term: Term) -> anyhow::Result<Exit> {
    match &args.action {
        None => list(client, args, term).await,
        Some(ReminderAction::Done { ids }) => {
            let mut changed = Vec::new();
            for id in ids {
                let one = change(client, id, &json!({"done": true})).await?;
                if !args.json {
                    term.say(&format!("done: {}", text(&one, "text")));
                }
                changed.push(one);
            }
            if args.json {
                println!("{}", json!(changed));
            }
            Ok(Exit::Done)
        }
        Some(ReminderAction::Snooze { id, time }) => {
            let at = later(client.now(), *time);
            let one = change(client, id, &json!({"at": at.0, "done": false})).await?;
            let said = format!("again at {}: {}", local(client, at), text(&one, "text"));
            Ok(term.changed(&one, args.json, &said))
        }
        Some(ReminderAction::Remove { id }) => {
            let one = found(client, id).await?;
            let path = path(&one);
            client.delete(&path).await?;
            Ok(term.done(&format!("removed: {}", text(&one, "text"))))
        }
    }
}

fn later(now: Timestamp, time: Duration) -> Timestamp {
    let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    Timestamp(now.0.saturating_add(ms))
}

async fn list(client: &Client, args: &args::Reminders, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(&format!("/api/reminders?done={}", args.all)).await?;
    if term.listed(&rows, args.json, "No reminders. Have one set: steward ask \"Remind me tomorrow at 9 to …\"") {
        return Ok(Exit::Done);
    }
    for row in &rows {
        let mark = match (row["done"] == true, row["due"] == true) {
            (true, _) => term.dim("  done"),
            (false, true) => term.yellow("  due"),
            (false, false) => String::new(),
        };
        println!("{}  {}  {}{mark}", text(row, "id"), local(client, at(row)), text(row, "text"));
    }
    Ok(Exit::Done)
}

/// Mentions due reminders beside what a command is for.
pub async fn tell(client: &Client, term: Term) {
    let rows = match client.rows("/api/reminders?due=true").await {
        Ok(rows) => rows,
        Err(error) => {
            tracing::debug!(%error, "reminders can't be looked at");
            return;
        }
    };
    for row in rows.iter().take(TOLD) {
        let line = format!("Reminder, {}: {}", local(client, at(row)), text(row, "text"));
        let how = term.dim(&format!("(steward reminders done {})", text(row, "id")));
        term.say(&format!("{} {how}", term.yellow(&line)));
    }
    if rows.len() > TOLD {
        term.say(&term.dim(&format!("and {} more: {LIST}", rows.len() - TOLD)));
    }
}

async fn change(client: &Client, id: &str, wanted: &Value) -> anyhow::Result<Value> {
    let path = path(&found(client, id).await?);
    client.request(Method::PATCH, &path, Some(wanted)).await
}

async fn found(client: &Client, id: &str) -> anyhow::Result<Value> {
    let rows = client.rows("/api/reminders?done=true").await?;
    pick(rows, id, "reminder", LIST)
}

fn path(row: &Value) -> String {
    format!("/api/reminders/{}", encoded(text(row, "id")))
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

#[cfg(test)]
mod tests {
    use super::later;
    use std::time::Duration;
    use steward_core::Timestamp;

    #[test]
    fn later_is_from_now() {
        assert_eq!(later(Timestamp(1000), Duration::from_mins(1)), Timestamp(61_000));
    }
}
