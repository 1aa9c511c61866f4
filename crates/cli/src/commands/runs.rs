use super::follow::Follow;
use super::resume::{self, place};
use crate::args::{self, RunAction};
use crate::client::{Client, Fork, encoded};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::RunId;
use steward_core::event::{EventBody, Outcome};
use steward_core::ports::{RunRow, RunStatus};
use steward_core::receipts::Verdict;
use steward_core::run::Difference;

/// `connection` is the value of `--connection`.
pub async fn run(client: &Client, args: &args::Runs, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    match &args.action {
        None => list(client, args, term).await,
        Some(RunAction::Show { run }) => show(client, run, as_json, term).await,
        Some(RunAction::Stop { run }) => stop(client, run, term).await,
        Some(RunAction::Steer { run, text }) => steer(client, run, text, as_json, term).await,
        Some(RunAction::Undo { run, call }) => undo(client, run, call.as_deref(), as_json, term).await,
        Some(RunAction::Resume { run }) => resume::run(client, run.as_deref(), term).await,
        Some(RunAction::Fork { run, at, input, yes }) => {
            let wanted = Branch { at: *at, input: input.clone(), connection, yes: *yes, json: as_json };
            fork(client, run, wanted, term).await
        }
        Some(RunAction::Replay { run }) => replay(client, run, as_json, term).await,
        Some(RunAction::Keep { run, name }) => keep(client, run, name, term).await,
        Some(RunAction::Kept) => list_kept(client, as_json, term).await,
        Some(RunAction::Unkeep { name }) => unkeep(client, name, term).await,
    }
}

async fn list(client: &Client, args: &args::Runs, term: Term) -> anyhow::Result<Exit> {
    let before = args
        .before
        .as_deref()
        .map(|text| text.parse::<RunId>().with_context(|| format!("`{text}` is not a run id")))
        .transpose()?;
    let (rows, more) = client.runs(None, before, args.limit).await?;
    if args.json {
        println!("{}", json!({"runs": rows, "more": more}));
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        term.say("No runs yet. Begin with: steward ask \"…\"");
    }
    for row in &rows {
        println!(
            "{}  {}  {:<10} {:<10} {:>7} tokens  {}",
            row.id,
            row.created_at.rfc3339(),
            state(row),
            verdict(row),
            row.tokens,
            row.title
        );
    }
    if more && let Some(last) = rows.last() {
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

/// Whether its claims are proved; empty if there are none.
fn verdict(row: &RunRow) -> &'static str {
    match row.verdict {
        Some(Verdict::Verified) => "verified",
        Some(Verdict::Unverified) => "unverified",
        Some(Verdict::NoClaims) | None => "",
    }
}

/// Longest body shown in a line, characters.
const SHOWN: usize = 200;

async fn show(client: &Client, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
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

/// Longest wait for a stopped run to end; a lease left by a crash expires earlier.
const LIMIT: Duration = Duration::from_secs(30);

async fn stop(client: &Client, text: &str, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    if row.status == RunStatus::Finished {
        term.say(&format!("run {} has ended already", row.id));
        return Ok(Exit::Done);
    }
    let mut events = client.events(row.id, row.last_seq);
    client.stop(row.id).await?;
    let ended = tokio::time::timeout(LIMIT, async {
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
            LIMIT.as_secs()
        ),
    }
    Ok(term.done(&format!("stopped {}", row.id)))
}

async fn steer(client: &Client, run: &str, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(run).await?;
    if row.status == RunStatus::Finished {
        bail!("run {} has ended; begin another, or fork it: steward runs fork {}", row.id, row.id);
    }
    client.steer(row.id, text).await?;
    Follow::plain(term, as_json).to_end(client, row.id, place(&row)).await
}

async fn undo(client: &Client, text: &str, call: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    let report = client.undo(row.id, call).await?;
    if as_json {
        println!("{}", json!(report));
    } else if report.is_empty() {
        term.say("Nothing to undo: the run changed nothing, or it was undone before.");
    } else {
        for one in &report {
            let mark = if one.undone { term.green("✓") } else { term.red("✗") };
            term.say(&format!("{mark} {}: {}", one.tool, one.detail));
        }
    }
    Ok(if report.iter().all(|one| one.undone) { Exit::Done } else { Exit::Failed })
}

struct Branch<'a> {
    /// Last event to take over.
    at: Option<u64>,
    input: Option<String>,
    /// Replaces the connection; a name.
    connection: Option<&'a str>,
    yes: bool,
    json: bool,
}

async fn fork(client: &Client, text: &str, wanted: Branch<'_>, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    let fork =
        Fork { seq: wanted.at, connection: client.connection_named(wanted.connection).await?, input: wanted.input };
    let run = client.fork(row.id, &fork).await?;
    term.say(&term.dim(&format!("run {run}, forked from {}", row.id)));
    let follow = Follow { yes: wanted.yes, ..Follow::plain(term, wanted.json) };
    follow.to_end(client, run, 0).await
}

async fn replay(client: &Client, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    let report = client.replay(row.id).await?;
    if as_json {
        println!(
            "{}",
            json!({"run_id": row.id, "same": report.same, "events": report.events, "decisions": report.decisions, "differences": report.differences})
        );
    } else if report.same {
        println!("{} the same: {} decisions of {} events", term.green("✓"), report.decisions, report.events);
    } else {
        println!("{} differs in {} of {} decisions", term.red("✗"), report.differences.len(), report.decisions);
        print_differences(term, &report.differences);
    }
    Ok(if report.same { Exit::Done } else { Exit::Failed })
}

pub(super) fn print_differences(term: Term, differences: &[Difference]) {
    for one in differences {
        println!("  event {}", one.seq);
        println!("    {}", term.red(&format!("then  {}", one.recorded)));
        println!("    {}", term.green(&format!("now   {}", one.now)));
    }
}

async fn keep(client: &Client, run: &str, name: &str, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(run).await?;
    client.post::<Value>(&format!("/api/runs/{}/keep", row.id), &json!({"name": name})).await?;
    Ok(term.done(&format!("kept as `{}`; replay all kept runs with: steward eval kept", name.trim())))
}

async fn list_kept(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let kept = client.kept().await?;
    if term.listed(&kept, as_json, "No runs are kept. Keep one with: steward runs keep RUN NAME") {
        return Ok(Exit::Done);
    }
    for one in &kept {
        println!("{:<24} {}  {}  {}", one.name, one.run, one.created_at.rfc3339(), term.dim(&one.by));
    }
    Ok(Exit::Done)
}

async fn unkeep(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    client.delete(&format!("/api/kept/{}", encoded(name))).await?;
    Ok(term.done(&format!("`{name}` is not kept any more; its run stays")))
}

/// `steward eval kept`: whether this program still decides as it did.
pub async fn eval_kept(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let reports = client.replay_kept().await?;
    let same = reports.iter().filter(|one| one.same).count();
    if as_json {
        println!("{}", json!({"kept": reports.len(), "same": same, "results": reports}));
    } else if reports.is_empty() {
        term.say("No runs are kept. Keep one with: steward runs keep RUN NAME");
    } else {
        for one in &reports {
            let mark = if one.same { term.green("✓") } else { term.red("✗") };
            println!("{mark} {}  {}", one.name, term.dim(&one.run_id.to_string()));
            print_differences(term, &one.differences);
        }
        println!("{} kept, {same} the same", reports.len());
    }
    Ok(if same == reports.len() { Exit::Done } else { Exit::Failed })
}
