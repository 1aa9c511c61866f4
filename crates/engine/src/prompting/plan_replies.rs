use crate::prompting::model_request::plan_tools;
use steward_core::deep::{self, DeepStep};
use steward_core::event::{EventBody, Setup};
use steward_core::model::Purpose;
use steward_core::plan::{self, Candidate, FINAL_ANSWER, Plan, PlanStep};
use steward_core::run::RunState;
use steward_parse::ToolIndex;

/// The plan that the model's replies hold, best first.
pub(crate) fn plan_from_replies(state: &RunState, max_steps: usize) -> EventBody {
    let tools = plan_tools(state);
    let index = ToolIndex::new(&tools);
    let mut notes = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    for text in &state.plan_replies {
        match steward_parse::plan::parse(text, &index) {
            Ok(plan) => {
                let plan = with_final_answer(plan);
                let score = plan::score(&plan, &tools, max_steps, 1.0);
                if !candidates.iter().any(|other| other.plan == plan) {
                    candidates.push(Candidate { plan, score });
                }
            }
            Err(error) => notes.push(error.to_string()),
        }
    }
    plan_event(candidates, "model", notes)
}

/// The best candidates first, or why there is none.
pub(crate) fn plan_event(mut candidates: Vec<Candidate>, by: &str, notes: Vec<String>) -> EventBody {
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
fn with_final_answer(mut plan: Plan) -> Plan {
    if plan.steps.last().is_none_or(|step| step.tool != FINAL_ANSWER) {
        plan.steps.push(PlanStep {
            tool: FINAL_ANSWER.to_owned(),
            args: serde_json::json!({"text": ""}),
            thought: String::new(),
        });
    }
    plan
}

pub(crate) fn deep_plan_from_reply(state: &RunState, setup: &Setup, reason: Option<String>) -> EventBody {
    let text = match &state.reply {
        Some((Purpose::Deep, text)) => text.as_str(),
        _ => "",
    };
    let max_steps = setup.deep.map_or(1, |deep| deep.max_steps);
    let tools = plan_tools(state);
    let found = steward_parse::deep::steps(text, &ToolIndex::new(&tools));
    let (mut steps, mut notes) = deep::sound(found, max_steps);
    for step in &mut steps {
        // To answer is no step of a tool.
        if step.tool.as_deref() == Some(FINAL_ANSWER) {
            step.tool = None;
        }
    }
    if steps.is_empty() {
        notes.push("the reply holds no plan; going on without one".to_owned());
    }
    deep_plan_event(setup, steps, "model", reason, notes)
}

pub(crate) fn deep_plan_event(
    setup: &Setup,
    steps: Vec<DeepStep>,
    by: &str,
    reason: Option<String>,
    notes: Vec<String>,
) -> EventBody {
    let style = setup.deep.map(|deep| deep.style).unwrap_or_default();
    let by = by.to_owned();
    match reason {
        None => EventBody::DeepPlanned { steps, style, by, notes },
        Some(reason) => EventBody::DeepReplanned { steps, style, by, reason, notes },
    }
}
