//! Arguments that a plan left open: read from what was observed, else written by the model.

use crate::closing::open_step;
use crate::model_call::call_model;
use crate::observed;
use crate::runner::Runner;
use serde_json::{Value, json};
use steward_core::event::{EventBody, Setup};
use steward_core::model::Purpose;
use steward_core::plan::Plan;
use steward_core::ports::StoreResult;
use steward_core::run::RunState;
use steward_core::schema;
use steward_core::text::{Spans, constrained};
use steward_core::tool::ToolSpec;

/// The request with what the user said since.
pub(crate) fn request_text<'s>(state: &'s RunState, setup: &'s Setup) -> &'s str {
    let said = state.feedback.iter().chain(&state.steers).last();
    said.map_or(&setup.input, |last| last)
}

/// Whether the open arguments of a tool are taken from the request: nobody wrote how to read one for a skill, so a model that
/// doesn't plan chooses from what is said.
pub(crate) fn from_request(state: &RunState, spec: &ToolSpec) -> bool {
    spec.skill.is_some() && state.setup.as_ref().is_some_and(|setup| !setup.capabilities.plans)
}

/// What the model's arguments have to fit: those of the tool, or of them the open ones, each something that the request says.
pub(crate) fn schema_of_open(state: &RunState) -> Option<Value> {
    let (spec, index) = open_step(state)?;
    if !from_request(state, spec) {
        return Some((*spec.parameters).clone());
    }
    let open = Plan::open_arguments(state.plan.as_ref()?.plan.steps.get(index)?);
    let said = Spans::of(request_text(state, state.setup.as_ref()?));
    let mut schema = (*spec.parameters).clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| open.contains(name));
    }
    schema["required"] = json!(open);
    Some(constrained(&schema, &said))
}

/// Whether an argument is one of a few words of the tool's own.
fn chooses(spec: &ToolSpec, name: &str) -> bool {
    let property = &spec.parameters["properties"][name];
    spec.skill.is_some() && (property.get("enum").is_some() || property.get("const").is_some())
}

fn said_in(request: &str, text: &str) -> bool {
    request.to_lowercase().contains(text.trim().to_lowercase().as_str())
}

pub(crate) async fn fill(runner: &mut Runner<'_>, index: usize) -> StoreResult<()> {
    let pending = matches!(runner.journal.state.reply, Some((Purpose::Fill, _)));
    if !pending && let Some(arguments) = observed::arguments(&runner.journal.state, index) {
        let arguments = Ok(arguments);
        return runner.journal.append(EventBody::PlanFilled { index, arguments }).await;
    }
    if !pending && !call_model(runner, Purpose::Fill).await? {
        let state = &runner.journal.state;
        if state.is_finished() || state.waiting.is_some() || runner.handle.cancel.is_cancelled() {
            return Ok(());
        }
        // Without a model, a step with open arguments is refused; the others run.
        let arguments = Err("its open arguments could not be filled: no model answered".to_owned());
        return runner.journal.append(EventBody::PlanFilled { index, arguments }).await;
    }
    let state = &runner.journal.state;
    let text = match &state.reply {
        Some((Purpose::Fill, text)) => text.clone(),
        _ => return Ok(()),
    };
    let arguments = filled(state, index, &text);
    runner.journal.append(EventBody::PlanFilled { index, arguments }).await
}

/// The arguments of step `index` with what the model wrote.
pub(crate) fn filled(state: &RunState, index: usize, text: &str) -> Result<Value, String> {
    let step = state.plan.as_ref().and_then(|plan| plan.plan.steps.get(index)).ok_or("the step is gone")?;
    let spec = open_step(state).map(|(spec, _)| spec).ok_or("the step has no open arguments")?;
    let reply: Value = steward_parse::repair(text, false)
        .ok()
        .map(|repaired| repaired.value)
        .filter(Value::is_object)
        .ok_or_else(|| format!("the model gave no arguments for `{}`", step.tool))?;
    let setup = state.setup.as_ref();
    let plans = setup.is_some_and(|setup| setup.capabilities.plans);
    let request = setup.map_or("", |setup| request_text(state, setup));
    let asked = from_request(state, spec);
    let mut arguments = step.args.clone();
    for name in Plan::open_arguments(step) {
        let value = reply.get(&name).cloned().unwrap_or(Value::Null);
        if value.is_null() || value.as_str() == Some("") {
            return Err(format!("the model left `{name}` of `{}` open", step.tool));
        }
        // A model that doesn't plan copies; what it makes up is not acted on.
        let text = value.as_str().filter(|_| !plans && !chooses(spec, &name));
        if text.is_some_and(|text| !(observed::says(state, text) || asked && said_in(request, text))) {
            return Err(format!("what `{name}` of `{}` is to be stands in nothing that was seen", step.tool));
        }
        arguments[&name] = value;
    }
    schema::validate(&spec.parameters, &arguments).map(|()| arguments)
}
