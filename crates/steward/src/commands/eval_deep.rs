//! `steward eval deep`: what planning while working changes. Each request runs with it and without.

use crate::cli::{DeepEval, Planning};
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::{Context, bail};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::time::{Duration, Instant};
use steward_core::deep::StepEnd;
use steward_core::event::{EventBody, Mode, Origin, Outcome, ToolResult};
use steward_core::policy::{Grant, GrantScope};
use steward_core::receipts::Verdict;
use steward_engine::StartRun;

/// Longest one run may take.
const LIMIT: Duration = Duration::from_mins(3);

/// One request of the file.
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

/// What became of it.
#[derive(Debug, Clone, Default, Serialize)]
struct Finding {
    id: String,
    planning: bool,
    /// Whether everything was there that should be.
    reached: bool,
    /// Steps of the last plan.
    steps: usize,
    done: usize,
    failed: usize,
    skipped: usize,
    replans: usize,
    /// The model wanted to end although steps were open.
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

/// Sums of one mode.
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

/// Runs the command.
pub async fn run(mut settings: Settings, request: DeepEval, term: Term) -> anyhow::Result<Exit> {
    let mut cases = read(&request.file)?;
    cases.truncate(request.limit.unwrap_or(usize::MAX));
    let scratch = tempfile::tempdir().context("cannot make a folder for the evaluation")?;
    settings.data_dir = scratch.path().join("data");
    settings.database = None;
    let app = App::open(&settings, Options::default()).await?;
    let modes: &[bool] = match request.planning {
        Planning::On => &[true],
        Planning::Off => &[false],
        Planning::Both => &[true, false],
    };
    let mut findings = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        for planning in modes {
            term.status(&format!("{}/{} {}", index + 1, cases.len(), case.ask));
            let place = scratch.path().join(format!("work-{index}-{planning}"));
            lay_out(&place, &case.have)?;
            let finding = one(&app, &settings, case, &place, *planning).await;
            if !request.json {
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
    if request.json {
        println!("{}", json!({"sums": sums, "results": findings}));
    } else {
        for (name, sums) in &sums {
            println!("planning {name}: {}", serde_json::to_string(sums)?);
        }
    }
    app.close().await;
    Ok(Exit::Done)
}

fn read(file: &Path) -> anyhow::Result<Vec<Case>> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read the requests of {}", file.display()))?;
    let cases = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| {
                format!(
                    "{} line {}: want {{\"id\", \"ask\", \"have\": {{…}}, \"files\": {{…}}}}",
                    file.display(),
                    number + 1
                )
            })
        })
        .collect::<anyhow::Result<Vec<Case>>>()?;
    if cases.is_empty() {
        bail!("{} has no requests", file.display());
    }
    Ok(cases)
}

fn lay_out(place: &Path, files: &BTreeMap<String, String>) -> anyhow::Result<()> {
    std::fs::create_dir_all(place)?;
    for (name, text) in files {
        let path = place.join(name);
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            bail!("`{name}` is not a path inside of the workspace");
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

async fn one(app: &App, settings: &Settings, case: &Case, place: &Path, planning: bool) -> Finding {
    let begun = Instant::now();
    let mut finding = Finding { id: case.id.clone(), planning, ..Finding::default() };
    let followed = follow(app, settings, case, place, &mut finding);
    match tokio::time::timeout(LIMIT, followed).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => finding.error = Some(format!("{error:#}")),
        Err(_) => finding.error = Some(format!("no end after {} s", LIMIT.as_secs())),
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
    app: &App,
    settings: &Settings,
    case: &Case,
    place: &Path,
    finding: &mut Finding,
) -> anyhow::Result<()> {
    let mut agent = app.default_agent().await?;
    agent.deep.enabled = Some(finding.planning);
    let run = app
        .runs
        .start(StartRun {
            agent,
            input: case.ask.clone(),
            conversation: None,
            history: Vec::new(),
            mode: Mode::Loop,
            origin: Origin::Cli,
            asked_by: "eval".to_owned(),
            workspace: place.canonicalize()?.display().to_string(),
            grants: vec![Grant { scope: GrantScope::AllButDestructive, until: None }],
            connection: app.connection_named(settings.connection.as_deref())?,
            intent_filter: true,
            user: None,
            key: None,
        })
        .await?;
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
