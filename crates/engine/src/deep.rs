//! Deep plans: asked for, read, judged; each committed before it counts.

use crate::dialect::offered;
use crate::model_call::call_model;
use crate::runner::Runner;
use steward_core::agent::PlanStyle;
use steward_core::deep::{self, DeepSettings, DeepState, DeepStep, Judged};
use steward_core::event::{EventBody, Setup, ToolResult};
use steward_core::model::Purpose;
use steward_core::plan::FINAL_ANSWER;
use steward_core::ports::StoreResult;
use steward_core::run::RunState;
use steward_core::tool::{ToolCall, ToolSpec};
use steward_parse::ToolIndex;

const PROMPT: &str = include_str!("../prompts/deep.md");
const CONCISE_PROMPT: &str = include_str!("../prompts/deep_concise.md");
const PLAN_CLOSING: &str = include_str!("../prompts/deep_closing.md");
const OPEN_CLOSING: &str = include_str!("../prompts/deep_open.md");

/// Longest description of a tool in the planning prompt, characters.
const DESCRIPTION: usize = 160;

/// Asks the model for a plan; a reply already in the log is not paid for again.
pub(crate) async fn plan(runner: &mut Runner<'_>, reason: Option<String>) -> StoreResult<()> {
    let Some(setup) = runner.journal.state.setup.clone() else {
        return Ok(());
    };
    let pending = matches!(runner.journal.state.reply, Some((Purpose::Deep, _)));
    if !pending && !call_model(runner, Purpose::Deep).await? {
        let state = &runner.journal.state;
        if state.is_finished() || state.waiting.is_some() || runner.handle.cancel.is_cancelled() {
            return Ok(());
        }
        // A model that gives no plan may still do the work.
        let notes = vec!["no model gave a plan; going on without one".to_owned()];
        let body = body(&setup, Vec::new(), "rules", reason, notes);
        return runner.journal.append(body).await;
    }
    let body = planned(&runner.journal.state, &setup, reason);
    runner.journal.append(body).await
}

/// The plan that the model's last reply holds.
pub(crate) fn planned(state: &RunState, setup: &Setup, reason: Option<String>) -> EventBody {
    let text = match &state.reply {
        Some((Purpose::Deep, text)) => text.as_str(),
        _ => "",
    };
    let max_steps = setup.deep.map_or(1, |deep| deep.max_steps);
    let tools = offered(state);
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
    body(setup, steps, "model", reason, notes)
}

fn body(setup: &Setup, steps: Vec<DeepStep>, by: &str, reason: Option<String>, notes: Vec<String>) -> EventBody {
    let style = setup.deep.map(|deep| deep.style).unwrap_or_default();
    let by = by.to_owned();
    match reason {
        None => EventBody::DeepPlanned { steps, style, by, notes },
        Some(reason) => EventBody::DeepReplanned { steps, style, by, reason, notes },
    }
}

/// Tells the steps of a plan that was made otherwise.
pub(crate) async fn told(runner: &mut Runner<'_>, steps: Vec<DeepStep>) -> StoreResult<()> {
    let body = EventBody::DeepPlanned { steps, style: PlanStyle::Concise, by: "intent".to_owned(), notes: Vec::new() };
    runner.journal.append(body).await
}

/// Notes the plan that a trusted model made by itself.
pub(crate) async fn own(
    runner: &mut Runner<'_>,
    call: ToolCall,
    steps: Vec<DeepStep>,
    notes: Vec<String>,
) -> StoreResult<()> {
    let Some(setup) = runner.journal.state.setup.clone() else {
        return Ok(());
    };
    let content = format!("The plan of {} steps is noted.", steps.len());
    let result = EventBody::ToolResult {
        call_id: call.id,
        tool: call.name,
        result: ToolResult::said(&content),
        ms: 0,
        evidence: None,
    };
    let planned = body(&setup, steps, "model", None, notes);
    runner.journal.commit(vec![planned, result], Vec::new()).await
}

/// Goes on without a plan.
pub(crate) async fn drop_plan(runner: &mut Runner<'_>, reason: String) -> StoreResult<()> {
    let body = EventBody::DeepReplanned {
        steps: Vec::new(),
        style: PlanStyle::Concise,
        by: "rules".to_owned(),
        reason,
        notes: vec!["no further plan is made; going on without one".to_owned()],
    };
    runner.journal.append(body).await
}

/// A step ended.
pub(crate) async fn ended(runner: &mut Runner<'_>, judged: Judged) -> StoreResult<()> {
    runner
        .journal
        .append(EventBody::DeepStepEnded {
            number: judged.number,
            status: judged.end,
            why: judged.why,
            call_id: judged.call_id,
        })
        .await
}

/// How tools and steps are explained to a model that is to plan.
pub(crate) fn instructions(tools: &[ToolSpec], settings: DeepSettings) -> String {
    let prompt = match settings.style {
        PlanStyle::Structured => PROMPT,
        PlanStyle::Concise => CONCISE_PROMPT,
    };
    let lines: Vec<String> = tools
        .iter()
        .filter(|spec| spec.name != FINAL_ANSWER)
        .map(|spec| {
            let (text, _) = steward_core::tool::truncate(&spec.description, DESCRIPTION);
            format!("- {}: {text}", spec.name)
        })
        .collect();
    prompt.replace("{{max_steps}}", &settings.max_steps.to_string()).replace("{{tools}}", &lines.join("\n"))
}

/// The form of a plan.
pub(crate) fn schema(tools: &[ToolSpec], settings: DeepSettings) -> serde_json::Value {
    let names: Vec<&str> = tools.iter().map(|spec| spec.name.as_str()).filter(|name| *name != FINAL_ANSWER).collect();
    deep::json_schema(&names, settings)
}

/// What is said of the plan behind everything else: before a reply, and before another plan.
pub(crate) fn closing(state: &RunState, purpose: Purpose) -> String {
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
            let mut text = PLAN_CLOSING.replace("{{plan}}", plan.as_text().trim_end());
            if plan.reminded {
                text.push_str(&OPEN_CLOSING.replace("{{open}}", &open(plan)));
            }
            text
        }
        _ => String::new(),
    }
}

fn open(plan: &DeepState) -> String {
    let numbers: Vec<String> = plan.open().map(|step| step.number.to_string()).collect();
    numbers.join(", ")
}
