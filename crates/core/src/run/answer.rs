//! Answers composed from observations, for models that can't sum up.

use super::state::{CallStatus, RunState, step_call_id};
use crate::event::{Mode, ToolResult};
use crate::plan::{FINAL_ANSWER, Plan};
use crate::receipts::{self, Claim, Receipts, Verdict};
use crate::tool::TOOL_SEARCH;
use serde_json::Value;
use std::fmt::Write;

/// Longest excerpt of one observation in an answer, in characters.
const EXCERPT: usize = 4000;

/// Where the final answer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerFrom {
    Text(String),
    /// Composed from what the tools returned.
    Observations,
    Nothing,
}

/// The answer that [`AnswerFrom`] stands for.
pub fn answer_text(state: &RunState, answer: &AnswerFrom) -> String {
    match answer {
        AnswerFrom::Text(text) => text.clone(),
        AnswerFrom::Observations => compose_answer(state),
        AnswerFrom::Nothing => String::new(),
    }
}

/// What the tools returned: in the sentences that the plan has for it, or in order, with what failed or was refused.
pub fn compose_answer(state: &RunState) -> String {
    if let Some(text) = expand_template(state) {
        return text;
    }
    let mut text = String::new();
    for entry in &state.calls {
        let name = &entry.call.name;
        if name == TOOL_SEARCH {
            continue;
        }
        let told = match &entry.status {
            CallStatus::Done(ToolResult::Ok { content, .. }) => {
                format!("\n{}", crate::tool::truncate(content.trim_end(), EXCERPT).0)
            }
            CallStatus::Done(ToolResult::Error { message, .. }) => format!(" failed: {message}"),
            CallStatus::Done(ToolResult::Dry { preview }) => format!(" would: {preview}"),
            CallStatus::Rejected(why) => format!(" was not run: {why}"),
            _ => continue,
        };
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&headline(name, &entry.call.arguments));
        text.push_str(&told);
    }
    if text.is_empty() { "Nothing was done.".to_owned() } else { text }
}

/// The sentences of a plan that was made without a model, with the results in their places (`{2:value}`); `None` if there
/// are none, or a result is missing.
fn expand_template(state: &RunState) -> Option<String> {
    let plan = state.plan.as_ref()?;
    let last = plan.plan.steps.iter().find(|step| step.tool == FINAL_ANSWER)?;
    // A model's own words before anything was seen are no sentence for a result.
    let ours = !state.setup.as_ref()?.capabilities.plans;
    let mut rest = last.args["text"].as_str().filter(|text| ours && !text.is_empty())?;
    let steps = plan.plan.steps.iter().filter(|step| step.tool != FINAL_ANSWER).count();
    let done = (1..=steps).all(|step| result_of(state, plan.generation, step).is_some());
    let mut text = String::new();
    while let Some((before, place)) = rest.split_once('{') {
        text.push_str(before);
        let found = place.split_once('}').and_then(|(place, after)| {
            let (step, what) = place.split_once(':')?;
            let content = result_of(state, plan.generation, step.parse().ok()?)?;
            Some((part_of(content, what)?, after))
        });
        if let Some((part, after)) = found {
            text.push_str(&part);
            rest = after;
        } else {
            text.push('{');
            rest = place;
        }
    }
    text.push_str(rest);
    done.then(|| text.trim_end().to_owned())
}

fn result_of(state: &RunState, generation: u32, step: usize) -> Option<&str> {
    let id = step_call_id(generation, step.checked_sub(1)?);
    match &state.call(&id)?.status {
        CallStatus::Done(ToolResult::Ok { content, .. }) => Some(content.trim_end()),
        _ => None,
    }
}

/// A part of a result: all of it, its lines after the heading, the number that its heading begins with, or its one value.
fn part_of(content: &str, what: &str) -> Option<String> {
    let excerpt = |text: &str| crate::tool::truncate(text, EXCERPT).0;
    match what {
        "content" => Some(excerpt(content)),
        "lines" => Some(excerpt(content.split_once('\n').map_or("", |(_, lines)| lines))),
        "count" => {
            let digits: String = content.chars().take_while(char::is_ascii_digit).collect();
            Some(if digits.is_empty() { "0".to_owned() } else { digits })
        }
        "value" => Some(value_of(content)),
        "last" => Some(excerpt(content.lines().last().unwrap_or_default())),
        "rounded" => Some(rounded(value_of(content))),
        _ => None,
    }
}

/// The one value of a one-row table with its other columns, or a count's first word (`59 a.txt`), or the whole line.
fn value_of(content: &str) -> String {
    let lines: Vec<&str> = content.lines().collect();
    if let [names, row, "(1 row)"] = lines.as_slice() {
        let mut cells = names.split(" | ").zip(row.split(" | "));
        let first = cells.next().map_or("", |(_, cell)| cell);
        let others: Vec<String> = cells.map(|(name, cell)| format!("{name}: {cell}")).collect();
        return if others.is_empty() { first.to_owned() } else { format!("{first} ({})", others.join(", ")) };
    }
    match content.split_once([' ', '\t']) {
        Some((number, name))
            if number.starts_with(|c: char| c.is_ascii_digit())
                && !number.contains('-')
                && !name.trim().contains(' ') =>
        {
            number.to_owned()
        }
        _ => content.to_owned(),
    }
}

/// A number as people write it: two places behind the point, or three digits where it is small.
fn rounded(value: String) -> String {
    match value.parse::<f64>() {
        Ok(number) if number.abs() >= 1.0 || number == 0.0 => ((number * 100.0).round() / 100.0).to_string(),
        Ok(number) => format!("{number:.2e}").parse::<f64>().map_or(value, |short| short.to_string()),
        Err(_) => value,
    }
}

fn headline(name: &str, arguments: &Value) -> String {
    let mut shown = String::new();
    if let Some(map) = arguments.as_object() {
        for (key, value) in map {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (value, _) = crate::tool::truncate(&value.replace('\n', " "), 80);
            let separator = if shown.is_empty() { "" } else { ", " };
            let _ = write!(shown, "{separator}{key}: {value}");
        }
    }
    if shown.is_empty() { format!("[{name}]") } else { format!("[{name} — {shown}]") }
}

/// What an answer proves. One that is composed quotes results, whose words are not the agent's: there, the
/// receipts themselves are what is claimed.
pub fn receipts_for(state: &RunState, from: &AnswerFrom, text: &str) -> Receipts {
    match from {
        AnswerFrom::Observations => composed_receipts(state, text),
        // What the plan of a model that can't plan says by itself is a sentence of ours, and a plan says what would be done.
        AnswerFrom::Text(_) if is_scripted_text(state, text) || is_plan(state) => Receipts::of(Vec::new()),
        // Nothing could have been done, so nothing is claimed to have been.
        AnswerFrom::Text(_) if !state.can_act() && !state.has_acted() => Receipts::of(Vec::new()),
        AnswerFrom::Text(_) | AnswerFrom::Nothing => {
            let request = state.setup.as_ref().map_or("", |setup| &setup.input);
            let receipts = receipts::check(request, text, &state.evidence());
            with_false_claim(state, text, receipts)
        }
    }
}

/// What the answer of a run that has ended proves once the effect of `call_id` is undone.
pub fn receipts_without(state: &RunState, call_id: &str) -> Receipts {
    let mut after = state.clone();
    after.undone.push(call_id.to_owned());
    let from = if after.composed { AnswerFrom::Observations } else { AnswerFrom::Text(after.answer.clone()) };
    receipts_for(&after, &from, &after.answer)
}

fn is_scripted_text(state: &RunState, text: &str) -> bool {
    let plans = state.setup.as_ref().is_none_or(|setup| setup.planning().plans);
    let last = state.plan.as_ref().and_then(|plan| plan.plan.steps.first());
    !plans && last.is_some_and(|step| step.tool == FINAL_ANSWER && step.args["text"].as_str() == Some(text))
}

fn is_plan(state: &RunState) -> bool {
    state.setup.as_ref().is_some_and(|setup| setup.mode == Mode::PlanOnly)
}

/// A claim or promise of an action, although none was taken, is unverified even where the receipts' words miss it.
fn with_false_claim(state: &RunState, text: &str, receipts: Receipts) -> Receipts {
    let found = state.false_claim().and_then(|words| Some((words, text.find(words)?)));
    let Some((words, start)) = found.filter(|_| receipts.verdict == Verdict::NoClaims) else {
        return receipts;
    };
    Receipts::of(vec![Claim {
        text: words.to_owned(),
        start,
        end: start + words.len(),
        action: "announced".to_owned(),
        calls: Vec::new(),
        why: "no tool was called: nothing was done".to_owned(),
    }])
}

fn composed_receipts(state: &RunState, text: &str) -> Receipts {
    let mut claims = Vec::new();
    let mut from = 0;
    for one in state.evidence() {
        let rest = text.get(from..).unwrap_or_default();
        let heading = headline(one.tool, one.arguments);
        let said = one.content.lines().next().unwrap_or_default().trim();
        let line = if rest.contains(&heading) { heading } else { said.to_owned() };
        let Some(at) = rest.find(&line).filter(|_| !line.is_empty()) else {
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
                calls: if one.undone { Vec::new() } else { vec![one.call_id.to_owned()] },
            });
        }
    }
    Receipts::of(claims)
}

pub fn plan_as_text(plan: &Plan) -> String {
    let mut text = String::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let shown =
            if step.tool == FINAL_ANSWER { FINAL_ANSWER.to_owned() } else { format!("{} {}", step.tool, step.args) };
        let _ = writeln!(text, "{}. {shown}", index + 1);
        if !step.thought.is_empty() {
            let _ = writeln!(text, "   {}", step.thought);
        }
    }
    text.trim_end().to_owned()
}
