//! `steward ask`: plan, ask, do, answer.

use super::decide::ask_person;
use super::render::Renderer;
use crate::cli;
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::{Settings, workspace};
use crate::term::Term;
use anyhow::{Context, bail};
use futures::StreamExt;
use serde_json::json;
use std::io::{IsTerminal, Read};
use steward_core::approval::Answer;
use steward_core::event::{Event, EventBody, Mode, Origin, Outcome};
use steward_core::policy::{Grant, GrantScope};
use steward_core::{ApprovalId, RunId};
use steward_engine::{RunService, StartRun};

/// Longest request read from standard input, bytes.
const REQUEST_LIMIT: u64 = 1_000_000;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Ask, term: Term) -> anyhow::Result<Exit> {
    let input = request(&args)?;
    let workspace = workspace(args.workspace.as_deref())?;
    let options = Options {
        web_allow: args.allow.clone(),
    };
    let app = App::open(&settings, options).await?;
    let start = StartRun {
        agent: app.default_agent().await?,
        input,
        conversation: None,
        history: Vec::new(),
        mode: match (args.plan_only, args.dry_run) {
            (true, _) => Mode::PlanOnly,
            (_, true) => Mode::DryRun,
            _ => Mode::Plan,
        },
        origin: Origin::Cli,
        asked_by: "cli".to_owned(),
        workspace: workspace.display().to_string(),
        grants: grants(args.yes),
        connection: app.connection_named(settings.connection.as_deref())?,
        intent_filter: !args.no_intent_filter,
    };
    let run = app.runs.start(start).await?;
    let follow = Follow {
        term,
        verbose: args.verbose,
        json: args.json,
        ask: term.can_ask && !args.json,
    };
    let exit = follow.to_end(&app.runs, run, 0).await?;
    app.close().await;
    Ok(exit)
}

/// What `-y` allows.
pub fn grants(yes: bool) -> Vec<Grant> {
    if yes {
        vec![Grant {
            scope: GrantScope::AllButDestructive,
            until: None,
        }]
    } else {
        Vec::new()
    }
}

fn request(args: &cli::Ask) -> anyhow::Result<String> {
    let joined = args.request.join(" ");
    let piped = joined == "-" || joined.trim().is_empty();
    if !piped {
        return Ok(joined);
    }
    if std::io::stdin().is_terminal() {
        bail!("say what is to be done: steward ask \"…\"");
    }
    let mut text = String::new();
    std::io::stdin()
        .take(REQUEST_LIMIT)
        .read_to_string(&mut text)
        .context("standard input is not text")?;
    Ok(text)
}

/// Follows a run on the terminal.
#[derive(Debug, Clone, Copy)]
pub struct Follow {
    /// The terminal.
    pub term: Term,
    /// More detail.
    pub verbose: bool,
    /// One JSON object at the end instead.
    pub json: bool,
    /// Whether a person can be asked here.
    pub ask: bool,
}

impl Follow {
    /// Until the run ends or waits for someone who is not here. Ctrl-C stops the run.
    pub async fn to_end(self, runs: &RunService, run: RunId, after: u64) -> anyhow::Result<Exit> {
        let mut events = runs.watch(run, after);
        let mut renderer = Renderer::new(self.term, self.verbose);
        let mut log: Vec<Event> = Vec::new();
        let mut stopping = false;
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                signal = tokio::signal::ctrl_c() => {
                    signal?;
                    if stopping {
                        return Ok(Exit::Refused);
                    }
                    stopping = true;
                    self.term.say("stopping… (again to leave at once)");
                    runs.stop(run, "cli").await?;
                    continue;
                }
            };
            let Some(event) = event.transpose()? else {
                bail!("the log of run {run} ended early")
            };
            if !self.json {
                renderer.event(&event);
            }
            match &event.body {
                EventBody::ApprovalRequested {
                    approval_id,
                    subject,
                } => {
                    let answered = self.ask && self.answer(runs, *approval_id, subject).await?;
                    if !answered {
                        return Ok(self.parked(run, *approval_id, &log));
                    }
                }
                EventBody::RunFinished {
                    outcome,
                    answer,
                    composed,
                    ..
                } => {
                    let exit = exit_of(outcome);
                    if self.json {
                        log.push(event.clone());
                        println!("{}", report(run, &log));
                    } else {
                        renderer.finished(outcome, answer, *composed);
                    }
                    return Ok(exit);
                }
                _ => {}
            }
            if !matches!(event.body, EventBody::ModelDelta { .. }) {
                log.push(event);
            }
        }
    }

    async fn answer(
        self,
        runs: &RunService,
        id: ApprovalId,
        subject: &steward_core::approval::Subject,
    ) -> anyhow::Result<bool> {
        let (term, subject) = (self.term, subject.clone());
        let answer: Option<Answer> =
            tokio::task::spawn_blocking(move || ask_person(term, &subject)).await?;
        let Some(answer) = answer else {
            return Ok(false);
        };
        runs.decide(id, answer, "cli").await?;
        Ok(true)
    }

    fn parked(self, run: RunId, id: ApprovalId, log: &[Event]) -> Exit {
        if self.json {
            println!("{}", report(run, log));
        }
        self.term.clear();
        self.term.say(&format!(
            "waits for a person; nothing more was done.\n  steward approvals             what is asked\n  steward approvals approve {id}\n  steward resume {run}"
        ));
        Exit::Waiting
    }
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Completed => Exit::Done,
        Outcome::Failed { .. } | Outcome::Limited { .. } => Exit::Failed,
        Outcome::Stopped { .. } | Outcome::Rejected => Exit::Refused,
    }
}

/// The run as one JSON object.
fn report(run: RunId, log: &[Event]) -> serde_json::Value {
    let mut plan = serde_json::Value::Null;
    let mut steps = Vec::new();
    let mut end = json!({"status": "waiting"});
    for event in log {
        match &event.body {
            EventBody::PlanProposed { candidates, .. } => {
                plan = candidates.first().map_or(json!(null), |best| json!(best));
            }
            EventBody::ToolIntent {
                call_id,
                tool,
                arguments,
                ..
            } => {
                steps.push(json!({"call_id": call_id, "tool": tool, "arguments": arguments}));
            }
            EventBody::ToolResult {
                call_id,
                tool,
                result,
                ms,
            } => {
                let found = steps
                    .iter_mut()
                    .rev()
                    .find(|step| step["call_id"] == json!(call_id));
                match found {
                    Some(step) => {
                        step["result"] = json!(result);
                        step["ms"] = json!(ms);
                    }
                    None => steps.push(json!({"call_id": call_id, "tool": tool, "result": result})),
                }
            }
            EventBody::RunFinished {
                outcome,
                answer,
                composed,
                usage,
            } => {
                end = json!({"outcome": outcome, "answer": answer, "composed": composed, "usage": usage});
            }
            _ => {}
        }
    }
    let mut report = json!({"run": run, "plan": plan, "steps": steps});
    if let (Some(report), Some(end)) = (report.as_object_mut(), end.as_object()) {
        report.extend(end.clone());
    }
    report
}
