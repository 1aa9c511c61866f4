//! What a run wants done, and which events report that it was. The engine carries effects out and appends the events.

use super::answer::{AnswerFrom, answer_text, compose_answer, receipts_for};
use super::state::RunState;
use crate::approval::Subject;
use crate::deep::{DeepStep, Judged, StepEnd};
use crate::event::{EventBody, Outcome, ToolResult};
use crate::hash;
use crate::model::{Purpose, Strategy, Usage};
use crate::receipts::Verdict;
use crate::tool::{EffectClass, ToolCall, truncate};

/// One thing to do. Effects of one decision are carried out in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Narrow the tools to the request; appends `intent.filtered`.
    FilterIntent,
    /// Ask the model; appends `model.requested`, deltas, and `model.responded` or `model.failed`.
    CallModel(Purpose),
    /// Search documents for what a plan should know; appends `plan.searched`.
    SearchForPlan,
    /// Make a plan; appends `plan.proposed` or `plan.failed`.
    MakePlan,
    /// Fill open arguments of a plan step; appends `plan.filled`.
    Fill { index: usize },
    /// Ask the model for a deep plan; appends `deep.planned`, or with a reason `deep.replanned`.
    DeepPlan {
        /// Why the plan before it failed.
        reason: Option<String>,
    },
    /// Tell the steps of the plan in force; appends `deep.planned`.
    DeepFromPlan { steps: Vec<DeepStep> },
    /// The model notes a plan of its own; appends `deep.planned` and the call's `tool.result`.
    DeepOwn { call: ToolCall, steps: Vec<DeepStep>, notes: Vec<String> },
    /// Go on without a plan; appends `deep.replanned` without steps.
    DeepDrop { reason: String },
    /// A step ended; appends `deep.step`.
    DeepStep(Judged),
    /// Steps are open although the model wants to end; appends `deep.reminded`.
    DeepRemind { open: Vec<u8> },
    /// Refuse a call; appends `tool.rejected`.
    Reject {
        call: ToolCall,
        /// Why; goes to the model.
        message: String,
    },
    /// Run a call; appends `tool.intent` and `tool.result`.
    RunTool {
        call: ToolCall,
        /// Stable over repeats.
        idempotency_key: String,
        effect: EffectClass,
    },
    /// Find out whether a cut-off write has happened: appends `tool.result` or `tool.uncertain`, or runs it again.
    Settle { call: ToolCall, idempotency_key: String },
    /// Have another agent do it; appends `tool.intent` and `run.delegated`. The run then waits for
    /// that run, and `run.returned` and `tool.result` follow.
    Delegate { call: ToolCall, agent: String, idempotency_key: String, effect: EffectClass },
    /// Say what a call would do; appends a dry `tool.result`.
    DryRun { call: ToolCall },
    /// Ask a person; appends `approval.requested`. The run then parks.
    Ask(Ask),
    /// Tell the model that nothing has happened yet; appends `model.corrected`.
    Correct {
        /// The words that claim or promise an action.
        words: String,
        message: String,
        /// Another form to ask for calls in.
        strategy: Option<Strategy>,
    },
    /// Match the request with the tools; appends `intent.dispatched`.
    Dispatch,
    /// Look for deferred tools; appends `tools.found`.
    SearchTools { call: ToolCall },
    /// End the run; appends `run.finished`.
    Finish { outcome: Outcome, answer: AnswerFrom },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    Call {
        call: ToolCall,
        reason: String,
    },
    Plan,
    /// About a write that was cut off.
    Uncertain {
        call: ToolCall,
        why: String,
    },
    Question {
        call: ToolCall,
        text: String,
    },
}

/// Whether `body` is the event that carrying out `wanted` appends.
pub(super) fn reports(state: &RunState, wanted: &Effect, body: &EventBody) -> bool {
    match (wanted, body) {
        (Effect::FilterIntent | Effect::MakePlan, EventBody::IntentFiltered { kept, offered, .. }) => {
            state.setup.as_ref().is_some_and(|setup| *offered == setup.tools.len())
                && kept.iter().all(|ranked| state.tool(&ranked.tool).is_some())
        }
        (_, EventBody::ModelRequested { step, purpose, .. }) => {
            *step == state.spent.model_calls + 1 && calls_model(state, wanted, *purpose)
        }
        (_, EventBody::ModelFailed { purpose, .. }) => calls_model(state, wanted, *purpose),
        (Effect::SearchForPlan, EventBody::PlanSearched(_))
        | (Effect::MakePlan, EventBody::PlanProposed { .. } | EventBody::PlanFailed { .. }) => true,
        (Effect::DeepPlan { reason: None }, EventBody::DeepPlanned { by, .. }) => by == "model",
        (
            Effect::DeepFromPlan { steps } | Effect::DeepOwn { steps, .. },
            EventBody::DeepPlanned { steps: then, .. },
        ) => steps == then,
        (Effect::DeepPlan { reason: Some(reason) }, EventBody::DeepReplanned { reason: then, .. }) => reason == then,
        (Effect::DeepDrop { reason }, EventBody::DeepReplanned { steps, reason: then, .. }) => {
            steps.is_empty() && reason == then
        }
        (Effect::DeepStep(judged), EventBody::DeepStepEnded { number, status, why, call_id }) => {
            judged.number == *number && judged.end == *status && judged.why == *why && judged.call_id == *call_id
        }
        (Effect::DeepRemind { open }, EventBody::DeepReminded { open: then }) => open == then,
        (Effect::Fill { index }, EventBody::PlanFilled { index: then, .. }) => index == then,
        (
            Effect::Correct { words, message, strategy },
            EventBody::ModelCorrected { words: then, message: told, strategy: form },
        ) => words == then && message == told && strategy == form,
        (Effect::Dispatch, EventBody::IntentDispatched { call, .. }) => {
            call.as_ref().is_none_or(|call| state.tool(&call.name).is_some())
        }
        (Effect::SearchTools { call }, EventBody::ToolsFound { call_id, query, .. }) => {
            call.id == *call_id && call.arguments["query"] == query.as_str()
        }
        (Effect::Ask(ask), EventBody::ApprovalRequested { subject, .. }) => is_same_question(state, ask, subject),
        (
            Effect::RunTool { call, idempotency_key, effect } | Effect::Delegate { call, idempotency_key, effect, .. },
            EventBody::ToolIntent { call_id, tool, arguments, args_hash, effect: class, idempotency_key: key, .. },
        ) => {
            call.id == *call_id
                && call.name == *tool
                && call.arguments == *arguments
                && *args_hash == hash::of_json(&call.arguments)
                && effect == class
                && idempotency_key == key
        }
        (
            Effect::Settle { call, idempotency_key },
            EventBody::ToolIntent { call_id, arguments, idempotency_key: key, evidence, .. },
        ) => call.id == *call_id && call.arguments == *arguments && idempotency_key == key && evidence.is_some(),
        (Effect::Reject { call, message }, EventBody::ToolRejected { call_id, tool, message: then }) => {
            call.id == *call_id && call.name == *tool && message == then
        }
        (Effect::DryRun { call }, EventBody::ToolResult { call_id, tool, .. }) => {
            call.id == *call_id && call.name == *tool
        }
        (
            Effect::Finish { outcome, answer },
            EventBody::RunFinished { outcome: then, answer: text, composed, usage, receipts },
        ) => {
            let proved = receipts.as_ref().is_none_or(|then| receipts_for(state, answer, text).verdict == then.verdict);
            outcome == then
                && *composed == (*answer == AnswerFrom::Observations)
                && *text == answer_text(state, answer)
                && *usage == state.usage
                && proved
        }
        // A call that does not fit the budget ends the run instead; the engine knows its size.
        (
            Effect::CallModel(_)
            | Effect::SearchForPlan
            | Effect::MakePlan
            | Effect::DeepPlan { .. }
            | Effect::Fill { .. },
            EventBody::RunFinished { outcome: Outcome::Limited { .. }, answer, .. },
        ) => *answer == compose_answer(state),
        _ => false,
    }
}

fn calls_model(state: &RunState, wanted: &Effect, purpose: Purpose) -> bool {
    // Whether there must be room first depends on the prompt, which the engine knows.
    if purpose == Purpose::Compact {
        return matches!(
            wanted,
            Effect::CallModel(_) | Effect::MakePlan | Effect::Fill { .. } | Effect::DeepPlan { .. }
        );
    }
    match wanted {
        Effect::CallModel(wanted) => *wanted == purpose,
        Effect::MakePlan => {
            purpose == Purpose::Plan && state.setup.as_ref().is_some_and(|setup| setup.planning().plans)
        }
        Effect::SearchForPlan => purpose == Purpose::Search,
        Effect::Fill { .. } => purpose == Purpose::Fill,
        Effect::DeepPlan { .. } => purpose == Purpose::Deep,
        _ => false,
    }
}

fn is_same_question(state: &RunState, ask: &Ask, subject: &Subject) -> bool {
    match (ask, subject) {
        (Ask::Call { call, .. }, Subject::Call { call_id, tool, arguments, args_hash, risk, taint, .. }) => {
            // Older programs did not write down what came from outside.
            let told = taint.is_empty() || state.tool(tool).is_some_and(|spec| state.taint_of(spec, call) == *taint);
            told && call.id == *call_id
                && call.name == *tool
                && call.arguments == *arguments
                && *args_hash == hash::of_json(arguments)
                && state.tool(tool).is_some_and(|spec| spec.risk == *risk)
        }
        (Ask::Plan, Subject::Plan { plan_hash, .. }) => {
            state.plan.as_ref().is_some_and(|plan| plan.plan.hash() == *plan_hash)
        }
        (Ask::Uncertain { call, why }, Subject::Uncertain { call_id, tool, arguments, why: then }) => {
            why == then && call.id == *call_id && call.name == *tool && call.arguments == *arguments
        }
        (Ask::Question { call, text }, Subject::Question { call_id, text: then }) => {
            call.id == *call_id && text == then
        }
        _ => false,
    }
}

/// Longest text quoted in a difference, characters.
const QUOTE: usize = 300;

fn quoted(text: &str) -> String {
    format!("“{}”", truncate(text, QUOTE).0)
}

fn purpose_text(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Reply => "ask the model for its next message",
        Purpose::Search => "ask the model what to search documents for",
        Purpose::Plan => "ask the model for a plan",
        Purpose::Deep => "ask the model for the steps of a plan",
        Purpose::Fill => "ask the model for the open arguments of a step",
        Purpose::Answer => "ask the model for the answer",
        Purpose::Compact => "ask the model to sum up older messages",
    }
}

/// What an event says was decided; `None` where it is no decision of the program.
pub(super) fn recorded_decision(state: &RunState, body: &EventBody) -> Option<String> {
    let text = match body {
        EventBody::IntentFiltered { kept, offered, .. } => {
            let names: Vec<&str> = kept.iter().map(|ranked| ranked.tool.as_str()).collect();
            format!("keep {} of {offered} tools: {}", names.len(), names.join(", "))
        }
        EventBody::ModelRequested { step, purpose, .. } => {
            format!("{} (call {step})", purpose_text(*purpose))
        }
        // A prompt that does not fit fails without a request.
        EventBody::ModelFailed { purpose, error, .. } if state.asking.is_none() => {
            format!("{}, which failed unsent: {error}", purpose_text(*purpose))
        }
        EventBody::PlanSearched(found) => format!("search documents before planning: {}", found.queries.join("; ")),
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
            run_text(tool, arguments, *effect, idempotency_key)
        }
        EventBody::ToolRejected { tool, message, .. } => {
            format!("refuse {tool}: {message}")
        }
        EventBody::ToolResult { tool, result: ToolResult::Dry { .. }, .. } => format!("only say what {tool} would do"),
        EventBody::RunFinished { outcome, answer, receipts, usage, .. } => {
            end_text(outcome, answer, receipts.as_ref().map(|receipts| receipts.verdict), usage)
        }
        _ => return None,
    };
    Some(text)
}

pub(super) fn intended_decision(state: &RunState, effect: &Effect) -> String {
    match effect {
        Effect::FilterIntent => {
            let offered = state.setup.as_ref().map_or(0, |setup| setup.tools.len());
            format!("narrow the {offered} tools to the request")
        }
        Effect::CallModel(purpose) => {
            format!("{} (call {})", purpose_text(*purpose), state.spent.model_calls + 1)
        }
        Effect::SearchForPlan => "search documents before planning".to_owned(),
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
            run_text(&call.name, &call.arguments, *effect, idempotency_key)
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
            end_text(outcome, &text, Some(verdict), &state.usage)
        }
    }
}

fn step_text(number: u8, end: StepEnd, why: &str) -> String {
    let end = format!("{end:?}").to_lowercase();
    if why.is_empty() { format!("step {number} is {end}") } else { format!("step {number} is {end}: {why}") }
}

fn run_text(tool: &str, arguments: &serde_json::Value, effect: EffectClass, key: &str) -> String {
    let class = format!("{effect:?}").to_lowercase();
    format!("run {tool} {} (effect {class}, key {key})", quoted(&arguments.to_string()))
}

fn end_text(outcome: &Outcome, answer: &str, verdict: Option<Verdict>, usage: &Usage) -> String {
    let how = match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Failed { message } => format!("failed: {message}"),
        Outcome::Stopped { by } => format!("stopped by {by}"),
        Outcome::Limited { limit, .. } => format!("at the limit of {limit:?}"),
        Outcome::Rejected => "rejected".to_owned(),
    };
    let proved = verdict.map_or_else(String::new, |verdict| match verdict {
        Verdict::Verified => ", verified".to_owned(),
        Verdict::Unverified => ", unverified".to_owned(),
        Verdict::NoClaims => ", no claims".to_owned(),
    });
    format!(
        "end the run: {how}{proved}, {} tokens, answer {}",
        usage.prompt_tokens + usage.completion_tokens,
        quoted(answer)
    )
}
