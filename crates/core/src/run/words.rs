//! Decisions in words, for the differences that a replay finds.

use super::compose::receipts_for;
use super::effect::{Ask, Effect};
use super::replay::answer_text;
use super::state::RunState;
use crate::approval::Subject;
use crate::event::{EventBody, Outcome};
use crate::model::Purpose;
use crate::tool::truncate;

/// Longest text quoted in a difference, characters.
const QUOTE: usize = 300;

/// `text` in quotation marks, cut.
fn quoted(text: &str) -> String {
    format!("“{}”", truncate(text, QUOTE).0)
}

fn purpose_text(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Reply => "ask the model for its next message",
        Purpose::Plan => "ask the model for a plan",
        Purpose::Deep => "ask the model for the steps of a plan",
        Purpose::Fill => "ask the model for the open arguments of a step",
        Purpose::Answer => "ask the model for the answer",
        Purpose::Compact => "ask the model to sum up older messages",
    }
}

/// What an event says was decided.
pub(super) fn recorded(body: &EventBody) -> String {
    match body {
        EventBody::IntentFiltered { kept, offered, .. } => {
            let names: Vec<&str> = kept.iter().map(|ranked| ranked.tool.as_str()).collect();
            format!("keep {} of {offered} tools: {}", names.len(), names.join(", "))
        }
        EventBody::ModelRequested { step, purpose, .. } => {
            format!("{} (call {step})", purpose_text(*purpose))
        }
        EventBody::ModelFailed { purpose, error, .. } => {
            format!("{}, which failed unsent: {error}", purpose_text(*purpose))
        }
        EventBody::PlanProposed { by, .. } => format!("propose a plan made by {by}"),
        EventBody::PlanFailed { message } => format!("find no plan: {message}"),
        EventBody::PlanFilled { index, .. } => {
            format!("fill the open arguments of step {}", index + 1)
        }
        EventBody::ModelCorrected { words, .. } => {
            format!("tell the model that {} is no deed", quoted(words))
        }
        EventBody::IntentDispatched { call, .. } => call.as_ref().map_or_else(
            || "find no tool for the request".to_owned(),
            |call| format!("call {} for the request", call.name),
        ),
        EventBody::ToolsFound { query, .. } => format!("look for tools: {}", quoted(query)),
        EventBody::DeepPlanned { steps, by, .. } => {
            format!("plan {} steps, made by {by}", steps.len())
        }
        EventBody::DeepReplanned { steps, reason, .. } => {
            format!("plan {} other steps: {reason}", steps.len())
        }
        EventBody::DeepStepEnded { number, status, why, .. } => step_text(*number, *status, why),
        EventBody::DeepReminded { open } => format!("remind the model of steps {open:?}"),
        EventBody::ApprovalRequested { subject, .. } => match subject.as_ref() {
            Subject::Call { tool, arguments, .. } => {
                format!("ask a person about {tool} {}", quoted(&arguments.to_string()))
            }
            Subject::Plan { .. } => "ask a person about the plan".to_owned(),
            Subject::Uncertain { tool, .. } => {
                format!("ask a person whether the interrupted {tool} happened")
            }
            Subject::Question { text, .. } => format!("ask the user {}", quoted(text)),
        },
        EventBody::ToolIntent { tool, arguments, effect, idempotency_key, .. } => {
            ran(tool, arguments, *effect, idempotency_key)
        }
        EventBody::ToolRejected { tool, message, .. } => {
            format!("refuse {tool}: {message}")
        }
        EventBody::ToolResult { tool, .. } => format!("only say what {tool} would do"),
        EventBody::RunFinished { outcome, answer, receipts, usage, .. } => {
            ended(outcome, answer, receipts.as_ref().map(|receipts| receipts.verdict), usage)
        }
        other => other.kind().to_owned(),
    }
}

/// What is wanted now.
pub(super) fn intended(state: &RunState, effect: &Effect) -> String {
    match effect {
        Effect::FilterIntent => {
            let offered = state.setup.as_ref().map_or(0, |setup| setup.tools.len());
            format!("narrow the {offered} tools to the request")
        }
        Effect::CallModel(purpose) => {
            format!("{} (call {})", purpose_text(*purpose), state.spent.model_calls + 1)
        }
        Effect::MakePlan => "make a plan".to_owned(),
        Effect::Fill { index } => format!("fill the open arguments of step {}", index + 1),
        Effect::Correct { words, .. } => {
            format!("tell the model that {} is no deed", quoted(words))
        }
        Effect::Dispatch => "match the request with the tools".to_owned(),
        Effect::SearchTools { call } => {
            format!("look for tools: {}", quoted(call.arguments["query"].as_str().unwrap_or_default()))
        }
        Effect::DeepPlan { reason: None } => "plan the steps".to_owned(),
        Effect::DeepPlan { reason: Some(reason) } => format!("plan other steps: {reason}"),
        Effect::DeepFromPlan { steps } => format!("plan {} steps, made by intent", steps.len()),
        Effect::DeepOwn { steps, .. } => {
            format!("plan {} steps, made by the model itself", steps.len())
        }
        Effect::DeepDrop { reason } => format!("plan 0 other steps: {reason}"),
        Effect::DeepStep(judged) => step_text(judged.number, judged.end, &judged.why),
        Effect::DeepRemind { open } => format!("remind the model of steps {open:?}"),
        Effect::Reject { call, message } => format!("refuse {}: {message}", call.name),
        Effect::RunTool { call, idempotency_key, effect } | Effect::Delegate { call, idempotency_key, effect, .. } => {
            ran(&call.name, &call.arguments, *effect, idempotency_key)
        }
        Effect::Settle { call, .. } => {
            format!("see whether the interrupted {} happened", call.name)
        }
        Effect::DryRun { call } => format!("only say what {} would do", call.name),
        Effect::Ask(Ask::Call { call, reason }) => {
            format!("ask a person about {} {} ({reason})", call.name, quoted(&call.arguments.to_string()))
        }
        Effect::Ask(Ask::Plan) => "ask a person about the plan".to_owned(),
        Effect::Ask(Ask::Uncertain { call, .. }) => {
            format!("ask a person whether the interrupted {} happened", call.name)
        }
        Effect::Ask(Ask::Question { text, .. }) => format!("ask the user {}", quoted(text)),
        Effect::Finish { outcome, answer } => {
            let text = answer_text(state, answer);
            let verdict = receipts_for(state, answer, &text).verdict;
            ended(outcome, &text, Some(verdict), &state.usage)
        }
    }
}

fn step_text(number: u8, end: crate::deep::StepEnd, why: &str) -> String {
    let end = format!("{end:?}").to_lowercase();
    if why.is_empty() { format!("step {number} is {end}") } else { format!("step {number} is {end}: {why}") }
}

fn ran(tool: &str, arguments: &serde_json::Value, effect: crate::tool::EffectClass, key: &str) -> String {
    let class = format!("{effect:?}").to_lowercase();
    format!("run {tool} {} (effect {class}, key {key})", quoted(&arguments.to_string()))
}

fn ended(
    outcome: &Outcome,
    answer: &str,
    verdict: Option<crate::receipts::Verdict>,
    usage: &crate::model::Usage,
) -> String {
    let how = match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Failed { message } => format!("failed: {message}"),
        Outcome::Stopped { by } => format!("stopped by {by}"),
        Outcome::Limited { limit, .. } => format!("at the limit of {limit:?}"),
        Outcome::Rejected => "rejected".to_owned(),
    };
    let proved = verdict.map_or_else(String::new, |verdict| match verdict {
        crate::receipts::Verdict::Verified => ", verified".to_owned(),
        crate::receipts::Verdict::Unverified => ", unverified".to_owned(),
        crate::receipts::Verdict::NoClaims => ", no claims".to_owned(),
    });
    format!(
        "end the run: {how}{proved}, {} tokens, answer {}",
        usage.prompt_tokens + usage.completion_tokens,
        quoted(answer)
    )
}
