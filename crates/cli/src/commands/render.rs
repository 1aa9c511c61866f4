use super::plan_steps::PlanSteps;
use crate::term::{Term, print_piece, print_text};
use serde_json::Value;
use steward_core::event::{Event, EventBody, Outcome, ToolResult};
use steward_core::model::{ModelErrorClass, Purpose};
use steward_core::plan::{Candidate, FINAL_ANSWER, PlanStep};
use steward_core::receipts::{Receipts, Verdict};

/// Longest argument shown in one line.
const SHOWN: usize = 160;

pub struct Renderer {
    term: Term,
    verbose: bool,
    plan: Option<PlanSteps>,
    steps_shown: usize,
    streamed: bool,
    /// Text that may turn out to be reasoning.
    held: String,
}

impl Renderer {
    pub fn new(term: Term, verbose: bool) -> Self {
        Self { term, verbose, plan: None, steps_shown: 0, streamed: false, held: String::new() }
    }

    pub fn event(&mut self, event: &Event) {
        let term = self.term;
        match &event.body {
            EventBody::RunResumed { node, .. } => {
                term.note(&format!("resumed on {node}"));
            }
            EventBody::IntentFiltered { kept, offered, .. } if self.verbose => {
                let names: Vec<String> = kept.iter().map(|one| format!("{} {:.2}", one.tool, one.score)).collect();
                term.note(&format!("tools that fit ({} of {offered}): {}", kept.len(), names.join(", ")));
            }
            EventBody::ModelRequested { purpose, model, reserved, .. } => {
                if self.verbose {
                    term.note(&format!("asking {model} ({purpose:?}, up to {reserved} tokens)"));
                }
                if *purpose == Purpose::Plan {
                    self.plan = Some(PlanSteps::default());
                    self.steps_shown = 0;
                }
                term.status("thinking…");
            }
            EventBody::ModelDelta { purpose: Purpose::Plan, text, .. } => self.plan_delta(text),
            EventBody::ModelDelta {
                purpose: Purpose::Reply | Purpose::Answer, text, provisional, retracts, ..
            } => {
                if *retracts {
                    self.held.clear();
                }
                if *provisional {
                    self.held.push_str(text);
                } else if !text.is_empty() {
                    self.print_held();
                    self.print(text);
                }
            }
            EventBody::ModelResponded { calls, .. } => {
                term.clear();
                self.print_held();
                if self.streamed && !calls.is_empty() {
                    println!();
                    self.streamed = false;
                }
            }
            // The end of the run says who stopped it.
            EventBody::ModelFailed { error, .. } if error.class == ModelErrorClass::Cancelled => {
                term.clear();
            }
            EventBody::ModelFailed { error, retry_at, .. } => {
                term.clear();
                self.held.clear();
                let again = if retry_at.is_some() { "; trying again" } else { "" };
                term.warn(&format!("model call failed: {error}{again}"));
            }
            EventBody::PlanProposed { candidates, notes, .. } => {
                self.proposed(candidates);
                if self.verbose {
                    for note in notes {
                        term.note(note);
                    }
                }
            }
            other => self.tool_event(other),
        }
    }

    fn print(&mut self, text: &str) {
        self.term.clear();
        self.streamed = true;
        print_piece(text);
    }

    fn print_held(&mut self) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.print(&held);
        }
    }

    fn tool_event(&mut self, body: &EventBody) {
        let term = self.term;
        match body {
            EventBody::ToolRejected { tool, message, .. } => {
                term.say_text(&format!("{} {tool}: {message}", term.red("✗")));
            }
            EventBody::ToolIntent { tool, arguments, evidence, .. } => {
                if let Some(evidence) = evidence {
                    term.note(&format!("{tool} was interrupted and had not happened: {evidence}"));
                }
                term.say(&format!("{} {} {}", term.bold("▸"), term.bold(tool), short(arguments)));
            }
            EventBody::ToolResult { tool, result, ms, evidence, .. } => {
                if let Some(evidence) = evidence {
                    term.note(&format!("{tool} was interrupted and had happened: {evidence}"));
                }
                self.result(result, *ms);
            }
            EventBody::ToolUncertain { tool, why, .. } => {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                term.warn(&format!("{tool} was interrupted, and whether it happened is not known{why}"));
            }
            EventBody::ToolUndoFailed { message, .. } => {
                term.warn(&format!("not undone: {message}"));
            }
            _ => {}
        }
    }

    fn plan_delta(&mut self, text: &str) {
        let Some(stream) = &mut self.plan else { return };
        let steps = stream.push(text);
        for step in steps {
            self.term.clear();
            self.steps_shown += 1;
            self.term.say(&step_line(self.term, self.steps_shown, &step));
        }
    }

    fn proposed(&mut self, candidates: &[Candidate]) {
        let term = self.term;
        term.clear();
        let Some(best) = candidates.first() else {
            return;
        };
        term.say(&term.bold("Plan"));
        for (index, step) in best.plan.steps.iter().enumerate() {
            if step.tool != FINAL_ANSWER || best.plan.steps.len() == 1 {
                term.say(&step_line(term, index + 1, step));
            }
        }
        if self.verbose {
            for (rank, other) in candidates.iter().enumerate() {
                let steps: Vec<_> = other.plan.steps.iter().map(|step| step.tool.as_str()).collect();
                term.note(&format!(
                    "candidate {}: {:.2} (fit {:.2}) {}",
                    rank + 1,
                    other.score.total,
                    other.score.fit,
                    steps.join(" → ")
                ));
            }
        }
        self.plan = None;
    }

    fn result(&mut self, result: &ToolResult, ms: u64) {
        let term = self.term;
        match result {
            ToolResult::Ok { content, receipt, truncated, .. } => {
                let proof = receipt
                    .as_ref()
                    .map(|receipt| format!(", {} {}", receipt.action, receipt.object))
                    .unwrap_or_default();
                let cut = if *truncated { ", cut" } else { "" };
                let lines = match content.lines().count() {
                    1 => "1 line".to_owned(),
                    more => format!("{more} lines"),
                };
                term.say(&format!("{} {}", term.green("✓"), term.dim(&format!("{lines}{cut}{proof}, {ms} ms"))));
            }
            ToolResult::Error { message, .. } => term.say_text(&format!("{} {message}", term.red("✗"))),
            ToolResult::Dry { preview } => {
                term.say_text(&format!("{} {preview}", term.yellow("would:")));
            }
        }
    }

    pub fn finished(&self, outcome: &Outcome, answer: &str, composed: bool, receipts: Option<&Receipts>) {
        let term = self.term;
        term.clear();
        match outcome {
            Outcome::Completed => {}
            Outcome::Failed { message } => term.say_text(&format!("{} {message}", term.red("failed:"))),
            Outcome::Stopped { by } => term.warn(&format!("stopped by {by}")),
            Outcome::Limited { limit, message } if message.is_empty() => {
                term.warn(&format!("stopped at a limit: {limit:?}"));
            }
            Outcome::Limited { message, .. } => term.warn(message),
            Outcome::Rejected => term.warn("not done: the plan was refused"),
        }
        if self.streamed {
            println!();
        } else if !answer.is_empty() {
            print_text(answer);
        }
        if composed {
            term.note("(put together from the results; no model wrote this)");
        }
        if let Some(receipts) = receipts {
            verdict(term, receipts);
        }
    }
}

/// Shows whether the claims of the answer are proved; nothing if there are none.
fn verdict(term: Term, receipts: &Receipts) {
    match receipts.verdict {
        Verdict::NoClaims => {}
        Verdict::Verified => {
            let claims = match receipts.claims.len() {
                1 => "its claim is proved".to_owned(),
                many => format!("its {many} claims are proved"),
            };
            term.say(&format!("{} {}", term.green("verified:"), claims));
        }
        Verdict::Unverified => {
            term.say(&format!("{} not everything it claims is proved", term.yellow("unverified:")));
            for claim in receipts.claims.iter().filter(|one| one.calls.is_empty()) {
                let text = claim.text.replace('\n', " ");
                term.say(&format!("  “{text}”: {}", claim.why));
            }
        }
    }
}

pub fn step_line(term: Term, number: usize, step: &PlanStep) -> String {
    let thought = if step.thought.is_empty() { String::new() } else { format!("  {}", term.dim(&step.thought)) };
    format!("  {number}. {} {}{thought}", term.bold(&step.tool), short(&step.args))
}

fn short(arguments: &Value) -> String {
    let text = match arguments.as_object() {
        Some(map) => map
            .iter()
            .map(|(key, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                format!("{key}={}", if value.is_empty() { "…" } else { &value })
            })
            .collect::<Vec<_>>()
            .join(" "),
        None => arguments.to_string(),
    };
    let line = text.replace('\n', "⏎");
    if line.chars().count() > SHOWN { format!("{}…", line.chars().take(SHOWN).collect::<String>()) } else { line }
}
