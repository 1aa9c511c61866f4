//! `steward runs`: list, show, stop, undo.

use crate::cli::{self, RunAction};
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::{Context, bail};
use futures::StreamExt;
use serde_json::json;
use std::time::Duration;
use steward_core::RunId;
use steward_core::event::{EventBody, Outcome};
use steward_core::ports::{RunFilter, RunRow, RunStatus, RunStore as _};

/// Events read at once.
const PAGE: u32 = 500;
/// Longest wait for a run that was told to stop; a lease left by a crash ends before.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Runs, term: Term) -> anyhow::Result<Exit> {
    let app = App::open(&settings, Options::default()).await?;
    let exit = match &args.action {
        None => list(&app, &args, term).await,
        Some(RunAction::Show { run }) => show(&app, run, args.json, term).await,
        Some(RunAction::Stop { run }) => stop(&app, run, term).await,
        Some(RunAction::Undo { run }) => undo(&app, run, args.json, term).await,
    };
    app.close().await;
    exit
}

/// Stops a run and waits until it has ended: this process drives it to its end.
async fn stop(app: &App, text: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(app, text).await?;
    if row.status == RunStatus::Finished {
        term.say(&format!("run {} has ended already", row.id));
        return Ok(Exit::Done);
    }
    let mut events = app.runs.watch(row.id, row.last_seq);
    app.runs.stop(row.id, "cli").await?;
    let ended = tokio::time::timeout(STOP_LIMIT, async {
        while let Some(event) = events.next().await {
            if matches!(event?.body, EventBody::RunFinished { .. }) {
                return Ok(());
            }
        }
        bail!("the log of run {} ended early", row.id)
    });
    match ended.await {
        Ok(outcome) => outcome?,
        Err(_) => bail!(
            "run {} was told to stop but has not ended in {} s; another process may hold it, see `steward runs`",
            row.id,
            STOP_LIMIT.as_secs()
        ),
    }
    term.say(&format!("stopped {}", row.id));
    Ok(Exit::Done)
}

/// A run by its id or by the beginning or end of it.
pub async fn find_run(app: &App, text: &str) -> anyhow::Result<RunRow> {
    if let Ok(id) = text.parse::<RunId>() {
        return Ok(app.store.run(app.tenant, id).await?);
    }
    let filter = RunFilter {
        limit: 1000,
        ..RunFilter::default()
    };
    let mut found: Vec<RunRow> = app
        .store
        .runs(app.tenant, filter)
        .await?
        .items
        .into_iter()
        .filter(|row| {
            let id = row.id.to_string();
            id.starts_with(text) || id.ends_with(text)
        })
        .collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => bail!("no run `{text}`; `steward runs` lists them"),
        many => bail!("`{text}` fits {many} runs; give more of the id"),
    }
}

async fn list(app: &App, args: &cli::Runs, term: Term) -> anyhow::Result<Exit> {
    let before = args
        .before
        .as_deref()
        .map(|text| {
            text.parse::<RunId>()
                .with_context(|| format!("`{text}` is not a run id"))
        })
        .transpose()?;
    let filter = RunFilter {
        before,
        limit: args.limit,
        ..RunFilter::default()
    };
    let page = app.store.runs(app.tenant, filter).await?;
    if args.json {
        println!("{}", json!({"runs": page.items, "more": page.more}));
        return Ok(Exit::Done);
    }
    if page.items.is_empty() {
        term.say("No runs yet. Begin with: steward ask \"…\"");
    }
    for row in &page.items {
        println!(
            "{}  {}  {:<10} {:>7} tokens  {}",
            row.id,
            row.created_at.rfc3339(),
            state(row),
            row.tokens,
            row.title
        );
    }
    if page.more
        && let Some(last) = page.items.last()
    {
        term.say(&format!("more: steward runs --before {}", last.id));
    }
    Ok(Exit::Done)
}

fn state(row: &RunRow) -> &'static str {
    match (&row.status, &row.outcome) {
        (RunStatus::Running, _) => "running",
        (RunStatus::Parked, _) => "waiting",
        (RunStatus::Finished, Some(Outcome::Completed)) => "completed",
        (RunStatus::Finished, Some(Outcome::Failed { .. })) => "failed",
        (RunStatus::Finished, Some(Outcome::Stopped { .. })) => "stopped",
        (RunStatus::Finished, Some(Outcome::Limited { .. })) => "limited",
        (RunStatus::Finished, Some(Outcome::Rejected)) => "refused",
        (RunStatus::Finished, None) => "finished",
    }
}

async fn show(app: &App, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(app, text).await?;
    if !as_json {
        println!("run {}  {}  {}", row.id, state(&row), row.title);
    }
    let mut after = 0;
    loop {
        let page = app.store.events(app.tenant, row.id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.event.seq;
        for stored in &page {
            let event = &stored.event;
            if as_json {
                println!(
                    "{}",
                    json!({"seq": event.seq, "at": event.at.rfc3339(), "epoch": event.epoch, "body": serde_json::from_str::<serde_json::Value>(&stored.raw).unwrap_or_default()})
                );
            } else if !matches!(event.body, EventBody::ModelDelta { .. }) {
                let raw: String = stored.raw.chars().take(200).collect();
                println!(
                    "{:>4}  {}  {:<19} {}",
                    event.seq,
                    event.at.rfc3339(),
                    event.body.kind(),
                    term.dim(&raw)
                );
            }
        }
    }
    Ok(Exit::Done)
}

async fn undo(app: &App, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(app, text).await?;
    let report = app.runs.undo(row.id, "cli").await?;
    if as_json {
        let lines: Vec<_> = report
            .iter()
            .map(|one| json!({"call_id": one.call_id, "tool": one.tool, "undone": one.result.is_ok(), "detail": one.result.clone().unwrap_or_else(|why| why)}))
            .collect();
        println!("{}", json!(lines));
    } else if report.is_empty() {
        term.say("Nothing to undo: the run changed nothing, or it was undone before.");
    } else {
        for one in &report {
            match &one.result {
                Ok(summary) => term.say(&format!("{} {}: {summary}", term.green("✓"), one.tool)),
                Err(why) => term.say(&format!("{} {}: {why}", term.red("✗"), one.tool)),
            }
        }
    }
    Ok(if report.iter().all(|one| one.result.is_ok()) {
        Exit::Done
    } else {
        Exit::Failed
    })
}
