use crate::deps::Deps;
use crate::error::EngineError;
use steward_core::RunId;
use steward_core::audit::of_event;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{Commit, Lease, RunStatus, SideWrite, StoreError, StoreResult};
use steward_core::run::RunState;

const PAGE: u32 = 1000;

pub(crate) struct Journal {
    deps: Deps,
    lease: Lease,
    pub state: RunState,
}

impl Journal {
    pub fn new(deps: Deps, lease: Lease, state: RunState) -> Self {
        Self { deps, lease, state }
    }

    pub async fn load(deps: Deps, lease: Lease) -> StoreResult<Self> {
        let mut state = RunState::new(lease.run);
        loop {
            let page = deps.store.events(lease.tenant, lease.run, state.last_seq, PAGE).await?;
            for stored in &page {
                if stored.event.body == EventBody::Unknown {
                    return Err(StoreError::Backend(format!(
                        "event {} of run {} was written by a newer program; go on with that one",
                        stored.event.seq, lease.run
                    )));
                }
                state.apply(&stored.event);
            }
            if page.len() < PAGE as usize {
                return Ok(Self { deps, lease, state });
            }
        }
    }

    pub fn run(&self) -> RunId {
        self.lease.run
    }

    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    pub async fn append(&mut self, body: EventBody) -> StoreResult<()> {
        self.commit(vec![body], Vec::new()).await
    }

    /// Appends events and writes rows in one transaction; folds and publishes them after it.
    pub async fn commit(&mut self, events: Vec<EventBody>, mut side: Vec<SideWrite>) -> StoreResult<()> {
        if events.is_empty() && side.is_empty() {
            return Ok(());
        }
        let at = self.deps.clock.now();
        let entries = events.iter().filter_map(|event| of_event(&self.state, at, event, || self.deps.ids.next()));
        side.extend(entries.map(SideWrite::Audit));
        let committed = self
            .deps
            .store
            .commit(Commit {
                tenant: self.lease.tenant,
                run: self.lease.run,
                epoch: self.lease.epoch,
                after: self.state.last_seq,
                at,
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
            self.state.apply(event);
            self.deps.bus.publish(event);
        }
        Ok(())
    }
}

/// Gives each event of `run` to `each`, in order.
pub(crate) async fn read_log(deps: &Deps, run: RunId, mut each: impl FnMut(Event) + Send) -> Result<(), EngineError> {
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

pub(crate) async fn fold_log(deps: &Deps, run: RunId) -> Result<RunState, EngineError> {
    let mut state = RunState::new(run);
    read_log(deps, run, |event| state.apply(&event)).await?;
    Ok(state)
}

/// The message about an event that only a newer program understands; `None` for all others.
pub(crate) fn unknown_event(event: &Event) -> Option<String> {
    (event.body == EventBody::Unknown)
        .then(|| format!("event {} of run {} was written by a newer program; use that one", event.seq, event.run_id))
}

pub(crate) fn status_write(state: &RunState, status: RunStatus) -> SideWrite {
    SideWrite::Status {
        status,
        outcome: None,
        answer: None,
        tokens: state.spent.tokens,
        cost_micros: state.spent.cost_micros,
        verdict: None,
    }
}
