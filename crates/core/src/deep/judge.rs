//! Judges whether an observation is what a step was to reach. Rules decide and no model, since a plan must not be able
//! to talk itself into success.

use super::{DeepState, DeepStep, MOST_ATTEMPTS, StepEnd};
use crate::event::ToolResult;
use crate::run::{CallEntry, CallStatus};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub number: u8,
    pub end: StepEnd,
    pub why: String,
    pub call_id: Option<String>,
}

/// Longest reason, characters.
const MAX_WHY: usize = 200;

#[derive(Deserialize)]
struct Words {
    nothing: Vec<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/deep.json")).unwrap_or(Words { nothing: Vec::new() })
});

/// The next judgement that follows from the calls so far; `None` if there is none.
pub fn judge(plan: &DeepState, calls: &[CallEntry]) -> Option<Judged> {
    if let Some((step, lost)) = plan.hopeless() {
        return Some(Judged {
            number: step.number,
            end: StepEnd::Skipped,
            why: format!("it needs step {lost}"),
            call_id: None,
        });
    }
    let calls = calls.get(plan.calls_before..).unwrap_or_default();
    let mut taken: Vec<u8> = Vec::new();
    let mut attempts: Vec<(u8, &CallEntry, String)> = Vec::new();
    for entry in calls.iter().filter(|entry| entry.status.is_settled()) {
        let Some(step) = step_of(plan, entry, &taken) else {
            continue;
        };
        match problem(step, &entry.status) {
            None => taken.push(step.number),
            Some(why) => attempts.push((step.number, entry, why)),
        }
        if taken.contains(&step.number) && is_open(plan, step.number) {
            return Some(Judged {
                number: step.number,
                end: StepEnd::Done,
                why: String::new(),
                call_id: Some(entry.call.id.clone()),
            });
        }
    }
    attempts.iter().find_map(|(number, entry, why)| {
        let tries = attempts.iter().filter(|(other, ..)| other == number).count();
        let final_word = is_final(&entry.status);
        let lost = is_open(plan, *number) && !taken.contains(number) && (final_word || tries >= MOST_ATTEMPTS);
        lost.then(|| Judged {
            number: *number,
            end: StepEnd::Failed,
            why: why.chars().take(MAX_WHY).collect(),
            call_id: Some(entry.call.id.clone()),
        })
    })
}

fn is_open(plan: &DeepState, number: u8) -> bool {
    plan.open().any(|step| step.number == number)
}

/// The first step that names the call's tool and is not taken by an earlier call; else the first ready one without
/// tool.
fn step_of<'a>(plan: &'a DeepState, entry: &CallEntry, taken: &[u8]) -> Option<&'a DeepStep> {
    let steps = || plan.steps.iter().map(|state| &state.step).filter(|step| !taken.contains(&step.number));
    steps()
        .find(|step| step.tool.as_deref() == Some(entry.call.name.as_str()))
        .or_else(|| steps().find(|step| step.tool.is_none() && plan.is_ready(step)))
}

/// Why the observation is not what the step was to reach.
fn problem(step: &DeepStep, status: &CallStatus) -> Option<String> {
    match status {
        CallStatus::Rejected(why) => Some(why.clone()),
        CallStatus::Done(ToolResult::Error { message, .. }) => Some(message.clone()),
        CallStatus::Done(ToolResult::Ok { content, receipt, .. }) => {
            let nothing = receipt.is_none() && says_nothing(content) && !step.expect.is_empty();
            nothing.then(|| format!("nothing came back, expected: {}", step.expect))
        }
        _ => None,
    }
}

/// Whether a person decided, so that another attempt makes no sense.
fn is_final(status: &CallStatus) -> bool {
    matches!(status, CallStatus::Rejected(why) if why.starts_with("a person"))
}

fn says_nothing(content: &str) -> bool {
    let content = content.trim().to_lowercase();
    content.is_empty() || WORDS.nothing.contains(&content)
}
