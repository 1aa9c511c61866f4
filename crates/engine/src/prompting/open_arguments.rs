//! Arguments that a plan left open: which step has them, what the model may write for them, and what it wrote.

use crate::prompting::argument_from_results::stands_in_results;
use serde_json::{Value, json};
use steward_core::event::Setup;
use steward_core::plan::{FINAL_ANSWER, Plan};
use steward_core::run::RunState;
use steward_core::schema;
use steward_core::text::{Spans, constrained};
use steward_core::tool::ToolSpec;

pub(crate) fn open_step(state: &RunState) -> Option<(&ToolSpec, usize)> {
    let plan = state.plan.as_ref()?;
    plan.plan.steps.iter().enumerate().find_map(|(index, step)| {
        let done = state.filled.iter().any(|(key, _)| *key == (plan.generation, index));
        let open = !Plan::open_arguments(step).is_empty();
        if step.tool == FINAL_ANSWER || done || !open {
            return None;
        }
        Some((state.tool(&step.tool)?, index))
    })
}

/// The request, or what the user said last since.
pub(crate) fn latest_request<'s>(state: &'s RunState, setup: &'s Setup) -> &'s str {
    let latest = state.feedback.iter().chain(&state.steers).last();
    latest.map_or(&setup.input, |last| last)
}

/// Whether a tool's open arguments are taken from the request, as for skills where no model plans.
pub(crate) fn from_request(state: &RunState, spec: &ToolSpec) -> bool {
    spec.skill.is_some() && state.setup.as_ref().is_some_and(|setup| !setup.planning().plans)
}

/// What the model's arguments have to fit: those of the tool, or of them the open ones, each something that the request says.
pub(crate) fn schema_of_open(state: &RunState) -> Option<Value> {
    let (spec, index) = open_step(state)?;
    if !from_request(state, spec) {
        return Some((*spec.parameters).clone());
    }
    let open = Plan::open_arguments(state.plan.as_ref()?.plan.steps.get(index)?);
    let spans = Spans::of(latest_request(state, state.setup.as_ref()?));
    let mut schema = (*spec.parameters).clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| open.contains(name));
    }
    schema["required"] = json!(open);
    Some(constrained(&schema, &spans))
}

/// Whether an argument is one of a few words of the tool's own.
fn is_choice(spec: &ToolSpec, name: &str) -> bool {
    let property = &spec.parameters["properties"][name];
    spec.skill.is_some() && (property.get("enum").is_some() || property.get("const").is_some())
}

fn occurs_in(request: &str, text: &str) -> bool {
    request.to_lowercase().contains(text.trim().to_lowercase().as_str())
}

pub(crate) fn arguments_from_reply(state: &RunState, index: usize, text: &str) -> Result<Value, String> {
    let step = state.plan.as_ref().and_then(|plan| plan.plan.steps.get(index)).ok_or("the step is gone")?;
    let spec = open_step(state).map(|(spec, _)| spec).ok_or("the step has no open arguments")?;
    let reply: Value = steward_parse::repair(text, false)
        .ok()
        .map(|repaired| repaired.value)
        .filter(Value::is_object)
        .ok_or_else(|| format!("the model gave no arguments for `{}`", step.tool))?;
    let setup = state.setup.as_ref();
    let plans = setup.is_some_and(|setup| setup.capabilities.plans);
    let request = setup.map_or("", |setup| latest_request(state, setup));
    let asked = from_request(state, spec);
    let mut arguments = step.args.clone();
    for name in Plan::open_arguments(step) {
        let value = reply.get(&name).cloned().unwrap_or(Value::Null);
        if value.is_null() || value.as_str() == Some("") {
            return Err(format!("the model left `{name}` of `{}` open", step.tool));
        }
        // A model that doesn't plan copies; what it makes up is not acted on.
        let text = value.as_str().filter(|_| !plans && !is_choice(spec, &name));
        if text.is_some_and(|text| !(stands_in_results(state, text) || asked && occurs_in(request, text))) {
            return Err(format!("what `{name}` of `{}` is to be stands in nothing that was seen", step.tool));
        }
        arguments[&name] = value;
    }
    schema::validate(&spec.parameters, &arguments).map(|()| arguments)
}
