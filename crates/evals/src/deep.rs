//! `steward-evals deep`: the effect of planning while working. Each request runs with it and without.

use crate::cli::{Deep, Planning};
use crate::requests::{self, Contents};
use anyhow::{Context, bail};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::time::{Duration, Instant};
use steward::compose::{Composition, Options};
use steward::settings::Settings;
use steward::term::{Exit, Term};
use steward_core::ConnectionId;
use steward_core::deep::StepEnd;
use steward_core::event::{EventBody, Mode, Outcome, ToolResult};
use steward_core::ports::{ManagedConnections as _, TypedKey};
use steward_core::receipts::Verdict;
use steward_testkit::Workspace;

const LIMIT: Duration = Duration::from_mins(3);

#[derive(Debug, Clone, Deserialize)]
struct Case {
    id: String,
    ask: String,
    #[serde(default)]
    have: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    says: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Finding {
    id: String,
    planning: bool,
    /// Whether everything expected was there.
    reached: bool,
    /// Steps of the last plan.
    steps: usize,
    done: usize,
    failed: usize,
    skipped: usize,
    replans: usize,
    /// How often the model wanted to end although steps were open.
    reminded: usize,
    model_calls: usize,
    tool_calls: usize,
    tokens: u64,
    /// The answer claims an action that nothing proves.
    false_completion: bool,
    answer: String,
    ms: u128,
    error: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Sums {
    cases: usize,
    reached: usize,
    steps: usize,
    done: usize,
    failed: usize,
    skipped: usize,
    replans: usize,
    reminded: usize,
    false_completions: usize,
    model_calls: usize,
    tool_calls: usize,
    tokens: u64,
}

const CONTENTS: Contents =
    Contents {
        what: "requests", line: "{\"id\", \"ask\", \"have\": {…}, \"files\": {…}}", none: "has no requests"
    };

pub async fn run(settings: Settings, args: Deep, term: Term) -> anyhow::Result<Exit> {
    let cases: Vec<(usize, Case)> = requests::read(&args.file, &CONTENTS)?;
    let count = cases.len().min(args.limit.unwrap_or(usize::MAX));
    let scratch = tempfile::tempdir().context("cannot make a folder for the evaluation")?;
    let settings = requests::apart(settings, scratch.path());
    let app = Composition::open(&settings, Options::default()).await?;
    if args.weak {
        use_as_weak(&app, &settings).await?;
    }
    let modes: &[bool] = match args.planning {
        Planning::On => &[true],
        Planning::Off => &[false],
        Planning::Both => &[true, false],
    };
    let mut findings = Vec::new();
    for (index, (_, case)) in cases.iter().take(count).enumerate() {
        for planning in modes {
            term.status(&format!("{}/{count} {}", index + 1, case.ask));
            let place = laid_out(&case.have)?;
            let finding = Box::pin(one(&app, &settings, case, place.path(), *planning)).await;
            if !args.json {
                term.clear();
                print_line(term, case, &finding);
            }
            findings.push(finding);
        }
    }
    term.clear();
    let sums: BTreeMap<&str, Sums> = modes
        .iter()
        .map(|planning| {
            let name = if *planning { "on" } else { "off" };
            (name, sum(&findings, *planning))
        })
        .collect();
    if args.json {
        println!("{}", json!({"sums": sums, "results": findings}));
    } else {
        for (name, sums) in &sums {
            println!("planning {name}: {}", serde_json::to_string(sums)?);
        }
    }
    app.close().await;
    Ok(Exit::Done)
}

/// From now on the chosen connection leads to a model that an exam graded below C.
async fn use_as_weak(app: &Composition, settings: &Settings) -> anyhow::Result<()> {
    let name = settings.connection.as_deref().context("say which connection with --connection")?;
    let mut connection = app.connections.named(name)?.connection;
    // One of one's own takes the place of one that was found.
    connection.id = ConnectionId::default();
    connection.capabilities.trusted = false;
    Ok(app.connections.save(connection, TypedKey::default()).await?)
}

fn laid_out(files: &BTreeMap<String, String>) -> anyhow::Result<Workspace> {
    let place = Workspace::empty()?;
    for (name, text) in files {
        if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
            bail!("`{name}` is not a path inside of the workspace");
        }
        place.write(name, text)?;
    }
    Ok(place)
}

async fn one(app: &Composition, settings: &Settings, case: &Case, place: &Path, planning: bool) -> Finding {
    let begun = Instant::now();
    let mut finding = Finding { id: case.id.clone(), planning, ..Finding::default() };
    let followed = follow(app, settings, case, place, &mut finding);
    if let Some(problem) = Box::pin(requests::problem(LIMIT, followed)).await {
        finding.error = Some(problem);
    }
    let there = case
        .files
        .iter()
        .all(|(name, part)| std::fs::read_to_string(place.join(name)).is_ok_and(|text| text.contains(part.as_str())));
    finding.reached = there && case.says.iter().all(|part| finding.answer.contains(part));
    finding.ms = begun.elapsed().as_millis();
    finding
}

async fn follow(
    app: &Composition,
    settings: &Settings,
    case: &Case,
    place: &Path,
    finding: &mut Finding,
) -> anyhow::Result<()> {
    let mut start = requests::request(app, settings, &case.ask, place).await?;
    start.mode = Mode::Loop;
    start.agent.deep.enabled = Some(finding.planning);
    let run = app.runs.start(start).await?;
    let mut events = app.runs.watch(run, 0);
    while let Some(event) = events.next().await {
        let body = event?.body;
        count(finding, &body);
        match body {
            EventBody::ApprovalRequested { subject, .. } => {
                app.runs.stop(run, "eval").await?;
                finding.error = Some(format!("asked a person: {subject:?}"));
            }
            EventBody::RunFinished { outcome, answer, receipts, .. } => {
                finding.false_completion = receipts.is_some_and(|receipts| receipts.verdict == Verdict::Unverified);
                finding.answer = answer;
                if let Outcome::Failed { message } = outcome {
                    finding.error = Some(message);
                }
                return Ok(());
            }
            _ => {}
        }
    }
    bail!("the log ended early")
}

fn count(finding: &mut Finding, body: &EventBody) {
    match body {
        EventBody::DeepPlanned { steps, .. } => finding.steps = steps.len(),
        EventBody::DeepReplanned { steps, .. } => {
            finding.replans += 1;
            finding.steps = steps.len();
        }
        EventBody::DeepStepEnded { status, .. } => match status {
            StepEnd::Done => finding.done += 1,
            StepEnd::Failed => finding.failed += 1,
            StepEnd::Skipped => finding.skipped += 1,
        },
        EventBody::DeepReminded { .. } => finding.reminded += 1,
        EventBody::ModelResponded { usage, .. } => {
            finding.model_calls += 1;
            finding.tokens += usage.prompt_tokens + usage.completion_tokens;
        }
        EventBody::ToolResult { result: ToolResult::Ok { .. }, .. } => finding.tool_calls += 1,
        _ => {}
    }
}

fn sum(findings: &[Finding], planning: bool) -> Sums {
    let mut sums = Sums::default();
    for finding in findings.iter().filter(|one| one.planning == planning) {
        sums.cases += 1;
        sums.reached += usize::from(finding.reached);
        sums.steps += finding.steps;
        sums.done += finding.done;
        sums.failed += finding.failed;
        sums.skipped += finding.skipped;
        sums.replans += finding.replans;
        sums.reminded += finding.reminded;
        sums.false_completions += usize::from(finding.false_completion);
        sums.model_calls += finding.model_calls;
        sums.tool_calls += finding.tool_calls;
        sums.tokens += finding.tokens;
    }
    sums
}

fn print_line(term: Term, case: &Case, finding: &Finding) {
    let mark = if finding.reached { term.green("✓") } else { term.red("✗") };
    println!(
        "{} {:<3} {mark} {} steps, {} done, {} replans, {} model calls, {} ms  {}{}{}",
        case.id,
        if finding.planning { "on" } else { "off" },
        finding.steps,
        finding.done,
        finding.replans,
        finding.model_calls,
        finding.ms,
        case.ask.replace('\n', " "),
        if finding.false_completion { "  [claims what is not proved]" } else { "" },
        finding.error.as_ref().map(|error| format!("  [{error}]")).unwrap_or_default(),
    );
}
