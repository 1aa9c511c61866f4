//! What is said before and after everything else, for a purpose.

use crate::deep;
use crate::fill::from_request;
use steward_core::event::Outcome;
use steward_core::model::Purpose;
use steward_core::plan::{self, FINAL_ANSWER};
use steward_core::run::RunState;
use steward_core::tool::ToolSpec;

const PLAN_PROMPT: &str = include_str!("../prompts/plan.md");
const FILL_PROMPT: &str = include_str!("../prompts/fill.md");
const FILL_FROM_REQUEST_PROMPT: &str = include_str!("../prompts/fill_from_request.md");
const ANSWER_PROMPT: &str = include_str!("../prompts/answer.md");

/// The next plan step that has open arguments, and its index.
pub(crate) fn open_step(state: &RunState) -> Option<(&ToolSpec, usize)> {
    let plan = state.plan.as_ref()?;
    plan.plan.steps.iter().enumerate().find_map(|(index, step)| {
        let done = state.filled.iter().any(|(key, _)| *key == (plan.generation, index));
        let open = !plan::Plan::open_arguments(step).is_empty();
        if step.tool == FINAL_ANSWER || done || !open {
            return None;
        }
        Some((state.tool(&step.tool)?, index))
    })
}

/// How a plan is written.
pub(crate) fn plan_text(tools: &[ToolSpec], max_steps: usize) -> String {
    let lines: Vec<String> = tools
        .iter()
        .filter(|spec| spec.name != FINAL_ANSWER)
        .map(|spec| format!("- {}: {} Arguments: {}", spec.name, spec.description, spec.parameters))
        .collect();
    PLAN_PROMPT.replace("{{max_steps}}", &max_steps.to_string()).replace("{{tools}}", &lines.join("\n"))
}

/// What is said after everything else.
pub(crate) fn closing(state: &RunState, purpose: Purpose) -> String {
    match purpose {
        Purpose::Reply | Purpose::Deep => deep::closing(state, purpose),
        Purpose::Plan => {
            let said: Vec<&str> = state.feedback.iter().chain(&state.steers).map(String::as_str).collect();
            if said.is_empty() {
                return String::new();
            }
            let before =
                state.plan.as_ref().map(|plan| serde_json::json!(plan.plan.steps).to_string()).unwrap_or_default();
            format!("Your plan was: {before}\nThe user wants it otherwise: {}\nWrite the new plan.", said.join("\n"))
        }
        Purpose::Fill => open_step(state)
            .and_then(|(spec, index)| {
                let step = state.plan.as_ref()?.plan.steps.get(index)?;
                let prompt = if from_request(state, spec) { FILL_FROM_REQUEST_PROMPT } else { FILL_PROMPT };
                Some(
                    prompt
                        .replace("{{tool}}", &spec.name)
                        .replace("{{description}}", &spec.description)
                        .replace("{{args}}", &step.args.to_string())
                        .replace("{{open}}", &plan::Plan::open_arguments(step).join(", "))
                        .replace("{{thought}}", &step.thought),
                )
            })
            .unwrap_or_default(),
        Purpose::Answer => match &state.outcome {
            Some(Outcome::Completed) | None => ANSWER_PROMPT.to_owned(),
            Some(_) => String::new(),
        },
        Purpose::Compact => String::new(),
    }
}
