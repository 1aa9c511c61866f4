//! The last fallback: the request is matched with the tools. What is found is a guess, and passes the gate for guesses.

use crate::deps::Deps;
use crate::run::RunContext;
use crate::run::tool_call::run_scope;
use serde_json::{Value, json};
use steward_core::event::{EventBody, Setup};
use steward_core::plan::{FINAL_ANSWER, Plan, PlanStep};
use steward_core::ports::{Proposal, StoreResult, ToolScope};
use steward_core::run::is_control;
use steward_core::schema;
use steward_core::tool::{CallSource, ToolCall, ToolSpec};

/// How sure a tool is whose arguments are all left out.
const FIT_WITHOUT_ARGUMENTS: f32 = 0.3;

/// A call, and why this one.
type ToolMatch = (ToolCall, String);

pub(crate) async fn dispatch(context: &mut RunContext<'_>, setup: &Setup) -> StoreResult<()> {
    let state = &context.journal.state;
    let scope = run_scope(context.deps, state, &context.signals.cancellation);
    let request = state.steers.last().unwrap_or(&setup.input);
    let id = format!("intent-{}", state.calls.len() + 1);
    let body = match best_match(context.deps, request, setup, &scope, id).await {
        Ok((call, why)) => EventBody::IntentDispatched { call: Some(call), note: format!("“{request}”: {why}") },
        Err(why) => EventBody::IntentDispatched { call: None, note: format!("nothing was done: {why}") },
    };
    context.journal.append(body).await
}

async fn best_match(
    deps: &Deps,
    request: &str,
    setup: &Setup,
    scope: &ToolScope,
    id: String,
) -> Result<ToolMatch, String> {
    let call = |tool: &str, arguments: Value, fit: f32| ToolCall {
        confidence: fit.clamp(0.0, 1.0),
        ..ToolCall::new(&id, tool, arguments, CallSource::Intent)
    };
    let proposal = deps.intent.propose(request, setup, scope).await.map_err(|error| error.to_string())?;
    if !proposal.ranking.wants_tool {
        return Err("the request seems to be talk".to_owned());
    }
    let own = proposal.candidates.iter().find_map(|candidate| {
        let step = candidate.plan.steps.first()?;
        let made = || (call(&step.tool, step.args.clone(), candidate.score.fit), step.thought.clone());
        is_valid(setup, step).then(made)
    });
    if let Some(own) = own {
        return Ok(own);
    }
    let Some((spec, near)) = nearest_tool(setup, &proposal) else {
        return Err("no tool fits the request".to_owned());
    };
    let none = json!({});
    if schema::validate(&spec.parameters, &none).is_err() {
        return Err(format!("{} is nearest to the request, which does not say its arguments", spec.name));
    }
    let why = format!("{} is nearest to the request", spec.name);
    Ok((call(&spec.name, none, near * FIT_WITHOUT_ARGUMENTS), why))
}

fn nearest_tool<'a>(setup: &'a Setup, proposal: &Proposal) -> Option<(&'a ToolSpec, f32)> {
    let best = proposal.ranking.tools.iter().find(|ranked| !is_control(&ranked.tool))?;
    let spec = setup.tools.iter().find(|spec| spec.name == best.tool)?;
    Some((spec, best.score))
}

fn is_valid(setup: &Setup, step: &PlanStep) -> bool {
    step.tool != FINAL_ANSWER
        && !is_control(&step.tool)
        && Plan::open_arguments(step).is_empty()
        && setup
            .tools
            .iter()
            .any(|spec| spec.name == step.tool && schema::validate(&spec.parameters, &step.args).is_ok())
}
