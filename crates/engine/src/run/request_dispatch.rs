//! The last fallback: the request is matched with the tools. What is found is a guess, and passes the gate for guesses.

use crate::deps::Deps;
use crate::run::RunContext;
use crate::run::tool_call::run_scope;
use serde_json::{Value, json};
use steward_core::event::{EventBody, Setup};
use steward_core::plan::{FINAL_ANSWER, Plan, PlanStep};
use steward_core::ports::{Proposal, StoreResult, ToolScope};
use steward_core::run::{RunState, is_control};
use steward_core::schema;
use steward_core::tool::{CallSource, ToolCall, ToolSpec};

/// How sure a tool is whose arguments are all left out.
const FIT_WITHOUT_ARGUMENTS: f32 = 0.3;

#[derive(Debug, Clone, PartialEq)]
struct ToolMatch {
    tool: String,
    arguments: Value,
    /// 0 to 1.
    fit: f32,
    why: String,
}

pub(crate) async fn dispatch(context: &mut RunContext<'_>) -> StoreResult<()> {
    let state = &context.journal.state;
    let Some(setup) = state.setup.clone() else {
        return Ok(());
    };
    let scope = run_scope(context.deps, state, &context.signals.cancellation);
    let request = latest_message(state, &setup);
    let body = match best_match(context.deps, &request, &setup, &scope).await {
        Ok(found) => EventBody::IntentDispatched {
            note: format!("“{request}”: {}", found.why),
            call: Some(ToolCall {
                id: format!("intent-{}", state.calls.len() + 1),
                name: found.tool,
                arguments: found.arguments,
                source: CallSource::Intent,
                confidence: found.fit,
                signature: None,
            }),
        },
        Err(why) => EventBody::IntentDispatched { call: None, note: format!("nothing was done: {why}") },
    };
    context.journal.append(body).await
}

fn latest_message(state: &RunState, setup: &Setup) -> String {
    state.steers.last().cloned().unwrap_or_else(|| setup.input.clone())
}

async fn best_match(deps: &Deps, request: &str, setup: &Setup, scope: &ToolScope) -> Result<ToolMatch, String> {
    let proposal = deps.intent.propose(request, setup, scope).await.map_err(|error| error.to_string())?;
    if !proposal.ranking.wants_tool {
        return Err("the request seems to be talk".to_owned());
    }
    let own = proposal.candidates.iter().find_map(|candidate| {
        let step = candidate.plan.steps.first()?;
        is_valid(setup, step).then(|| ToolMatch {
            tool: step.tool.clone(),
            arguments: step.args.clone(),
            fit: candidate.score.fit.clamp(0.0, 1.0),
            why: step.thought.clone(),
        })
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
    Ok(ToolMatch {
        tool: spec.name.clone(),
        arguments: none,
        fit: (near * FIT_WITHOUT_ARGUMENTS).clamp(0.0, 1.0),
        why: format!("{} is nearest to the request", spec.name),
    })
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
