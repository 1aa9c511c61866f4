//! Answers composed from observations, for models that can't sum up (TOOL-11).

use super::effect::AnswerFrom;
use super::state::{CallStatus, RunState};
use crate::event::ToolResult;
use crate::plan::{FINAL_ANSWER, Plan};
use crate::receipts::{self, Claim, Receipts, Verdict};
use crate::tool::TOOL_SEARCH;
use serde_json::Value;
use std::fmt::Write;

/// Longest excerpt of one observation in an answer, in characters.
const EXCERPT: usize = 4000;

/// What the tools returned, in order, with what failed or was refused. Says that it is composed.
pub fn compose_answer(state: &RunState) -> String {
    let mut text = String::new();
    for entry in &state.calls {
        let name = &entry.call.name;
        if name == TOOL_SEARCH {
            continue;
        }
        let line = match &entry.status {
            CallStatus::Done(ToolResult::Ok { content, .. }) => {
                let (excerpt, _) = crate::tool::truncate(content.trim_end(), EXCERPT);
                format!("{}\n{excerpt}", headline(name, &entry.call.arguments))
            }
            CallStatus::Done(ToolResult::Error { message, .. }) => {
                format!(
                    "{} failed: {message}",
                    headline(name, &entry.call.arguments)
                )
            }
            CallStatus::Done(ToolResult::Dry { preview }) => {
                format!("{} would: {preview}", headline(name, &entry.call.arguments))
            }
            CallStatus::Rejected(why) => {
                format!(
                    "{} was not run: {why}",
                    headline(name, &entry.call.arguments)
                )
            }
            _ => continue,
        };
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&line);
    }
    if text.is_empty() {
        "Nothing was done.".to_owned()
    } else {
        text
    }
}

fn headline(name: &str, arguments: &Value) -> String {
    let mut shown = String::new();
    if let Some(map) = arguments.as_object() {
        for (key, value) in map {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let (value, _) = crate::tool::truncate(&value.replace('\n', " "), 80);
            let separator = if shown.is_empty() { "" } else { ", " };
            let _ = write!(shown, "{separator}{key}: {value}");
        }
    }
    if shown.is_empty() {
        format!("[{name}]")
    } else {
        format!("[{name} — {shown}]")
    }
}

/// What an answer proves. One that is composed quotes results, whose words are not the agent's: there, the
/// receipts themselves are what is claimed.
pub fn receipts_for(state: &RunState, from: &AnswerFrom, text: &str) -> Receipts {
    match from {
        AnswerFrom::Observations => composed_receipts(state, text),
        AnswerFrom::Text(_) | AnswerFrom::Nothing => {
            let request = state.setup.as_ref().map_or("", |setup| &setup.input);
            let receipts = receipts::check(request, text, &state.evidence());
            unmet(state, text, receipts)
        }
    }
}

/// What the answer of a run that has ended proves once the effect of `call_id` is undone.
pub fn receipts_without(state: &RunState, call_id: &str) -> Receipts {
    let mut after = state.clone();
    after.undone.push(call_id.to_owned());
    let from = if after.composed {
        AnswerFrom::Observations
    } else {
        AnswerFrom::Text(after.answer.clone())
    };
    receipts_for(&after, &from, &after.answer)
}

/// An answer that ends a run with a claim or promise of an action, although none was taken, is
/// unverified, even where the receipts' own words don't know it (RUN-9).
fn unmet(state: &RunState, text: &str, receipts: Receipts) -> Receipts {
    let Some(words) = state.false_claim() else {
        return receipts;
    };
    let Some(start) = text.find(words) else {
        return receipts;
    };
    if receipts.verdict != Verdict::NoClaims {
        return receipts;
    }
    Receipts {
        verdict: Verdict::Unverified,
        claims: vec![Claim {
            text: words.to_owned(),
            start,
            end: start + words.len(),
            action: "announced".to_owned(),
            calls: Vec::new(),
            why: "no tool was called: nothing was done".to_owned(),
        }],
    }
}

fn composed_receipts(state: &RunState, text: &str) -> Receipts {
    let mut claims = Vec::new();
    let mut from = 0;
    for one in state.evidence() {
        let line = headline(one.tool, one.arguments);
        let Some(at) = text.get(from..).and_then(|rest| rest.find(&line)) else {
            continue;
        };
        let (start, end) = (from + at, from + at + line.len());
        from = end;
        if let (Some(receipt), true) = (one.receipt, one.ok) {
            let did = format!("{} {}", receipt.action, receipt.object);
            claims.push(Claim {
                why: if one.undone {
                    format!("{did}, but it was undone")
                } else {
                    format!("{did}: the tool's own receipt")
                },
                text: line,
                start,
                end,
                action: receipt.action.clone(),
                calls: if one.undone {
                    Vec::new()
                } else {
                    vec![one.call_id.to_owned()]
                },
            });
        }
    }
    let verdict = if claims.is_empty() {
        Verdict::NoClaims
    } else if claims.iter().all(|claim| !claim.calls.is_empty()) {
        Verdict::Verified
    } else {
        Verdict::Unverified
    };
    Receipts { verdict, claims }
}

/// A plan as numbered lines.
pub fn plan_as_text(plan: &Plan) -> String {
    let mut text = String::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let shown = if step.tool == FINAL_ANSWER {
            FINAL_ANSWER.to_owned()
        } else {
            format!("{} {}", step.tool, step.args)
        };
        let _ = writeln!(text, "{}. {shown}", index + 1);
        if !step.thought.is_empty() {
            let _ = writeln!(text, "   {}", step.thought);
        }
    }
    text.trim_end().to_owned()
}
