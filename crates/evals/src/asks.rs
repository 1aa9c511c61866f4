//! `steward-evals asks`: whether the first call is right, and a result holds what was asked for.

use crate::cli::Asks;
use crate::pages;
use crate::requests::{self, Contents};
use anyhow::{Context, bail};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use steward::compose::{Composition, Options};
use steward::settings::Settings;
use steward::term::{Exit, Term};
use steward_core::event::{EventBody, Outcome, ToolResult};
use steward_engine::StartRun;
use steward_testkit::Workspace;

const LIMIT: Duration = Duration::from_mins(2);

#[derive(Debug, Clone, Deserialize)]
struct Case {
    id: String,
    ask: String,
    tools: Vec<String>,
    observe: String,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Finding {
    id: String,
    tool: Option<String>,
    arguments: Option<Value>,
    right_tool: bool,
    observed: bool,
    ms: u128,
    error: Option<String>,
}

const CONTENTS: Contents =
    Contents { what: "requests", line: "{\"id\", \"ask\", \"tools\": […], \"observe\"}", none: "has no requests" };

pub async fn run(settings: Settings, args: Asks, term: Term) -> anyhow::Result<Exit> {
    let cases: Vec<(usize, Case)> = requests::read(&args.file, &CONTENTS)?;
    let count = cases.len().min(args.limit.unwrap_or(usize::MAX));
    let source = steward_cli::client::workspace(Some(&args.workspace))?;
    let scratch = tempfile::tempdir().context("cannot make a folder for the evaluation")?;
    let settings = requests::apart(settings, scratch.path());
    let shown = Workspace::copy_of(&source)?;
    let _pages = pages::serve(shown.path().canonicalize()?, args.pages_port).await?;
    let web_allow = Some(vec![format!("127.0.0.1:{}", args.pages_port)]);
    let options = Options { web_allow, ..Options::default() };
    let app = Composition::open(&settings, options).await?;
    let mut findings = Vec::new();
    for (index, (_, case)) in cases.iter().take(count).enumerate() {
        term.status(&format!("{}/{count} {}", index + 1, case.ask));
        // Each request starts with the original workspace, so that it does not see what another one wrote.
        let place = Workspace::copy_of(&source)?;
        let finding = Box::pin(one(&app, &settings, case, place.path(), !args.no_intent_filter)).await;
        if !args.json {
            term.clear();
            print_line(term, case, &finding);
        }
        findings.push(finding);
    }
    term.clear();
    let right = findings.iter().filter(|finding| finding.right_tool).count();
    let observed = findings.iter().filter(|finding| finding.observed).count();
    if args.json {
        println!(
            "{}",
            json!({"cases": findings.len(), "right_tool": right, "observed": observed, "results": findings})
        );
    } else {
        println!("{} cases, right tool {right}, observed {observed}", findings.len());
    }
    app.close().await;
    Ok(Exit::Done)
}

async fn one(app: &Composition, settings: &Settings, case: &Case, workspace: &Path, intent_filter: bool) -> Finding {
    let begun = Instant::now();
    let mut finding = Finding { id: case.id.clone(), ..Finding::default() };
    let followed = follow(app, settings, case, workspace, intent_filter, &mut finding);
    if let Some(problem) = Box::pin(requests::problem(LIMIT, followed)).await {
        finding.error = Some(problem);
    }
    finding.ms = begun.elapsed().as_millis();
    finding
}

async fn follow(
    app: &Composition,
    settings: &Settings,
    case: &Case,
    workspace: &Path,
    intent_filter: bool,
    finding: &mut Finding,
) -> anyhow::Result<()> {
    let start = requests::request(app, settings, &case.ask, workspace).await?;
    let run = app.runs.start(StartRun { intent_filter, ..start }).await?;
    let mut events = app.runs.watch(run, 0);
    while let Some(event) = events.next().await {
        match event?.body {
            // An intent follows the validation of its arguments; a rejected call has none.
            EventBody::ToolIntent { tool, arguments, .. } if finding.tool.is_none() => {
                finding.right_tool = case.tools.contains(&tool) && finding.error.is_none();
                finding.tool = Some(tool);
                finding.arguments = Some(arguments);
            }
            EventBody::ToolRejected { tool, message, .. } => {
                finding.error = Some(message);
                finding.tool.get_or_insert(tool);
            }
            EventBody::ToolResult { result: ToolResult::Ok { content, .. }, .. } => {
                finding.observed |= content.contains(&case.observe);
            }
            EventBody::ToolResult { result: ToolResult::Error { message, .. }, .. } => {
                finding.error = Some(message);
            }
            EventBody::ApprovalRequested { subject, .. } => {
                app.runs.stop(run, "eval").await?;
                finding.error = Some(format!("asked a person: {subject:?}"));
            }
            EventBody::RunFinished { outcome, .. } => {
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

fn print_line(term: Term, case: &Case, finding: &Finding) {
    let mark = |good: bool| {
        if good { term.green("✓") } else { term.red("✗") }
    };
    println!(
        "{} {} {}  {:<14} {:>5} ms  {}  {}{}",
        case.id,
        mark(finding.right_tool),
        mark(finding.observed),
        finding.tool.as_deref().unwrap_or("-"),
        finding.ms,
        case.ask,
        finding.arguments.as_ref().map(Value::to_string).unwrap_or_default(),
        finding.error.as_ref().map(|error| format!("  [{error}]")).unwrap_or_default(),
    );
}
