//! `steward eval asks`: is the first call right, and is what was looked for in a result?

use super::pages;
use crate::cli::Suite;
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::{Context, bail};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use steward_core::event::{EventBody, Mode, Origin, Outcome, ToolResult};
use steward_core::policy::{Grant, GrantScope};
use steward_engine::StartRun;

/// Longest one request may take.
const LIMIT: Duration = Duration::from_mins(2);

/// One request of the file.
#[derive(Debug, Clone, Deserialize)]
struct Case {
    id: String,
    ask: String,
    tools: Vec<String>,
    observe: String,
}

/// What became of it.
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

struct Request {
    file: PathBuf,
    workspace: PathBuf,
    json: bool,
    intent_filter: bool,
    pages_port: u16,
    limit: Option<usize>,
}

/// Runs the command.
pub async fn run(settings: Settings, suite: Suite, term: Term) -> anyhow::Result<Exit> {
    let (file, workspace, json, no_intent_filter, pages_port, limit) = match suite {
        Suite::Bfcl(args) => return super::bfcl::run(settings, args, term).await,
        Suite::Deep(request) => return super::eval_deep::run(settings, request, term).await,
        Suite::Answers { file, json } => return super::eval_answers::run(&file, json),
        Suite::Kept { json } => return super::eval_kept::run(settings, json, term).await,
        Suite::Asks { file, workspace, json, no_intent_filter, pages_port, limit } => {
            (file, workspace, json, no_intent_filter, pages_port, limit)
        }
    };
    let request = Request { file, workspace, json, intent_filter: !no_intent_filter, pages_port, limit };
    asks(settings, request, term).await
}

async fn asks(mut settings: Settings, request: Request, term: Term) -> anyhow::Result<Exit> {
    let mut cases = read(&request.file)?;
    cases.truncate(request.limit.unwrap_or(usize::MAX));
    let source = crate::settings::workspace(Some(&request.workspace))?;
    let scratch = tempfile::tempdir().context("cannot make a folder for the evaluation")?;
    settings.data_dir = scratch.path().join("data");
    settings.database = None;
    let shown = scratch.path().join("pages");
    copy(&source, &shown)?;
    let _pages = pages::serve(shown.canonicalize()?, request.pages_port).await?;
    let options = Options { web_allow: vec![format!("127.0.0.1:{}", request.pages_port)] };
    let app = App::open(&settings, options).await?;
    let mut findings = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        term.status(&format!("{}/{} {}", index + 1, cases.len(), case.ask));
        // Each request finds the workspace as it was: what one writes, the next must not see.
        let place = scratch.path().join(format!("work-{index}"));
        copy(&source, &place)?;
        let finding = one(&app, &settings, case, &place, request.intent_filter).await;
        let _ = std::fs::remove_dir_all(&place);
        if !request.json {
            term.clear();
            print_line(term, case, &finding);
        }
        findings.push(finding);
    }
    term.clear();
    let right = findings.iter().filter(|finding| finding.right_tool).count();
    let observed = findings.iter().filter(|finding| finding.observed).count();
    if request.json {
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

fn read(file: &Path) -> anyhow::Result<Vec<Case>> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read the requests of {}", file.display()))?;
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        cases.push(serde_json::from_str(line).with_context(|| {
            format!("{} line {}: want {{\"id\", \"ask\", \"tools\": […], \"observe\"}}", file.display(), number + 1)
        })?);
    }
    if cases.is_empty() {
        bail!("{} has no requests", file.display());
    }
    Ok(cases)
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

async fn one(app: &App, settings: &Settings, case: &Case, workspace: &Path, intent_filter: bool) -> Finding {
    let begun = Instant::now();
    let mut finding = Finding { id: case.id.clone(), ..Finding::default() };
    let followed =
        tokio::time::timeout(LIMIT, follow(app, settings, case, workspace, intent_filter, &mut finding)).await;
    match followed {
        Ok(Ok(())) => {}
        Ok(Err(error)) => finding.error = Some(format!("{error:#}")),
        Err(_) => finding.error = Some(format!("no end after {} s", LIMIT.as_secs())),
    }
    finding.ms = begun.elapsed().as_millis();
    finding
}

async fn follow(
    app: &App,
    settings: &Settings,
    case: &Case,
    workspace: &Path,
    intent_filter: bool,
    finding: &mut Finding,
) -> anyhow::Result<()> {
    let run = app
        .runs
        .start(StartRun {
            agent: app.default_agent().await?,
            input: case.ask.clone(),
            conversation: None,
            history: Vec::new(),
            mode: Mode::Plan,
            origin: Origin::Cli,
            asked_by: "eval".to_owned(),
            workspace: workspace.canonicalize()?.display().to_string(),
            grants: vec![Grant { scope: GrantScope::AllButDestructive, until: None }],
            connection: app.connection_named(settings.connection.as_deref())?,
            intent_filter,
            user: None,
            key: None,
        })
        .await?;
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
