//! Replay: would this program decide today what it decided then? Pure: no model is asked,
//! no tool runs. What needs a prompt or a parser is checked by the engine, which has them.

use super::compose::{compose_answer, receipts_for};
use super::effect::{AnswerFrom, Ask, Effect};
use super::state::RunState;
use super::words::{intended, recorded};
use crate::approval::Subject;
use crate::event::{Event, EventBody, Outcome, ToolResult};
use crate::hash;
use crate::model::Purpose;
use serde::{Deserialize, Serialize};

/// Where a replay differs from what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Difference {
    /// The event.
    pub seq: u64,
    /// What was decided then, for a person.
    pub recorded: String,
    /// What this program would decide.
    pub now: String,
}

/// What a check of one event found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// The event is no decision of the program: it came from outside.
    NoDecision,
    /// The same would be decided.
    Same,
    /// Something else would.
    Differs(Difference),
}

/// Whether the run of `state`, just before `event`, wants what `event` says was decided.
pub fn check(state: &RunState, event: &Event) -> Checked {
    if !is_decision(state, event) || state.is_inherited(event.seq) {
        return Checked::NoDecision;
    }
    // The decision was taken between the event before and this one; only the ends of grants care.
    for now in [event.at, state.last_at] {
        let wanted = state.next(now);
        if wanted.first().is_some_and(|effect| agrees(state, effect, &event.body)) {
            return Checked::Same;
        }
    }
    let now = state
        .next(event.at)
        .first()
        .map_or_else(|| "nothing: the run waits".to_owned(), |effect| intended(state, effect));
    Checked::Differs(Difference { seq: event.seq, recorded: recorded(&event.body), now })
}

fn is_decision(state: &RunState, event: &Event) -> bool {
    match &event.body {
        EventBody::IntentFiltered { .. }
        | EventBody::ModelRequested { .. }
        | EventBody::PlanProposed { .. }
        | EventBody::PlanFailed { .. }
        | EventBody::PlanFilled { .. }
        | EventBody::ModelCorrected { .. }
        | EventBody::IntentDispatched { .. }
        | EventBody::ToolsFound { .. }
        | EventBody::DeepPlanned { .. }
        | EventBody::DeepReplanned { .. }
        | EventBody::DeepStepEnded { .. }
        | EventBody::DeepReminded { .. }
        | EventBody::ApprovalRequested { .. }
        | EventBody::ToolIntent { .. }
        | EventBody::ToolRejected { .. }
        | EventBody::RunFinished { .. } => true,
        // A prompt that does not fit fails without a request.
        EventBody::ModelFailed { .. } => state.asking.is_none(),
        EventBody::ToolResult { result, .. } => matches!(result, ToolResult::Dry { .. }),
        _ => false,
    }
}

fn agrees(state: &RunState, wanted: &Effect, body: &EventBody) -> bool {
    match (wanted, body) {
        (Effect::FilterIntent | Effect::MakePlan, EventBody::IntentFiltered { kept, offered, .. }) => {
            state.setup.as_ref().is_some_and(|setup| *offered == setup.tools.len())
                && kept.iter().all(|ranked| state.tool(&ranked.tool).is_some())
        }
        (_, EventBody::ModelRequested { step, purpose, .. }) => {
            *step == state.spent.model_calls + 1 && asks(state, wanted, *purpose)
        }
        (_, EventBody::ModelFailed { purpose, .. }) => asks(state, wanted, *purpose),
        (Effect::MakePlan, EventBody::PlanProposed { .. } | EventBody::PlanFailed { .. }) => true,
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
        (Effect::Ask(ask), EventBody::ApprovalRequested { subject, .. }) => asks_person(state, ask, subject),
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
            Effect::CallModel(_) | Effect::MakePlan | Effect::DeepPlan { .. } | Effect::Fill { .. },
            EventBody::RunFinished { outcome: Outcome::Limited { .. }, answer, .. },
        ) => *answer == compose_answer(state),
        _ => false,
    }
}

/// Whether carrying `wanted` out asks a model for `purpose`.
fn asks(state: &RunState, wanted: &Effect, purpose: Purpose) -> bool {
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
            purpose == Purpose::Plan && state.setup.as_ref().is_some_and(|setup| setup.capabilities.plans)
        }
        Effect::Fill { .. } => purpose == Purpose::Fill,
        Effect::DeepPlan { .. } => purpose == Purpose::Deep,
        _ => false,
    }
}

fn asks_person(state: &RunState, ask: &Ask, subject: &Subject) -> bool {
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

/// The answer that [`AnswerFrom`] stands for.
pub fn answer_text(state: &RunState, answer: &AnswerFrom) -> String {
    match answer {
        AnswerFrom::Text(text) => text.clone(),
        AnswerFrom::Observations => compose_answer(state),
        AnswerFrom::Nothing => String::new(),
    }
}
