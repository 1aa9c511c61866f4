//! The events of a run for a client under `/v1`. One that joins it gets of the past only what counts: no words of model calls
//! that came to nothing, no question that was answered, no end after which the run went on.

use crate::tenant_app::TenantApp;
use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};
use std::collections::BTreeSet;
use steward_app::EngineError;
use steward_core::RunId;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{StoreError, StoreResult};
use steward_core::run::{RunState, Waiting};

const PAGE: u32 = 500;

/// From its beginning on; a run that is stopped since another client of it has left goes on for this one.
pub(crate) async fn run_events(
    state: &TenantApp,
    run: RunId,
    joined: bool,
) -> Result<BoxStream<'static, StoreResult<Event>>, EngineError> {
    let (past, after, over) = if joined { past_events(state, run).await? } else { (Vec::new(), 0, false) };
    let past = stream::iter(past.into_iter().map(Ok));
    if over {
        return Ok(past.boxed());
    }
    Ok(past.chain(live_events(state.clone(), run, after)).boxed())
}

/// What counts of the events so far, the number of the last one, and whether the run has ended.
pub(crate) async fn past_events(state: &TenantApp, run: RunId) -> Result<(Vec<Event>, u64, bool), EngineError> {
    let mut events = Vec::new();
    let mut seen = RunState::new(run);
    loop {
        let page = state.stored_events(run, seen.last_seq, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for stored in page {
            seen.apply(&stored.event);
            events.push(stored.event);
        }
    }
    if events.is_empty() {
        return Err(StoreError::NotFound(format!("run {run}")).into());
    }
    let (last, over) = (seen.last_seq, seen.is_finished());
    Ok((relevant(events, &seen), last, over))
}

fn relevant(events: Vec<Event>, seen: &RunState) -> Vec<Event> {
    let answered = |event: &Event| match &event.body {
        EventBody::ModelResponded { step, .. } => Some(*step),
        _ => None,
    };
    let mut steps: BTreeSet<u32> = events.iter().filter_map(answered).collect();
    steps.extend(seen.asking.map(|(step, _)| step));
    let resumed = |event: &Event| matches!(event.body, EventBody::RunResumed { after_stop: true, .. });
    let went_on = events.iter().rfind(|event| resumed(event)).map_or(0, |event| event.seq);
    // What was said by the call that the end cut short is the answer.
    let stopped = seen.is_finished() && seen.partial_text.trim() == seen.answer.trim();
    let open = match &seen.waiting {
        Some(Waiting::Approval { id, .. }) => Some(*id),
        _ => None,
    };
    let counts = |event: &Event| match &event.body {
        EventBody::ModelDelta { step, .. } => steps.contains(step) || (stopped && event.seq > went_on),
        EventBody::ModelFailed { .. } | EventBody::RunFinished { .. } => event.seq > went_on,
        EventBody::ApprovalRequested { approval_id, .. } => open == Some(*approval_id),
        _ => true,
    };
    events.into_iter().filter(counts).collect()
}

fn live_events(state: TenantApp, run: RunId, after: u64) -> BoxStream<'static, StoreResult<Event>> {
    let mut events = state.watch(run, after);
    let mut client_left = false;
    async_stream::stream! {
        while let Some(event) = events.next().await {
            let Ok(event) = event else {
                yield event;
                return;
            };
            match &event.body {
                EventBody::StopRequested { client_left: left, .. } => client_left = *left,
                EventBody::RunFinished { .. } if std::mem::take(&mut client_left) => {
                    match state.go_on_with_run(run).await {
                        Ok(true) => {
                            events = state.watch(run, event.seq);
                            continue;
                        }
                        Ok(false) => {}
                        Err(error) => tracing::debug!(%run, %error, "a run that was stopped could not go on"),
                    }
                }
                _ => {}
            }
            yield Ok(event);
        }
    }
    .boxed()
}
