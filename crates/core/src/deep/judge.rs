//! Judges whether an observation is what a step was to reach. Rules decide and no model, since a plan must not be able
//! to talk itself into success.

use super::{DeepState, DeepStep, MOST_ATTEMPTS, StepEnd, WORDS};
use crate::event::ToolResult;
use crate::run::{CallEntry, CallStatus};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub number: u8,
    pub end: StepEnd,
    pub why: String,
    pub call_id: Option<String>,
}

impl Judged {
    pub fn new(number: u8, end: StepEnd, why: impl Into<String>, by: Option<&CallEntry>) -> Self {
        Self { number, end, why: why.into(), call_id: by.map(|entry| entry.call.id.clone()) }
    }
}

/// Longest reason, characters.
const MAX_WHY: usize = 200;

/// The next judgement that follows from the calls so far; `None` if there is none.
pub fn judge(plan: &DeepState, calls: &[CallEntry]) -> Option<Judged> {
    if let Some((step, lost)) = plan.hopeless() {
        return Some(Judged::new(step.number, StepEnd::Skipped, format!("it needs step {lost}"), None));
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
            return Some(Judged::new(step.number, StepEnd::Done, "", Some(entry)));
        }
    }
    attempts.iter().find_map(|(number, entry, why)| {
        let tries = attempts.iter().filter(|(other, ..)| other == number).count();
        let final_word = is_final(&entry.status);
        let lost = is_open(plan, *number) && !taken.contains(number) && (final_word || tries >= MOST_ATTEMPTS);
        let why = || why.chars().take(MAX_WHY).collect::<String>();
        lost.then(|| Judged::new(*number, StepEnd::Failed, why(), Some(entry)))
    })
}

fn is_open(plan: &DeepState, number: u8) -> bool {
    plan.open().any(|step| step.number == number)
}

/// The first step that names the call's tool and that no earlier call took; else the first ready one without tool.
fn step_of<'a>(plan: &'a DeepState, entry: &CallEntry, taken: &[u8]) -> Option<&'a DeepStep> {
    let steps = || plan.steps.iter().map(|state| &state.step).filter(|step| !taken.contains(&step.number));
    steps()
        .find(|step| step.tool.as_deref() == Some(entry.call.name.as_str()))
        .or_else(|| steps().find(|step| step.tool.is_none() && plan.is_ready(step)))
}

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
