use crate::prompting::open_arguments::{from_request, open_step};
use std::fmt::Write as _;
use steward_core::agent::PlanStyle;
use steward_core::deep::{self, DeepSettings, DeepState};
use steward_core::event::Outcome;
use steward_core::model::Purpose;
use steward_core::plan::{self, FINAL_ANSWER};
use steward_core::policy::RiskClass;
use steward_core::run::RunState;
use steward_core::schema;
use steward_core::tool::ToolSpec;

const PLAN_PROMPT: &str = include_str!("../../prompts/plan.md");
const FILL_PROMPT: &str = include_str!("../../prompts/fill.md");
const FILL_FROM_REQUEST_PROMPT: &str = include_str!("../../prompts/fill_from_request.md");
const ANSWER_PROMPT: &str = include_str!("../../prompts/answer.md");
const DEEP_PROMPT: &str = include_str!("../../prompts/deep.md");
const DEEP_CONCISE_PROMPT: &str = include_str!("../../prompts/deep_concise.md");
const DEEP_PLAN_CLOSING: &str = include_str!("../../prompts/deep_closing.md");
const DEEP_OPEN_CLOSING: &str = include_str!("../../prompts/deep_open.md");

/// Longest description of a tool in the planning prompt, characters.
const MAX_DEEP_DESCRIPTION: usize = 160;
/// Schemas up to this long are given in full, characters.
const MAX_FULL_SCHEMA: usize = 700;

pub(crate) fn plan_instructions(tools: &[ToolSpec], max_steps: usize) -> String {
    with_tools(PLAN_PROMPT, tools, max_steps, |spec| {
        format!("- {}{}: {} Arguments: {}", spec.name, risk(spec.risk), spec.description, spec.parameters)
    })
}

/// What a planner is to know of a tool before it puts it into a plan; tools that only look need no word.
const fn risk(class: RiskClass) -> &'static str {
    match class {
        RiskClass::Read => "",
        RiskClass::Write => " (writes)",
        RiskClass::External => " (sends out)",
        RiskClass::Destructive => " (can't be undone)",
    }
}

fn with_tools(prompt: &str, tools: &[ToolSpec], max_steps: usize, line: impl Fn(&ToolSpec) -> String) -> String {
    let lines: Vec<String> = tools.iter().filter(|spec| spec.name != FINAL_ANSWER).map(line).collect();
    prompt.replace("{{max_steps}}", &max_steps.to_string()).replace("{{tools}}", &lines.join("\n"))
}

pub(crate) fn closing_instructions(state: &RunState, purpose: Purpose) -> String {
    match purpose {
        Purpose::Reply | Purpose::Deep => deep_closing(state, purpose),
        Purpose::Plan => {
            let remarks: Vec<&str> = state.feedback.iter().chain(&state.steers).map(String::as_str).collect();
            if remarks.is_empty() {
                return String::new();
            }
            let before =
                state.plan.as_ref().map(|plan| serde_json::json!(plan.plan.steps).to_string()).unwrap_or_default();
            format!("Your plan was: {before}\nThe user wants it otherwise: {}\nWrite the new plan.", remarks.join("\n"))
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
        Purpose::Search | Purpose::Compact => String::new(),
    }
}

/// Tools that can be called though the prompt's beginning does not explain them.
pub(crate) fn list_tools<'a>(tools: impl Iterator<Item = &'a ToolSpec>) -> String {
    let mut text = String::from("These tools can be called now, like the others:\n");
    for spec in tools {
        let full = spec.parameters.to_string();
        let arguments = if full.chars().count() <= MAX_FULL_SCHEMA { full } else { schema::in_short(&spec.parameters) };
        let _ = writeln!(text, "- {}: {}\n  arguments: {arguments}", spec.name, spec.description.trim());
    }
    text.trim_end().to_owned()
}

pub(crate) fn deep_instructions(tools: &[ToolSpec], settings: DeepSettings) -> String {
    let prompt = match settings.style {
        PlanStyle::Structured => DEEP_PROMPT,
        PlanStyle::Concise => DEEP_CONCISE_PROMPT,
    };
    with_tools(prompt, tools, settings.max_steps.into(), |spec| {
        let (text, _) = steward_core::tool::truncate(&spec.description, MAX_DEEP_DESCRIPTION);
        format!("- {}: {text}", spec.name)
    })
}

pub(crate) fn deep_schema(tools: &[ToolSpec], settings: DeepSettings) -> serde_json::Value {
    let names: Vec<&str> = tools.iter().map(|spec| spec.name.as_str()).filter(|name| *name != FINAL_ANSWER).collect();
    deep::json_schema(&names, settings)
}

/// What is said of the plan behind everything else: before a reply, and before another plan.
fn deep_closing(state: &RunState, purpose: Purpose) -> String {
    let plan = state.deep.as_ref().filter(|plan| !plan.steps.is_empty());
    let Some(plan) = plan.filter(|_| !state.is_trusted()) else {
        return String::new();
    };
    match purpose {
        Purpose::Deep => format!(
            "Your plan did not work out:\n{}\nWrite the JSON of a new plan for what is still to do. Don't repeat what is done.",
            plan.as_text()
        ),
        Purpose::Reply => {
            let mut text = DEEP_PLAN_CLOSING.replace("{{plan}}", plan.as_text().trim_end());
            if plan.reminded {
                text.push_str(&DEEP_OPEN_CLOSING.replace("{{open}}", &open_steps(plan)));
            }
            text
        }
        _ => String::new(),
    }
}

fn open_steps(plan: &DeepState) -> String {
    let numbers: Vec<String> = plan.open().map(|step| step.number.to_string()).collect();
    numbers.join(", ")
}
