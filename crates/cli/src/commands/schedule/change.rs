use super::rows::{SCHEDULE, find};
use super::times::{TimeArgs, ask_back, describe, missed};
use crate::client::Client;
use crate::commands::rows::{object, text};
use crate::commands::unattended::{pause_after, request_of};
use crate::options::{Word, duration};
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Make a schedule, which is yours: its runs work with your rights.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward schedule add morning --when \"every weekday at 8\" --zone Europe/Berlin \"Write the report of {{date}}.\"\n  steward schedule add nightly --agent reporter --cron \"30 2 * * *\" --missed skip \"Look for new files.\"\n  steward schedule add once --at 2027-03-14T08:00 - < request.txt\n\n`{{date}}`, `{{time}}`, `{{due}}` and `{{schedule}}` in the request are filled in. Exit code 1: the words of --when leave something open; it is asked back, and nothing is made."
)]
pub struct Add {
    /// Its name.
    name: String,
    /// What the agent is asked each time; `-` reads it from standard input.
    #[arg(required = true)]
    request: Vec<String>,
    /// The agent whose runs it starts, by name (see `steward agents`) [default: steward].
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    fields: ScheduleFields,
}

/// Change a schedule of yours: only what is said.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward schedule edit morning --when \"every weekday at 9\"\n  steward schedule edit morning --rename report --pause-after never\n  steward schedule edit morning \"Write the report of {{date}} in two lines.\""
)]
pub struct Edit {
    /// Its name, or the beginning or end of its id.
    name: String,
    /// What the agent is asked from now on; `-` reads it from standard input.
    request: Vec<String>,
    /// Another name for it.
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    /// The agent whose runs it starts from now on, by name.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    fields: ScheduleFields,
}

/// Settings of a schedule.
#[derive(Debug, Clone, Args)]
pub struct ScheduleFields {
    #[command(flatten)]
    times: TimeArgs,
    /// What nothing could start in time: `skip` it, run `once` for all, or `all=SECONDS`, each that was due within so many [default: once].
    #[arg(long, value_name = "RULE", value_parser = missed)]
    missed: Option<Value>,
    /// What is due while the last run still works [default: skip].
    #[arg(long, value_name = "RULE")]
    overlap: Option<Overlap>,
    /// Have it rest after so many runs that failed one after the other, or `never` [default: 5].
    #[arg(long, value_name = "N", value_parser = pause_after)]
    pause_after: Option<Value>,
    /// After how long what nothing started is missed: 90s, 30m or 1h [default: 1m].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    grace: Option<Duration>,
}

/// What becomes of an occurrence that is due while a run works.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Overlap {
    /// It is skipped.
    Skip,
    /// One waits; others join it.
    QueueOne,
    /// All wait, and run one after the other.
    QueueAll,
    /// The run that works is stopped.
    CancelOther,
    /// Both work.
    Allow,
}

pub(super) async fn add(client: &Client, wanted: Add, term: Term) -> anyhow::Result<Exit> {
    let agent = client.agent_named(wanted.agent.as_deref()).await?;
    let request = request_of(&wanted.request)?;
    let read = wanted.fields.times.read(client, None, term).await?;
    if read["question"].is_object() {
        return Ok(ask_back(&read, term));
    }
    show(&read, term);
    let mut body = settings(&wanted.fields);
    body.extend(object([
        ("name", Some(json!(wanted.name))),
        ("agent_id", Some(json!(agent.id))),
        ("request", request.map(Value::from)),
        ("when", Some(read["when"].clone())),
    ]));
    let made: Value = client.post(SCHEDULE.path, &Value::Object(body)).await?;
    let exit = term.changed(&made, &format!("made `{}`", text(&made, "name")));
    if client.server_url().is_none() && !term.json {
        term.note("it starts runs while a server runs: steward serve");
    }
    Ok(exit)
}

pub(super) async fn edit(client: &Client, wanted: Edit, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, &wanted.name).await?;
    let agent = match &wanted.agent {
        Some(name) => Some(client.agent_named(Some(name)).await?.id),
        None => None,
    };
    let mut change = settings(&wanted.fields);
    change.extend(object([
        ("name", wanted.rename.map(Value::from)),
        ("agent_id", agent.map(|id| json!(id))),
        ("request", request_of(&wanted.request)?.map(Value::from)),
    ]));
    let times = &wanted.fields.times;
    if !times.is_empty() {
        let read = times.read(client, Some(&row["when"]), term).await?;
        if read["question"].is_object() {
            return Ok(ask_back(&read, term));
        }
        show(&read, term);
        change.insert("when".to_owned(), read["when"].clone());
    }
    if change.is_empty() {
        bail!("nothing was changed; say what to change, such as --when \"every weekday at 9\" or --overlap allow");
    }
    let kept = ["name", "agent_id", "request", "when", "missed", "overlap", "grace_seconds", "pause_after_failures"];
    let mut body = object(kept.map(|name| (name, Some(row[name].clone()))));
    body.extend(change);
    let row: Value = client.put(&SCHEDULE.path_of(&row), &Value::Object(body)).await?;
    Ok(term.changed(&row, &format!("changed `{}`", text(&row, "name"))))
}

/// What is read is shown before it is made.
fn show(read: &Value, term: Term) {
    if !term.json {
        for line in describe(read) {
            term.say(&line);
        }
    }
}

/// Those that were said, beside the times.
fn settings(fields: &ScheduleFields) -> Map<String, Value> {
    let ScheduleFields { missed, overlap, pause_after, grace, .. } = fields;
    object([
        ("missed", missed.clone()),
        ("overlap", overlap.map(|rule| json!(rule.word().replace('-', "_")))),
        ("pause_after_failures", pause_after.clone()),
        ("grace_seconds", grace.map(|length| json!(length.as_secs()))),
    ])
}
