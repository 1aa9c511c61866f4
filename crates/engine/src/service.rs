//! The service that owns all runs of a node.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::fork::{ForkRun, fork, forkable};
use crate::held::HeldRuns;
use crate::log;
use crate::preview::preview;
use crate::replay::{ReplayReport, Replayer};
use crate::runner::{Handle, drive};
use crate::start::{NewRun, StartRun, start};
use crate::undo::{self, Undone};
use crate::watch::watch;
use futures::FutureExt as _;
use futures::stream::BoxStream;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use steward_core::agent::Agent;
use steward_core::approval::Answer;
use steward_core::event::Event;
use steward_core::ports::{Claim, Command, Lease, StoreError};
use steward_core::prompt::PromptPreview;
use steward_core::run::{ForkPoint, RunState};
use steward_core::{ApprovalId, ConnectionId, RunId, Timestamp};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Starts, drives, stops and resumes runs.
#[derive(Clone)]
pub struct RunService {
    inner: Arc<Inner>,
}

struct Inner {
    deps: Deps,
    held: HeldRuns,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// Places of runs at work.
    places: Arc<Semaphore>,
    /// Whether somebody found no place since the last sweep.
    crowded: AtomicBool,
    /// A place is free that somebody waits for.
    freed: Notify,
}

impl RunService {
    /// A service without background work; [`Self::serve`] begins it.
    pub fn new(deps: Deps) -> Self {
        let places = Arc::new(Semaphore::new(deps.config.max_runs.max(1)));
        Self {
            inner: Arc::new(Inner {
                deps,
                held: HeldRuns::default(),
                tasks: TaskTracker::new(),
                shutdown: CancellationToken::new(),
                places,
                crowded: AtomicBool::new(false),
                freed: Notify::new(),
            }),
        }
    }

    /// What it drives.
    pub fn deps(&self) -> &Deps {
        &self.inner.deps
    }

    /// Starts a run. When this returns, the request is durable, and the run at work or waiting for a place.
    pub async fn start(&self, request: StartRun) -> Result<RunId, EngineError> {
        let (until, place) = (self.until(), self.place());
        let queued = place.is_none().then(|| self.at_work());
        let new = start(&self.inner.deps, request, queued).await?;
        let run = new.lease.run;
        self.begin(new, place, until).await;
        Ok(run)
    }

    /// A place for a run at work, if there is one.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.inner.places).try_acquire_owned().ok();
        if place.is_none() {
            self.inner.crowded.store(true, Ordering::SeqCst);
        }
        place
    }

    /// Drives a run that was just made, or leaves it to whoever has a place first.
    pub(crate) async fn begin(&self, new: NewRun, place: Option<OwnedSemaphorePermit>, until: Timestamp) {
        let NewRun { lease, state } = new;
        if place.is_some() {
            self.spawn(lease, Some(state), until, place);
        } else if let Err(error) = self.inner.deps.store.release(&lease).await {
            tracing::warn!(run = %lease.run, %error, "a run that waits begins when its lease ends");
        }
    }

    /// Events of a run after `after`, past and to come, without gap or duplicate.
    pub fn watch(&self, run: RunId, after: u64) -> BoxStream<'static, Result<Event, StoreError>> {
        watch(self.inner.deps.clone(), self.inner.deps.tenant, run, after)
    }

    /// Stops a run wherever it is: tools and upstream requests end within a second.
    pub async fn stop(&self, run: RunId, by: &str) -> Result<(), EngineError> {
        self.command(run, Command::Stop { by: by.to_owned() }).await
    }

    /// A further message; a running run takes it in at its next step.
    pub async fn steer(&self, run: RunId, text: &str, by: &str) -> Result<(), EngineError> {
        if text.trim().is_empty() {
            return Err(EngineError::Invalid("the message is empty".to_owned()));
        }
        self.command(run, Command::Steer { text: text.to_owned(), by: by.to_owned() }).await
    }

    /// Answers an approval. The first answer counts.
    pub async fn decide(&self, id: ApprovalId, answer: Answer, by: &str) -> Result<(), EngineError> {
        let deps = &self.inner.deps;
        let approval = deps.store.approval(deps.tenant, id).await?;
        if let Some(before) = &approval.answer {
            let who = approval.decided_by.as_deref().unwrap_or("someone");
            return Err(EngineError::AlreadyDecided(format!(
                "approval {id} was already answered by {who}: {before:?}"
            )));
        }
        if !answer.fits(&approval.subject) {
            return Err(EngineError::Invalid(
                "this answer does not fit: calls and plans take approve, deny or feedback; interrupted writes take happened, run again or skip; questions take an answer"
                    .to_owned(),
            ));
        }
        self.command(approval.run_id, Command::Decide { id, answer, by: by.to_owned() }).await
    }

    /// Takes back what an ended run did, newest effect first.
    pub async fn undo(&self, run: RunId, by: &str) -> Result<Vec<Undone>, EngineError> {
        self.take_back(run, None, by).await
    }

    /// Takes back one effect of an ended run.
    pub async fn undo_call(&self, run: RunId, call_id: &str, by: &str) -> Result<Undone, EngineError> {
        let report = self.take_back(run, Some(call_id.to_owned()), by).await?;
        report.into_iter().next().ok_or_else(|| EngineError::NotFound(format!("call {call_id}")))
    }

    /// Undoes under a lease that is renewed, and goes on if whoever asked goes away.
    async fn take_back(&self, run: RunId, only: Option<String>, by: &str) -> Result<Vec<Undone>, EngineError> {
        let until = self.until();
        let lease = undo::claim(&self.inner.deps, run, until).await?;
        let handle = Handle::new();
        self.inner.held.add(lease.clone(), handle.clone(), until);
        let (service, by) = (self.clone(), by.to_owned());
        let work = self.inner.tasks.spawn(async move {
            let inner = &service.inner;
            let mut hold = inner.held.guard(&lease, &handle);
            let done = tokio::select! {
                done = undo::undo(&inner.deps, &handle, lease.clone(), only.as_deref(), &by) => {
                    hold.ended = true;
                    done
                }
                () = service.renew(&lease) => Err(cut_short(run)),
                () = inner.shutdown.cancelled() => Err(cut_short(run)),
            };
            drop(hold);
            inner.deps.store.release(&lease).await?;
            done
        });
        work.await.unwrap_or_else(|_| Err(cut_short(run)))
    }

    /// The fold of a run's log.
    pub async fn state(&self, run: RunId) -> Result<RunState, EngineError> {
        log::state(&self.inner.deps, run).await
    }

    /// Where a run can be forked, first place first.
    pub async fn forkable(&self, run: RunId) -> Result<Vec<ForkPoint>, EngineError> {
        forkable(&self.inner.deps, run).await
    }

    /// Begins a run with the first events of another and drives it on. What those events did is
    /// not done again.
    pub async fn fork(&self, request: ForkRun) -> Result<RunId, EngineError> {
        let (until, place) = (self.until(), self.place());
        let new = fork(&self.inner.deps, request).await?;
        let run = new.lease.run;
        self.begin(new, place, until).await;
        Ok(run)
    }

    /// Whether this program would decide today as the log says. No model is asked, no tool runs.
    pub async fn replay(&self, run: RunId) -> Result<ReplayReport, EngineError> {
        let deps = &self.inner.deps;
        let mut replayer = Replayer::new(run, deps.config.max_plan_steps);
        log::read(deps, run, |event| replayer.step(&event)).await?;
        Ok(replayer.finish())
    }

    /// The same for a log that is at hand.
    pub fn replay_events(&self, run: RunId, events: &[Event]) -> ReplayReport {
        crate::replay::replay_events(run, events, self.inner.deps.config.max_plan_steps)
    }

    /// The prompt that a run of `agent` on `input` would begin with.
    pub async fn preview(
        &self,
        agent: &Agent,
        connection: Option<ConnectionId>,
        input: &str,
    ) -> Result<PromptPreview, EngineError> {
        preview(&self.inner.deps, agent, connection, input).await
    }

    /// Takes a run over if nobody holds it, and drives it; `false` if there is nothing to take.
    pub async fn resume(&self, run: RunId) -> Result<bool, EngineError> {
        if self.handle(run).is_some() {
            return Ok(false);
        }
        self.claim(Claim::Run(run), self.place()).await
    }

    /// Begins the background work: runs to resume, commands of others, alarms.
    pub fn serve(&self) {
        let service = self.clone();
        self.inner.tasks.spawn(async move {
            loop {
                service.sweep().await;
                tokio::select! {
                    () = tokio::time::sleep(service.inner.deps.config.poll) => {}
                    () = service.inner.freed.notified() => {}
                    () = service.inner.shutdown.cancelled() => return,
                }
            }
        });
    }

    /// Takes no more work, lets go of what runs (it resumes at the next start) and waits for it.
    pub async fn shutdown(&self) {
        self.inner.shutdown.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }

    /// How many runs are at work here.
    pub fn at_work(&self) -> usize {
        self.inner.held.count()
    }

    async fn sweep(&self) {
        if let Err(error) = self.ring_timers().await {
            tracing::warn!(%error, "cannot look for alarms");
        }
        self.keep().await;
        while let Some(place) = self.place() {
            match self.claim(Claim::Any, Some(place)).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "cannot look for runs to resume");
                    return;
                }
            }
        }
    }

    /// Renews what this node holds and is late with, as after a sleep of the machine: it would take its own runs
    /// over, and do their model calls again.
    async fn keep(&self) {
        let deps = &self.inner.deps;
        for lease in self.inner.held.late(deps.clock.now(), deps.config.lease / 3) {
            let until = self.until();
            match deps.store.renew(&lease, until).await {
                Ok(()) => self.inner.held.renewed(&lease, until),
                Err(error) => tracing::debug!(run = %lease.run, %error, "cannot keep a late lease"),
            }
        }
    }

    async fn ring_timers(&self) -> Result<(), EngineError> {
        let deps = &self.inner.deps;
        for due in deps.store.due_timers(deps.clock.now(), 100).await? {
            if self.handle(due.run).is_some() {
                continue;
            }
            deps.store.push_command(due.tenant, due.run, Command::Timer { id: due.id }).await?;
        }
        Ok(())
    }

    async fn command(&self, run: RunId, command: Command) -> Result<(), EngineError> {
        let stops = matches!(command, Command::Stop { .. });
        let deps = &self.inner.deps;
        deps.store.push_command(deps.tenant, run, command).await?;
        match self.handle(run) {
            Some(handle) if stops => handle.interrupt(),
            Some(handle) => handle.wake.notify_one(),
            // A stop waits for nobody; whatever else was said is taken in when there is a place.
            None => {
                let place = self.place();
                if stops || place.is_some() {
                    self.claim(Claim::Run(run), place).await?;
                }
            }
        }
        Ok(())
    }

    async fn claim(&self, what: Claim, place: Option<OwnedSemaphorePermit>) -> Result<bool, EngineError> {
        if self.inner.shutdown.is_cancelled() {
            return Ok(false);
        }
        let deps = &self.inner.deps;
        let until = self.until();
        let lease = deps.store.claim(what, &deps.config.node, deps.clock.now(), until).await?;
        let found = lease.is_some();
        if let Some(lease) = lease {
            self.spawn(lease, None, until, place);
        }
        Ok(found)
    }

    /// When a lease that is taken now ends.
    pub(crate) fn until(&self) -> Timestamp {
        let deps = &self.inner.deps;
        deps.clock.now().plus(deps.config.lease)
    }

    /// Drives a run whose lease lasts until then, or longer. `state`: it was just made here.
    fn spawn(&self, lease: Lease, state: Option<RunState>, until: Timestamp, place: Option<OwnedSemaphorePermit>) {
        let handle = Handle::new();
        self.inner.held.add(lease.clone(), handle.clone(), until);
        let service = self.clone();
        self.inner.tasks.spawn(async move { service.hold(lease, handle, state, place).await });
    }

    /// Drives a run while renewing its lease; then looks whether a command came in between.
    async fn hold(&self, lease: Lease, handle: Handle, state: Option<RunState>, place: Option<OwnedSemaphorePermit>) {
        let run = lease.run;
        let deps = &self.inner.deps;
        let mut parent = None;
        let mut hold = self.inner.held.guard(&lease, &handle);
        let driving = AssertUnwindSafe(drive(self, deps, &handle, lease.clone(), state));
        tokio::select! {
            result = driving.catch_unwind() => match result {
                Ok(Ok(waiting)) => {
                    hold.ended = true;
                    parent = waiting;
                }
                // The lease is not given back: it ends by itself, and the run is not tried at once again.
                Ok(Err(error)) => {
                    tracing::error!(%run, %error, "the run rests until its lease ends");
                }
                Err(_) => tracing::error!(%run, "the run panicked; it rests until its lease ends"),
            },
            () = self.renew(&lease) => {
                tracing::warn!(%run, "lease lost; another runner has the run");
            }
            () = self.inner.shutdown.cancelled() => {
                handle.interrupt();
                if let Err(error) = deps.store.release(&lease).await {
                    tracing::warn!(%run, %error, "cannot release the run; its lease will end by itself");
                }
            }
        }
        drop(hold);
        drop(place);
        if self.inner.crowded.swap(false, Ordering::SeqCst) {
            self.inner.freed.notify_one();
        }
        // The one above has a command about it, so it goes on in any case; this is quicker.
        if let Some(parent) = parent.filter(|parent| self.handle(*parent).is_none())
            && let Some(place) = self.place()
            && let Err(error) = Box::pin(self.claim(Claim::Run(parent), Some(place))).await
        {
            tracing::warn!(run = %parent, %error, "cannot go on with the run at once");
        }
        let waiting = deps.store.commands(deps.tenant, run).await.is_ok_and(|queue| !queue.is_empty());
        // It had a place a moment ago.
        if waiting && let Err(error) = Box::pin(self.claim(Claim::Run(run), self.place())).await {
            tracing::warn!(%run, %error, "cannot go on with the run");
        }
    }

    /// Returns when the lease is lost.
    async fn renew(&self, lease: &Lease) {
        let deps = &self.inner.deps;
        loop {
            tokio::time::sleep(deps.config.lease / 3).await;
            let until = self.until();
            match deps.store.renew(lease, until).await {
                Ok(()) => self.inner.held.renewed(lease, until),
                Err(StoreError::Fenced { .. }) => return,
                Err(error) => tracing::warn!(run = %lease.run, %error, "cannot renew the lease"),
            }
        }
    }

    fn handle(&self, run: RunId) -> Option<Handle> {
        self.inner.held.handle(run)
    }
}

fn cut_short(run: RunId) -> EngineError {
    EngineError::Invalid(format!(
        "undoing run {run} was cut short; what is done stands in its log: undo it again for the rest"
    ))
}
