use crate::deps::Deps;
use crate::prompting::argument_from_results;
use crate::prompting::open_arguments::{arguments_from_reply, latest_request};
use crate::prompting::plan_replies::{deep_plan_event, deep_plan_from_reply, plan_event, plan_from_replies};
use crate::run::prompt_room::call_model;
use crate::run::tool_call::run_scope;
use crate::run::{RunContext, result_of};
use steward_core::agent::PlanStyle;
use steward_core::deep::{DeepStep, Judged};
use steward_core::event::{EventBody, Ranked, Setup, ToolResult};
use steward_core::model::Purpose;
use steward_core::ports::StoreResult;
use steward_core::prompt::weigh_tools;
use steward_core::run::room_for_tools;
use steward_core::tool::ToolCall;

/// Tools that are offered however little room there is.
const MIN_TOOLS: usize = 2;

pub(crate) async fn filter_intent(context: &mut RunContext<'_>, setup: &Setup) -> StoreResult<()> {
    let body = filter_tools(context.deps, setup).await;
    context.journal.append(body).await
}

pub(crate) async fn filter_tools(deps: &Deps, setup: &Setup) -> EventBody {
    let ranking = deps.intent.rank(&setup.input, &setup.tools).await;
    EventBody::IntentFiltered {
        kept: within_capacity(setup, prefer_hinted(setup, ranking.tools)),
        offered: setup.tools.len(),
        wants_tool: ranking.wants_tool,
    }
}

/// Tools that the request's kind asks for go first, where they fit it about as well as others.
fn prefer_hinted(setup: &Setup, ranked: Vec<Ranked>) -> Vec<Ranked> {
    let Some(hint) = &setup.hint else {
        return ranked;
    };
    let best = ranked.iter().map(|one| one.score).fold(0.0, f32::max);
    let (mut first, rest): (Vec<Ranked>, Vec<Ranked>) =
        ranked.into_iter().partition(|one| one.score >= best / 2.0 && hint.tools.contains(&one.tool));
    first.extend(rest);
    first
}

/// The best of `ranked` that the model can choose among, and that its window has room for.
fn within_capacity(setup: &Setup, mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    ranked.truncate(setup.choosing().max_tools);
    let room = room_for_tools(setup.choosing());
    let mut taken = 0;
    let mut kept = Vec::new();
    for one in ranked {
        let Some(spec) = setup.tools.iter().find(|spec| spec.name == one.tool) else {
            continue;
        };
        let weight = weigh_tools(std::slice::from_ref(spec));
        if taken + weight > room && kept.len() >= MIN_TOOLS {
            continue;
        }
        taken += weight;
        kept.push(one);
    }
    kept
}

pub(crate) async fn make_plan(context: &mut RunContext<'_>, setup: &Setup) -> StoreResult<()> {
    if setup.planning().plans { plan_by_model(context, setup).await } else { plan_by_intent(context, setup).await }
}

/// Samples candidates, one model call each; a reply already in the log is not paid for again.
async fn plan_by_model(context: &mut RunContext<'_>, setup: &Setup) -> StoreResult<()> {
    while context.journal.state.plan_replies.len() < context.deps.config.get().plan_candidates.max(1) {
        let enough = !context.journal.state.plan_replies.is_empty();
        if !call_model(context, setup, Purpose::Plan).await? {
            let state = &context.journal.state;
            if enough && !state.is_finished() && state.stop_by.is_none() && state.waiting.is_none() {
                break;
            }
            return Ok(());
        }
    }
    let max_steps = context.deps.config.get().max_plan_steps;
    let body = plan_from_replies(&context.journal.state, max_steps);
    context.journal.append(body).await
}

async fn plan_by_intent(context: &mut RunContext<'_>, setup: &Setup) -> StoreResult<()> {
    let deps = context.deps;
    let request = latest_request(&context.journal.state, setup);
    let scope = run_scope(deps, &context.journal.state, &context.signals.cancellation);
    let proposal = match deps.intent.propose(request, setup, &scope).await {
        Ok(proposal) => proposal,
        Err(error) => {
            let message = error.to_string();
            return context.journal.append(EventBody::PlanFailed { message }).await;
        }
    };
    let filtered = EventBody::IntentFiltered {
        kept: proposal.ranking.tools.iter().take(setup.choosing().max_tools).cloned().collect(),
        offered: setup.tools.len(),
        wants_tool: proposal.ranking.wants_tool,
    };
    let planned = plan_event(proposal.candidates, "intent", proposal.notes);
    context.journal.commit(vec![filtered, planned], Vec::new()).await
}

/// Fills the arguments that step `index` of the plan left open: from what was observed, else by the model.
pub(crate) async fn fill(context: &mut RunContext<'_>, setup: &Setup, index: usize) -> StoreResult<()> {
    let pending = matches!(context.journal.state.reply, Some((Purpose::Fill, _)));
    if !pending && let Some(arguments) = argument_from_results::arguments(&context.journal.state, index) {
        let arguments = Ok(arguments);
        return context.journal.append(EventBody::PlanFilled { index, arguments }).await;
    }
    if !pending && !call_model(context, setup, Purpose::Fill).await? {
        if context.is_interrupted() {
            return Ok(());
        }
        // Without a model, a step with open arguments is refused; the others run.
        let arguments = Err("its open arguments could not be filled: no model answered".to_owned());
        return context.journal.append(EventBody::PlanFilled { index, arguments }).await;
    }
    let state = &context.journal.state;
    let text = match &state.reply {
        Some((Purpose::Fill, text)) => text.clone(),
        _ => return Ok(()),
    };
    let arguments = arguments_from_reply(state, index, &text);
    context.journal.append(EventBody::PlanFilled { index, arguments }).await
}

/// Asks the model for a deep plan; a reply already in the log is not paid for again.
pub(crate) async fn make_deep_plan(
    context: &mut RunContext<'_>,
    setup: &Setup,
    reason: Option<String>,
) -> StoreResult<()> {
    let pending = matches!(context.journal.state.reply, Some((Purpose::Deep, _)));
    if !pending && !call_model(context, setup, Purpose::Deep).await? {
        if context.is_interrupted() {
            return Ok(());
        }
        // A model that gives no plan may still do the work.
        let notes = vec!["no model gave a plan; going on without one".to_owned()];
        let body = deep_plan_event(setup, Vec::new(), "rules", reason, notes);
        return context.journal.append(body).await;
    }
    let body = deep_plan_from_reply(&context.journal.state, setup, reason);
    context.journal.append(body).await
}

/// Records the steps of a plan that was made without a deep planning call.
pub(crate) async fn record_given_steps(context: &mut RunContext<'_>, steps: Vec<DeepStep>) -> StoreResult<()> {
    let body = EventBody::DeepPlanned { steps, style: PlanStyle::Concise, by: "intent".to_owned(), notes: Vec::new() };
    context.journal.append(body).await
}

/// Records the plan that a trusted model made by itself.
pub(crate) async fn record_own_plan(
    context: &mut RunContext<'_>,
    setup: &Setup,
    call: ToolCall,
    steps: Vec<DeepStep>,
    notes: Vec<String>,
) -> StoreResult<()> {
    let message = format!("The plan of {} steps is noted.", steps.len());
    let result = result_of(call.id, call.name, ToolResult::text(&message));
    let planned = deep_plan_event(setup, steps, "model", None, notes);
    context.journal.commit(vec![planned, result], Vec::new()).await
}

pub(crate) async fn drop_deep_plan(context: &mut RunContext<'_>, reason: String) -> StoreResult<()> {
    let body = EventBody::DeepReplanned {
        steps: Vec::new(),
        style: PlanStyle::Concise,
        by: "rules".to_owned(),
        reason,
        notes: vec!["no further plan is made; going on without one".to_owned()],
    };
    context.journal.append(body).await
}

pub(crate) async fn record_step_end(context: &mut RunContext<'_>, judged: Judged) -> StoreResult<()> {
    context
        .journal
        .append(EventBody::DeepStepEnded {
            number: judged.number,
            status: judged.end,
            why: judged.why,
            call_id: judged.call_id,
        })
        .await
}
