//! The only way to move a run: commit, fold, tell.

use crate::deps::Deps;
use steward_core::RunId;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{Commit, Lease, SideWrite, StoreError, StoreResult};
use steward_core::run::RunState;

/// How many events are read at once when a run is loaded.
const PAGE: u32 = 1000;

/// A run in the hands of its runner.
pub(crate) struct Journal {
    deps: Deps,
    lease: Lease,
    /// The fold so far.
    pub state: RunState,
}

impl Journal {
    /// A run whose fold is at hand.
    pub fn new(deps: Deps, lease: Lease, state: RunState) -> Self {
        Self { deps, lease, state }
    }

    /// Reads the log of a leased run and folds it.
    pub async fn load(deps: Deps, lease: Lease) -> StoreResult<Self> {
        let mut state = RunState::new(lease.run);
        loop {
            let page = deps.store.events(lease.tenant, lease.run, state.last_seq, PAGE).await?;
            let last = page.len() < PAGE as usize;
            for stored in &page {
                if stored.event.body == EventBody::Unknown {
                    return Err(StoreError::Backend(format!(
                        "event {} of run {} was written by a newer program; go on with that one",
                        stored.event.seq, lease.run
                    )));
                }
                state.apply(&stored.event);
            }
            if last {
                break;
            }
        }
        Ok(Self { deps, lease, state })
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.lease.run
    }

    /// Our right to it.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Appends one event.
    pub async fn append(&mut self, body: EventBody) -> StoreResult<()> {
        self.commit(vec![body], Vec::new()).await
    }

    /// Appends events and writes rows in one transaction; folds and publishes them after it.
    pub async fn commit(&mut self, events: Vec<EventBody>, side: Vec<SideWrite>) -> StoreResult<()> {
        if events.is_empty() && side.is_empty() {
            return Ok(());
        }
        let committed = self
            .deps
            .store
            .commit(Commit {
                tenant: self.lease.tenant,
                run: self.lease.run,
                epoch: self.lease.epoch,
                after: self.state.last_seq,
                at: self.deps.clock.now(),
                events,
                side,
            })
            .await
            .inspect_err(|error| {
                if let StoreError::Fenced { .. } = error {
                    tracing::warn!(run = %self.lease.run, epoch = self.lease.epoch, "append refused: the run was taken over");
                }
            })?;
        for event in &committed {
            self.fold(event);
        }
        Ok(())
    }

    fn fold(&mut self, event: &Event) {
        self.state.apply(event);
        self.deps.bus.publish(event);
    }
}
