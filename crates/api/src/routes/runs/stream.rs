//! A run's events as they come, each as JSON text with its place.

use super::read::{event_json, stored_json};
use crate::state::ApiState;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use steward_core::RunId;
use steward_core::event::EventBody;
use steward_core::ports::StoreError;

const PAGE: u32 = 100;

/// One event on its way to a client.
pub(super) struct Sent {
    pub seq: u64,
    pub kind: String,
    pub json: String,
}

/// What follows `after`, past and to come; ends after `run.finished`. Pulled by the client: what
/// it has not taken is not read yet, so a slow one costs no memory.
pub(super) fn live(state: &ApiState, run: RunId, after: u64) -> BoxStream<'static, Result<Sent, StoreError>> {
    let again = state.clone();
    state
        .runs
        .watch(run, after)
        .then(move |event| {
            let state = again.clone();
            async move {
                let event = event?;
                if matches!(event.body, EventBody::Unknown) {
                    // A newer program wrote it: only its stored text is whole.
                    let deps = state.runs.deps();
                    let page = deps.store.events(deps.tenant, run, event.seq - 1, 1).await?;
                    if let Some(stored) = page.first() {
                        return Ok(sent(stored.event.seq, stored_json(stored)));
                    }
                }
                Ok(Sent { seq: event.seq, kind: event.body.kind().to_owned(), json: event_json(&event) })
            }
        })
        .boxed()
}

/// What follows `after` in the log of a run that has ended.
pub(super) fn ended(
    state: &ApiState,
    run: RunId,
    after: u64,
) -> impl Stream<Item = Result<Sent, StoreError>> + Send + use<> {
    let state = state.clone();
    async_stream::try_stream! {
        let mut after = after;
        loop {
            let deps = state.runs.deps();
            let page = deps.store.events(deps.tenant, run, after, PAGE).await?;
            let Some(last) = page.last() else { return };
            after = last.event.seq;
            for stored in page {
                yield sent(stored.event.seq, stored_json(&stored));
            }
        }
    }
}

fn sent(seq: u64, json: String) -> Sent {
    #[derive(serde::Deserialize)]
    struct Kind {
        r#type: String,
    }
    let kind = serde_json::from_str::<Kind>(&json).map_or("unknown".to_owned(), |kind| kind.r#type);
    Sent { seq, kind, json }
}
