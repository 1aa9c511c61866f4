//! A model call, with room made in the window for its prompt first: results are cut, then older messages summed up.

use crate::prompting::compaction_event::{compacted, conversation};
use crate::prompting::model_request::{BuiltRequest, build_request};
use crate::run::RunContext;
use crate::run::model_call::send_request;
use steward_core::event::{EventBody, Setup};
use steward_core::model::Purpose;
use steward_core::ports::StoreResult;
use steward_core::prompt::{COMPACT_FROM, Compaction, TRUNCATE_FROM};
use steward_core::run::RunState;

/// Asks the model for `purpose`, after making room for the prompt; `true` if a reply was committed.
pub(crate) async fn call_model(context: &mut RunContext<'_>, setup: &Setup, purpose: Purpose) -> StoreResult<bool> {
    match make_room(context, setup, purpose).await? {
        Some(built) => send_request(context, setup, purpose, *built).await,
        None => Ok(false),
    }
}

/// Cuts and summaries before one model call, at most.
const MAX_STEPS: usize = 4;

enum Need {
    Nothing(Box<BuiltRequest>),
    Cut(Compaction),
    Summary,
}

/// The request, as small as it gets; `None`: the run ended or waits instead.
async fn make_room(
    context: &mut RunContext<'_>,
    setup: &Setup,
    purpose: Purpose,
) -> StoreResult<Option<Box<BuiltRequest>>> {
    let max_steps = context.deps.config.get().max_plan_steps;
    for _ in 0..MAX_STEPS {
        match next_need(&context.journal.state, setup, purpose, max_steps) {
            Need::Nothing(built) => return Ok(Some(built)),
            Need::Cut(compaction) => {
                let cut = EventBody::ContextCompacted { compaction, by: String::new(), replaced: 0 };
                context.journal.append(cut).await?;
            }
            Need::Summary => {
                if !summarize(context, setup).await? {
                    return Ok(None);
                }
            }
        }
    }
    let state = &context.journal.state;
    Ok(Some(Box::new(build_request(state, setup, setup.model_for(purpose).capabilities, purpose, max_steps))))
}

fn next_need(state: &RunState, setup: &Setup, purpose: Purpose, max_steps: usize) -> Need {
    // A summary that is paid for is put to use first.
    if state.summary_reply().is_some() {
        return Need::Summary;
    }
    let built = build_request(state, setup, setup.model_for(purpose).capabilities, purpose, max_steps);
    if !built.prompt.is_over(TRUNCATE_FROM, built.beside) {
        return Need::Nothing(Box::new(built));
    }
    let full = built.prompt.is_over(COMPACT_FROM, built.beside);
    let conversation = conversation(state, setup);
    if let Some(compaction) = conversation.cut(full) {
        return Need::Cut(compaction);
    }
    if full && conversation.older().is_some() {
        return Need::Summary;
    }
    Need::Nothing(Box::new(built))
}

/// The model sums up, where it can; else the beginnings of the messages must do.
async fn summarize(context: &mut RunContext<'_>, setup: &Setup) -> StoreResult<bool> {
    let pending = context.journal.state.summary_reply().is_some();
    if !pending && setup.capabilities.summarises {
        let max_steps = context.deps.config.get().max_plan_steps;
        let built = build_request(&context.journal.state, setup, &setup.capabilities, Purpose::Compact, max_steps);
        let _ = send_request(context, setup, Purpose::Compact, built).await?;
        if context.is_interrupted() || context.journal.state.stop_by.is_some() {
            return Ok(false);
        }
    }
    let body = compacted(&context.journal.state, setup);
    context.journal.append(body).await?;
    Ok(true)
}
