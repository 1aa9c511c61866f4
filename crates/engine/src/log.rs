//! Reading a whole log, page by page.

use crate::deps::Deps;
use crate::error::EngineError;
use steward_core::RunId;
use steward_core::event::{Event, EventBody};
use steward_core::run::RunState;

/// How many events are read at once.
const PAGE: u32 = 1000;

/// Gives each event of `run` to `each`, in order.
pub(crate) async fn read(deps: &Deps, run: RunId, mut each: impl FnMut(Event) + Send) -> Result<(), EngineError> {
    let mut after = 0;
    loop {
        let page = deps.store.events(deps.tenant, run, after, PAGE).await?;
        let last = page.len() < PAGE as usize;
        if page.is_empty() && after == 0 {
            return Err(EngineError::NotFound(format!("run {run}")));
        }
        for stored in page {
            after = stored.event.seq;
            each(stored.event);
        }
        if last {
            return Ok(());
        }
    }
}

/// The fold of a run's log.
pub(crate) async fn state(deps: &Deps, run: RunId) -> Result<RunState, EngineError> {
    let mut state = RunState::new(run);
    read(deps, run, |event| state.apply(&event)).await?;
    Ok(state)
}

/// What to say of an event that only a newer program understands.
pub(crate) fn unknown(event: &Event) -> Option<String> {
    (event.body == EventBody::Unknown)
        .then(|| format!("event {} of run {} was written by a newer program; use that one", event.seq, event.run_id))
}
