//! Readers of the log: as it is written, and again by the present program.

pub(crate) mod replay;

use crate::deps::Deps;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::time::Duration;
use steward_core::event::{Event, EventBody, Outcome};
use steward_core::ports::StoreError;
use steward_core::{RunId, TenantId};

const PAGE: u32 = 100;
/// How often the log is looked at when the bus is silent: another node may be the runner.
const QUIET: Duration = Duration::from_millis(500);

struct Watch {
    deps: Deps,
    tenant: TenantId,
    run: RunId,
    last: u64,
    live: steward_core::ports::EventStream,
    ready: std::collections::VecDeque<Event>,
    /// Whether the log was read up to where the live events go on, so that it need not be read again.
    caught_up: bool,
    ended: bool,
}

/// Those in the log after sequence number `after`, then those to come; ends after the last `run.finished`.
pub(crate) fn watch(
    deps: Deps,
    tenant: TenantId,
    run: RunId,
    after: u64,
) -> BoxStream<'static, Result<Event, StoreError>> {
    let live = deps.bus.subscribe(run);
    let watch = Watch {
        deps,
        tenant,
        run,
        last: after,
        live,
        ready: std::collections::VecDeque::new(),
        caught_up: false,
        ended: false,
    };
    futures::stream::unfold(Some(watch), |watch| async move {
        let mut watch = watch?;
        match watch.next().await {
            Ok(Some(event)) => Some((Ok(event), Some(watch))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}

impl Watch {
    async fn next(&mut self) -> Result<Option<Event>, StoreError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.last = event.seq;
                self.ended = match &event.body {
                    EventBody::RunFinished { outcome: Outcome::Stopped { .. } | Outcome::Failed { .. }, .. } => {
                        !self.goes_on().await?
                    }
                    EventBody::RunFinished { .. } => true,
                    _ => false,
                };
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            if self.caught_up {
                self.wait().await;
            } else {
                self.read().await?;
            }
        }
    }

    /// Whether the log says that the run went on after the end that was just read.
    async fn goes_on(&mut self) -> Result<bool, StoreError> {
        if self.ready.is_empty() {
            self.read().await?;
        }
        let next = self.ready.front().map(|event| &event.body);
        Ok(matches!(next, Some(EventBody::RunResumed { after_stop: true, .. })))
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let page = self.deps.store.events(self.tenant, self.run, self.last, PAGE).await?;
        self.caught_up = page.is_empty();
        self.ready.extend(page.into_iter().map(|stored| stored.event));
        Ok(())
    }

    /// Takes the next live event, if it is the next one; after a gap, a silence or a lag the log is read again.
    async fn wait(&mut self) {
        match tokio::time::timeout(QUIET, self.live.next()).await {
            Ok(Some(event)) if event.seq <= self.last => {}
            Ok(Some(event)) if event.seq == self.last + 1 => self.ready.push_back(event),
            Ok(Some(_)) | Err(_) => self.caught_up = false,
            Ok(None) => {
                // A run that goes on after its end (an undo) begins a new stream; so does a reader that was too slow.
                self.live = self.deps.bus.subscribe(self.run);
                self.caught_up = false;
            }
        }
    }
}
