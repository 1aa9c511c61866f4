//! Plans: narrowed tools, candidates, scores.

use crate::deps::Deps;
use crate::dialect::offered;
use crate::fill::request_text;
use crate::model_call::call_model;
use crate::runner::Runner;
use crate::tool_call::scope;
use steward_core::event::{EventBody, Ranked, Setup};
use steward_core::model::Purpose;
use steward_core::plan::{self, Candidate, FINAL_ANSWER, Plan, PlanStep};
use steward_core::ports::StoreResult;
use steward_core::prompt::weigh_tools;
use steward_core::run::{RunState, room_for_tools};
use steward_parse::ToolIndex;

/// Tools that are offered however little room there is.
const LEAST_TOOLS: usize = 2;

pub(crate) async fn filter_intent(runner: &mut Runner<'_>) -> StoreResult<()> {
    let Some(setup) = runner.journal.state.setup.clone() else {
        return Ok(());
    };
    let body = narrowed(runner.deps, &setup).await;
    runner.journal.append(body).await
}

/// The tools that fit the request.
pub(crate) async fn narrowed(deps: &Deps, setup: &Setup) -> EventBody {
    let ranking = deps.intent.rank(&setup.input, &setup.tools).await;
    EventBody::IntentFiltered {
        kept: affordable(setup, hinted(setup, ranking.tools)),
        offered: setup.tools.len(),
        wants_tool: ranking.wants_tool,
    }
}

/// Tools that the request's kind asks for go first, where they fit it about as well as others.
fn hinted(setup: &Setup, ranked: Vec<Ranked>) -> Vec<Ranked> {
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
fn affordable(setup: &Setup, mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    ranked.truncate(setup.capabilities.max_tools);
    let room = room_for_tools(&setup.capabilities);
    let mut taken = 0;
    let mut kept = Vec::new();
    for one in ranked {
        let Some(spec) = setup.tools.iter().find(|spec| spec.name == one.tool) else {
            continue;
        };
        let weight = weigh_tools(std::slice::from_ref(spec));
        if taken + weight > room && kept.len() >= LEAST_TOOLS {
            continue;
        }
        taken += weight;
        kept.push(one);
    }
    kept
}

pub(crate) async fn make_plan(runner: &mut Runner<'_>) -> StoreResult<()> {
    let Some(setup) = runner.journal.state.setup.clone() else {
        return Ok(());
    };
    if setup.capabilities.plans { plan_by_model(runner).await } else { plan_by_intent(runner, &setup).await }
}

/// Samples candidates, one model call each; a reply already in the log is not paid for again.
async fn plan_by_model(runner: &mut Runner<'_>) -> StoreResult<()> {
    while runner.journal.state.plan_replies.len() < runner.deps.config.plan_candidates.max(1) {
        let enough = !runner.journal.state.plan_replies.is_empty();
        if !call_model(runner, Purpose::Plan).await? {
            let state = &runner.journal.state;
            if enough && !state.is_finished() && state.stop_by.is_none() && state.waiting.is_none() {
                break;
            }
            return Ok(());
        }
    }
    let max_steps = runner.deps.config.max_plan_steps;
    let body = planned_from_replies(&runner.journal.state, max_steps);
    runner.journal.append(body).await
}

/// The plan that the model's replies hold, best first.
pub(crate) fn planned_from_replies(state: &RunState, max_steps: usize) -> EventBody {
    let tools = offered(state);
    let index = ToolIndex::new(&tools);
    let mut notes = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    for text in &state.plan_replies {
        match steward_parse::plan::parse(text, &index) {
            Ok(plan) => {
                let plan = ended(plan);
                let score = plan::score(&plan, &tools, max_steps, 1.0);
                if !candidates.iter().any(|other| other.plan == plan) {
                    candidates.push(Candidate { plan, score });
                }
            }
            Err(error) => notes.push(error.to_string()),
        }
    }
    planned(candidates, "model", notes)
}

async fn plan_by_intent(runner: &mut Runner<'_>, setup: &Setup) -> StoreResult<()> {
    let deps = runner.deps;
    let request = request_text(&runner.journal.state, setup);
    let scope = scope(deps, &runner.journal.state, &runner.handle.stop);
    let proposal = match deps.intent.propose(request, setup, &scope).await {
        Ok(proposal) => proposal,
        Err(error) => {
            let message = error.to_string();
            return runner.journal.append(EventBody::PlanFailed { message }).await;
        }
    };
    let filtered = EventBody::IntentFiltered {
        kept: proposal.ranking.tools.iter().take(setup.capabilities.max_tools).cloned().collect(),
        offered: setup.tools.len(),
        wants_tool: proposal.ranking.wants_tool,
    };
    let planned = planned(proposal.candidates, "intent", proposal.notes);
    runner.journal.commit(vec![filtered, planned], Vec::new()).await
}

/// The best candidates first, or why there is none.
fn planned(mut candidates: Vec<Candidate>, by: &str, notes: Vec<String>) -> EventBody {
    candidates.sort_by(|a, b| b.score.total.total_cmp(&a.score.total));
    if candidates.is_empty() {
        let why = if notes.is_empty() { "no tool fits the request".to_owned() } else { notes.join("; ") };
        EventBody::PlanFailed {
            message: format!(
                "no usable plan: {why}; say it in other words, name the file or table, or choose a larger model"
            ),
        }
    } else {
        EventBody::PlanProposed { candidates, by: by.to_owned(), notes }
    }
}

/// A plan always ends with `final_answer`.
fn ended(mut plan: Plan) -> Plan {
    if plan.steps.last().is_none_or(|step| step.tool != FINAL_ANSWER) {
        plan.steps.push(PlanStep {
            tool: FINAL_ANSWER.to_owned(),
            args: serde_json::json!({"text": ""}),
            thought: String::new(),
        });
    }
    plan
}
