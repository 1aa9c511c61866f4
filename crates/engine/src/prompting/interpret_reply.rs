//! What a reply means beyond its syntax: ids, arguments that fit, claims, and what was only guessed.

use crate::prompting::model_request::plan_tools;
use std::collections::HashSet;
use steward_core::event::{AboutCall, Noticed, Setup};
use steward_core::model::Purpose;
use steward_core::receipts::false_completion;
use steward_core::run::RunState;
use steward_core::tool::{CallSource, ToolCall, truncate};
use steward_parse::{Parsed, fit::fit};

/// Longest quotation of a reply, characters.
const QUOTE: usize = 240;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct InterpretedReply {
    pub calls: Vec<ToolCall>,
    pub diagnostics: Vec<String>,
    pub noticed: Noticed,
}

/// Gives calls unique ids, since ids name effects. A broken call stays in with its raw text, and is refused.
pub(crate) fn interpret_reply(
    state: &RunState,
    setup: &Setup,
    purpose: Purpose,
    parsed: &mut Parsed,
    step: u32,
) -> InterpretedReply {
    let mut diagnostics = std::mem::take(&mut parsed.diagnostics);
    let mut calls = std::mem::take(&mut parsed.calls);
    let mut broken = Vec::new();
    for call in std::mem::take(&mut parsed.broken) {
        diagnostics.push(format!("call of `{}` is broken: {}", call.name, call.error));
        broken.push((calls.len(), call.error));
        let raw = serde_json::Value::String(call.raw);
        calls.push(ToolCall { confidence: 0.0, ..ToolCall::new(call.id, call.name, raw, CallSource::Repaired) });
    }
    let mut seen: HashSet<String> = state.calls.iter().map(|entry| entry.call.id.clone()).collect();
    for (index, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() || seen.contains(&call.id) {
            call.id = format!("{}s{step}-{index}", call.id);
        }
        seen.insert(call.id.clone());
    }
    let mut noticed = Noticed::default();
    if purpose == Purpose::Reply {
        for call in &mut calls {
            fit_arguments(state, call, &mut diagnostics);
        }
        noticed.broken = broken
            .into_iter()
            .filter_map(|(at, text)| Some(AboutCall { call_id: calls.get(at)?.id.clone(), text }))
            .collect();
        noticed.guessed = calls
            .iter()
            .filter(|call| call.is_guessed() && call.arguments.is_object())
            .map(|call| AboutCall { call_id: call.id.clone(), text: quoted_line(parsed, call) })
            .collect();
        let can = &setup.capabilities;
        let acts = can.plans && !can.trusted && !plan_tools(state).is_empty();
        if calls.is_empty() && acts {
            noticed.claim = claim(&setup.input, &parsed.text);
        }
    }
    InterpretedReply { calls, diagnostics, noticed }
}

/// As far as that is beyond doubt; what does not fit is refused by the state machine, which names the field.
fn fit_arguments(state: &RunState, call: &mut ToolCall, diagnostics: &mut Vec<String>) {
    let Some(spec) = state.tool(&call.name) else {
        return;
    };
    if !call.arguments.is_object() {
        return;
    }
    if let Ok(fits) = fit(&spec.name, &spec.parameters, &call.arguments) {
        for fix in fits.fixes {
            diagnostics.push(format!("arguments of `{}`: {fix}", call.name));
        }
        call.arguments = fits.arguments;
    }
}

fn claim(request: &str, text: &str) -> Option<String> {
    let words = text.get(false_completion(request, text)?)?;
    Some(words.chars().take(QUOTE).collect())
}

fn quoted_line(parsed: &Parsed, call: &ToolCall) -> String {
    let text = if call.source == CallSource::Reasoning { &parsed.reasoning } else { &parsed.text };
    let value = call
        .arguments
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, value)| value.as_str())
        .max_by_key(|value| value.len());
    let line = [value, Some(call.name.as_str())]
        .into_iter()
        .flatten()
        .filter(|wanted| !wanted.is_empty())
        .find_map(|wanted| text.lines().find(|line| line.contains(wanted)))
        .unwrap_or(text);
    truncate(line.trim(), QUOTE).0
}
