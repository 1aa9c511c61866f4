use super::follow::Follow;
use super::resume::{self, place};
use super::rows::{find_run, items, object, text};
use crate::client::{Client, Started, encoded};
use crate::options::Actions;
use crate::term::{Exit, Term, print_json};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::event::{EventBody, Outcome};
use steward_core::ports::{RunRow, RunStatus};
use steward_core::receipts::Verdict;
use steward_core::{RunId, Timestamp};

/// List runs; show, stop, undo, fork, replay or keep one.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward runs --json\n  steward runs show 3f2a\n  steward runs undo 3f2a\n  steward --connection big runs fork 3f2a\n  steward runs replay 3f2a\n  steward runs keep 3f2a \"weekly report\""
)]
pub struct Runs {
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Only older than this run.
    #[arg(long, value_name = "RUN")]
    before: Option<String>,
    #[command(flatten)]
    actions: Actions<RunAction>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum RunAction {
    /// Show a run's log.
    Show {
        /// Its id, or the beginning of it.
        run: String,
    },
    /// Stop a run.
    Stop {
        /// Its id, or the beginning of it.
        run: String,
    },
    /// Say something to a run that has not ended; it takes it in at its next step.
    Steer {
        /// Its id, or the beginning of it.
        run: String,
        /// What to say.
        text: String,
    },
    /// Take back what a run did, newest first.
    Undo {
        /// Its id, or the beginning of it.
        run: String,
        /// Only this call of it (see `steward runs show`).
        #[arg(long, value_name = "ID")]
        call: Option<String>,
    },
    /// Go on with an interrupted run; without an id with all of them.
    Resume {
        /// Its id, or the beginning of it.
        run: Option<String>,
    },
    Fork(Fork),
    /// Decide a run again from its log, without models and tools; exit 1 if something differs.
    #[command(after_help = "Examples:\n  steward runs replay 3f2a\n  steward runs replay 3f2a --json")]
    Replay {
        /// Its id, or the beginning of it.
        run: String,
    },
    /// Keep an ended run as a test for `steward eval kept`.
    #[command(after_help = "Examples:\n  steward runs keep 3f2a \"weekly report\"")]
    Keep {
        /// Its id, or the beginning of it.
        run: String,
        /// A name for it.
        name: String,
    },
    /// Runs kept as tests.
    Kept,
    /// Let go of a kept run; the run itself stays.
    Unkeep {
        /// The name it is kept under.
        name: String,
    },
}

/// Branch off where a model was asked; --connection takes another model. What the run did before is not done again.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward runs fork 3f2a\n  steward --connection big runs fork 3f2a --at 12\n  steward runs fork 3f2a --input \"the same in French\""
)]
pub struct Fork {
    /// Its id, or the beginning of it.
    run: String,
    /// Last event to take over [default: before the first question to a model].
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Another request; only at the first place.
    #[arg(long, value_name = "TEXT")]
    input: Option<String>,
    /// Go ahead without asking, except for what can't be undone.
    #[arg(short = 'y', long)]
    yes: bool,
}

/// `connection` is the value of `--connection`.
pub async fn run(client: &Client, args: Runs, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.actions.json);
    match args.actions.action {
        None => list(client, &args, term).await,
        Some(RunAction::Show { run }) => show(client, &run, term).await,
        Some(RunAction::Stop { run }) => stop(client, &run, term).await,
        Some(RunAction::Steer { run, text }) => steer(client, &run, &text, term).await,
        Some(RunAction::Undo { run, call }) => undo(client, &run, call.as_deref(), term).await,
        Some(RunAction::Resume { run }) => resume::run(client, run.as_deref(), term.with_json(false)).await,
        Some(RunAction::Fork(wanted)) => fork(client, wanted, connection, term).await,
        Some(RunAction::Replay { run }) => replay(client, &run, term).await,
        Some(RunAction::Keep { run, name }) => keep(client, &run, &name, term).await,
        Some(RunAction::Kept) => list_kept(client, term).await,
        Some(RunAction::Unkeep { name }) => {
            client.delete(&format!("/api/kept/{}", encoded(&name))).await?;
            Ok(term.done(&format!("`{name}` is not kept any more; its run stays")))
        }
    }
}

async fn list(client: &Client, args: &Runs, term: Term) -> anyhow::Result<Exit> {
    let mut before: Option<RunId> = None;
    if let Some(text) = &args.before {
        before = Some(text.parse().with_context(|| format!("`{text}` is not a run id"))?);
    }
    let (rows, more) = client.runs(None, before, args.limit).await?;
    Ok(term.shown(&json!({"runs": rows, "more": more}), || {
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
    }))
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

#[derive(Serialize, Deserialize)]
struct KeptRun {
    name: String,
    #[serde(rename(deserialize = "run_id"))]
    run: RunId,
    by: String,
    created_at: Timestamp,
}

/// Longest body shown in a line, characters.
const SHOWN: usize = 200;

async fn show(client: &Client, run: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(client, run).await?;
    if !term.json {
        println!("run {}  {} {}  {}", row.id, state(&row), verdict(&row), row.title);
        if let Some(from) = row.forked_from {
            println!("forked from {from}");
        }
    }
    let mut after = 0;
    loop {
        let page = client.log(row.id, after).await?;
        let Some((last, _)) = page.last() else { break };
        after = last.seq;
        for (event, raw) in &page {
            let (seq, at) = (event.seq, event.at.rfc3339());
            if term.json {
                print_json(&json!({"seq": seq, "at": at, "epoch": event.epoch, "body": raw}));
            } else if !matches!(event.body, EventBody::ModelDelta { .. }) {
                let body: String = raw.to_string().chars().take(SHOWN).collect();
                println!("{seq:>4}  {at}  {:<19} {}", text(raw, "type"), term.dim(&body));
            }
        }
    }
    Ok(Exit::Done)
}

/// Longest wait for a stopped run to end; a lease left by a crash expires earlier.
const LIMIT: Duration = Duration::from_secs(30);

async fn stop(client: &Client, text: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(client, text).await?;
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

async fn steer(client: &Client, run: &str, text: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(client, run).await?;
    if row.status == RunStatus::Finished {
        bail!("run {} has ended; begin another, or fork it: steward runs fork {}", row.id, row.id);
    }
    client.post::<Value>(&format!("/api/runs/{}/steer", row.id), &json!({"text": text})).await?;
    Follow::plain(term).to_end(client, row.id, place(&row)).await
}

async fn undo(client: &Client, run: &str, call: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(client, run).await?;
    let body = object([("call_id", call.map(Value::from))]);
    let undone: Value = client.post(&format!("/api/runs/{}/undo", row.id), &Value::Object(body)).await?;
    let report = items(&undone, "items");
    term.listed(report, "Nothing to undo: the run changed nothing, or it was undone before.", |one| {
        let mark = term.mark(one["undone"] == true);
        term.say(&format!("{mark} {}: {}", text(one, "tool"), text(one, "detail")));
    });
    Ok(if report.iter().all(|one| one["undone"] == true) { Exit::Done } else { Exit::Failed })
}

async fn fork(client: &Client, wanted: Fork, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(client, &wanted.run).await?;
    let connection = client.connection_named(connection).await?;
    let body = object([
        ("seq", wanted.at.map(Value::from)),
        ("connection_id", connection.map(|id| json!(id))),
        ("input", wanted.input.map(Value::from)),
    ]);
    let Started { run, .. } = client.post(&format!("/api/runs/{}/fork", row.id), &Value::Object(body)).await?;
    term.note(&format!("run {run}, forked from {}", row.id));
    Follow { yes: wanted.yes, ..Follow::plain(term) }.to_end(client, run, 0).await
}

async fn replay(client: &Client, run: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(client, run).await?;
    let report: Value = client.act(&format!("/api/runs/{}/replay", row.id)).await?;
    let (same, decisions) = (report["same"] == true, &report["decisions"]);
    term.shown(&report, || {
        if same {
            println!("{} the same: {decisions} decisions of {} events", term.mark(same), report["events"]);
        } else {
            println!("{} differs in {} of {decisions} decisions", term.mark(same), items(&report, "differences").len());
            print_differences(term, &report);
        }
    });
    Ok(if same { Exit::Done } else { Exit::Failed })
}

/// What a replayed run decides otherwise than it did.
pub(super) fn print_differences(term: Term, report: &Value) {
    for one in items(report, "differences") {
        println!("  event {}", one["seq"]);
        println!("    {}", term.red(&format!("then  {}", text(one, "recorded"))));
        println!("    {}", term.green(&format!("now   {}", text(one, "now"))));
    }
}

async fn keep(client: &Client, run: &str, name: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find_run(client, run).await?;
    client.post::<Value>(&format!("/api/runs/{}/keep", row.id), &json!({"name": name})).await?;
    Ok(term.done(&format!("kept as `{}`; replay all kept runs with: steward eval kept", name.trim())))
}

async fn list_kept(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let kept: Vec<KeptRun> = client.all("/api/kept").await?;
    Ok(term.listed(&kept, "No runs are kept. Keep one with: steward runs keep RUN NAME", |one| {
        println!("{:<24} {}  {}  {}", one.name, one.run, one.created_at.rfc3339(), term.dim(&one.by));
    }))
}
