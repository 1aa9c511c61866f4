pub(crate) mod active_runs;
pub(crate) mod fork;
mod go_on;
pub(crate) mod models;
pub(crate) mod preview;
mod redirect;
pub(crate) mod request;
pub(crate) mod slots;
pub(crate) mod start;
pub(crate) mod undo;

use crate::deps::Deps;
use crate::error::EngineError;
use crate::readers::replay::{ReplayReport, Replayer, replay_events};
use crate::readers::watch;
use crate::run::journal::{fold_log, read_log};
use crate::run::runner::{Rested, drive};
use crate::run::{ChildRuns, RunSignals};
use crate::service::active_runs::ActiveRuns;
use crate::service::fork::{ForkRun, fork, fork_points};
use crate::service::preview::{PreviewFor, RoutePreview, preview_prompt, preview_route};
use crate::service::request::StartRun;
use crate::service::slots::{Slot, Slots};
use crate::service::start::{NewRun, create_child, create_requested, tool_rules};
use crate::service::undo::Undone;
use async_trait::async_trait;
use fail::fail_point;
use futures::FutureExt as _;
use futures::stream::BoxStream;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use steward_core::agent::Agent;
use steward_core::approval::Answer;
use steward_core::event::{Event, Origin, RequestedBy};
use steward_core::policy::ToolRule;
use steward_core::ports::{Claim, Command, Lease, OpenRuns, StoreError};
use steward_core::prompt::PromptPreview;
use steward_core::run::{ChildRun, ForkPoint, RunState};
use steward_core::{ApprovalId, ConnectionId, RunId, Timestamp, UserId};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Seconds after which somebody with too many runs that wait may try again.
const WAIT_S: u64 = 5;

#[derive(Clone)]
pub struct RunService {
    inner: Arc<Inner>,
}

struct Inner {
    deps: Deps,
    active: ActiveRuns,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    slots: Slots,
}

impl RunService {
    /// A service without background work; [`Self::serve`] begins it.
    pub fn new(deps: Deps) -> Self {
        let slots = Slots::new(deps.config.clone());
        Self {
            inner: Arc::new(Inner {
                deps,
                active: ActiveRuns::default(),
                tasks: TaskTracker::new(),
                shutdown: CancellationToken::new(),
                slots,
            }),
        }
    }

    pub fn deps(&self) -> &Deps {
        &self.inner.deps
    }

    /// Starts a run. When this returns, the request is durable, and the run at work or waiting for a slot.
    pub async fn start(&self, request: StartRun) -> Result<RunId, EngineError> {
        let slot = self.slot_for(request.user).await?;
        let until = self.lease_end();
        let queued = slot.is_none().then(|| self.at_work());
        let new = create_requested(&self.inner.deps, request, queued).await?;
        let run = new.lease.run;
        self.begin(new, slot, until).await;
        Ok(run)
    }

    /// A slot for a new run of this user; `None`: it waits for its turn.
    async fn slot_for(&self, user: Option<UserId>) -> Result<Option<Slot>, EngineError> {
        let slot = self.inner.slots.take();
        if slot.is_none() {
            let deps = &self.inner.deps;
            let OpenRuns { waiting, .. } = deps.store.open_runs(deps.tenant, user, deps.clock.now()).await?;
            if waiting >= self.inner.slots.max_waiting() {
                return Err(EngineError::TooManyWaiting { waiting, wait_s: WAIT_S });
            }
        }
        Ok(slot)
    }

    /// Drives a run that was just made, or leaves it to whoever has a slot when it is its turn.
    async fn begin(&self, new: NewRun, slot: Option<Slot>, until: Timestamp) {
        let NewRun { lease, state } = new;
        if slot.is_some() {
            self.spawn(lease, Some(state), until, slot);
            return;
        }
        match self.inner.deps.store.release(&lease).await {
            Ok(()) => self.fill_slots().await,
            Err(error) => tracing::warn!(run = %lease.run, %error, "a run that waits begins when its lease ends"),
        }
    }

    /// Gives what is free to runs that wait, by turns.
    async fn fill_slots(&self) {
        let filled = async {
            let slots = &self.inner.slots;
            while let Some(slot) = slots.take_for_waiting() {
                if !self.claim(Claim::Any, Some(slot)).await? {
                    slots.nobody_waits();
                    return Ok(());
                }
            }
            while let Some(slot) = slots.take_spare() {
                if !self.claim(Claim::OfIdleUser, Some(slot)).await? {
                    break;
                }
            }
            Ok::<(), EngineError>(())
        };
        if let Err(error) = filled.await {
            tracing::warn!(%error, "cannot look for runs to resume");
        }
    }

    /// Events of a run after `after`, past and to come, without gap or duplicate.
    pub fn watch(&self, run: RunId, after: u64) -> BoxStream<'static, Result<Event, StoreError>> {
        watch(self.inner.deps.clone(), self.inner.deps.tenant, run, after)
    }

    /// Stops a run wherever it is: tools and upstream requests end within a second.
    pub async fn stop(&self, run: RunId, by: impl Into<RequestedBy>) -> Result<(), EngineError> {
        let RequestedBy { name: by, source } = by.into();
        self.command(run, Command::Stop { by, source: source.map(Box::new) }).await
    }

    /// A further message; a running run takes it in at its next step.
    pub async fn steer(&self, run: RunId, text: &str, by: impl Into<RequestedBy>) -> Result<(), EngineError> {
        if text.trim().is_empty() {
            return Err(EngineError::Invalid("the message is empty".to_owned()));
        }
        let RequestedBy { name: by, source } = by.into();
        self.command(run, Command::Steer { text: text.to_owned(), by, source: source.map(Box::new) }).await
    }

    /// Answers an approval. The first answer counts.
    pub async fn decide(&self, id: ApprovalId, answer: Answer, by: impl Into<RequestedBy>) -> Result<(), EngineError> {
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
        let RequestedBy { name: by, source } = by.into();
        let source = source.map(Box::new);
        self.command(approval.run_id, Command::Decide { id, answer, by, source }).await
    }

    pub async fn undo(&self, run: RunId, by: impl Into<RequestedBy>) -> Result<Vec<Undone>, EngineError> {
        self.undo_effects(run, None, by.into()).await
    }

    pub async fn undo_call(
        &self,
        run: RunId,
        call_id: &str,
        by: impl Into<RequestedBy>,
    ) -> Result<Undone, EngineError> {
        let report = self.undo_effects(run, Some(call_id.to_owned()), by.into()).await?;
        report.into_iter().next().ok_or_else(|| EngineError::NotFound(format!("call {call_id}")))
    }

    /// Undoes under a lease that is renewed, and goes on if whoever asked goes away.
    async fn undo_effects(
        &self,
        run: RunId,
        only: Option<String>,
        by: RequestedBy,
    ) -> Result<Vec<Undone>, EngineError> {
        let until = self.lease_end();
        let lease = undo::claim(&self.inner.deps, run, until).await?;
        let signals = RunSignals::default();
        self.inner.active.add(lease.clone(), signals.clone(), until);
        let service = self.clone();
        let work = self.inner.tasks.spawn(async move {
            let inner = &service.inner;
            let mut guard = inner.active.guard(&lease, &signals);
            let done = tokio::select! {
                done = undo::undo(&inner.deps, &signals, lease.clone(), only.as_deref(), &by) => {
                    guard.ended = true;
                    done
                }
                () = service.renew_until_lost(&lease) => Err(cut_short(run)),
                () = inner.shutdown.cancelled() => Err(cut_short(run)),
            };
            drop(guard);
            inner.deps.store.release(&lease).await?;
            done
        });
        work.await.unwrap_or_else(|_| Err(cut_short(run)))
    }

    pub async fn state(&self, run: RunId) -> Result<RunState, EngineError> {
        fold_log(&self.inner.deps, run).await
    }

    /// The rules of the installation for what `user` has this agent do.
    pub async fn tool_rules(&self, agent: &Agent, origin: Origin, user: UserId) -> Result<Vec<ToolRule>, EngineError> {
        tool_rules(&self.inner.deps, agent.id, origin, Some(user)).await
    }

    pub async fn forkable(&self, run: RunId) -> Result<Vec<ForkPoint>, EngineError> {
        fork_points(&self.inner.deps, run).await
    }

    /// Drives a new run on from the first events of another, whose effects are not done again.
    pub async fn fork(&self, request: ForkRun) -> Result<RunId, EngineError> {
        let slot = self.slot_for(request.start.user).await?;
        let until = self.lease_end();
        let new = fork(&self.inner.deps, request).await?;
        let run = new.lease.run;
        self.begin(new, slot, until).await;
        Ok(run)
    }

    /// Whether this program would decide today as the log says. No model is asked, no tool runs.
    pub async fn replay(&self, run: RunId) -> Result<ReplayReport, EngineError> {
        let deps = &self.inner.deps;
        let mut replayer = Replayer::new(run, deps.config.get().max_plan_steps);
        read_log(deps, run, |event| replayer.step(&event)).await?;
        Ok(replayer.finish())
    }

    pub fn replay_events(&self, run: RunId, events: &[Event]) -> ReplayReport {
        replay_events(run, events, self.inner.deps.config.get().max_plan_steps)
    }

    pub async fn preview(
        &self,
        agent: &Agent,
        connection: Option<ConnectionId>,
        input: &str,
        asked: PreviewFor,
    ) -> Result<PromptPreview, EngineError> {
        preview_prompt(&self.inner.deps, agent, connection, input, asked).await
    }

    /// Nothing is sent.
    pub async fn preview_route(
        &self,
        agent: &Agent,
        input: &str,
        asked: PreviewFor,
    ) -> Result<RoutePreview, EngineError> {
        preview_route(&self.inner.deps, agent, input, asked).await
    }

    /// Takes a run over if nobody holds it, and drives it; `false` if there is nothing to take.
    pub async fn resume(&self, run: RunId) -> Result<bool, EngineError> {
        if self.signals(run).is_some() {
            return Ok(false);
        }
        self.claim(Claim::Run(run), self.inner.slots.take()).await
    }

    /// Begins the background work: runs to resume, commands of others, alarms.
    pub fn serve(&self) {
        let service = self.clone();
        self.inner.tasks.spawn(async move {
            loop {
                service.sweep().await;
                let poll = service.inner.deps.config.get().poll;
                tokio::select! {
                    () = tokio::time::sleep(poll) => {}
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

    pub fn at_work(&self) -> usize {
        self.inner.active.count()
    }

    async fn sweep(&self) {
        if let Err(error) = self.fire_timers().await {
            tracing::warn!(%error, "cannot look for alarms");
        }
        self.renew_late_leases().await;
        self.fill_slots().await;
    }

    /// As after a sleep of the machine: else this node would take its own runs over and repeat their model calls.
    async fn renew_late_leases(&self) {
        let deps = &self.inner.deps;
        let margin = deps.config.get().lease / 3;
        for lease in self.inner.active.late(deps.clock.now(), margin) {
            let until = self.lease_end();
            match deps.store.renew(&lease, until).await {
                Ok(()) => self.inner.active.renewed(&lease, until),
                Err(error) => tracing::debug!(run = %lease.run, %error, "cannot keep a late lease"),
            }
        }
    }

    async fn fire_timers(&self) -> Result<(), EngineError> {
        let deps = &self.inner.deps;
        for due in deps.store.due_timers(deps.tenant, deps.clock.now(), 100).await? {
            if self.signals(due.run).is_some() {
                continue;
            }
            deps.store.push_command(deps.tenant, due.run, Command::Timer { id: due.id }).await?;
        }
        Ok(())
    }

    async fn command(&self, run: RunId, command: Command) -> Result<(), EngineError> {
        let stops = matches!(command, Command::Stop { .. } | Command::ClientLeft { .. });
        let deps = &self.inner.deps;
        deps.store.push_command(deps.tenant, run, command).await?;
        match self.signals(run) {
            Some(signals) if stops => signals.interrupt(),
            Some(signals) => signals.wake.notify_one(),
            // A stop waits for nobody; whatever else was said is taken in when there is a slot.
            None => {
                let slot = self.inner.slots.take();
                if stops || slot.is_some() {
                    self.claim(Claim::Run(run), slot).await?;
                } else {
                    self.fill_slots().await;
                }
            }
        }
        Ok(())
    }

    async fn claim(&self, what: Claim, slot: Option<Slot>) -> Result<bool, EngineError> {
        if self.inner.shutdown.is_cancelled() {
            return Ok(false);
        }
        let deps = &self.inner.deps;
        let until = self.lease_end();
        let config = deps.config.get();
        let lease = deps.store.claim(deps.tenant, what, &config.node, deps.clock.now(), until).await?;
        let found = lease.is_some();
        if let Some(lease) = lease {
            self.spawn(lease, None, until, slot);
        }
        Ok(found)
    }

    fn lease_end(&self) -> Timestamp {
        let deps = &self.inner.deps;
        deps.clock.now().plus(deps.config.get().lease)
    }

    /// Drives a run whose lease lasts until then, or longer. `state`: it was just made here.
    fn spawn(&self, lease: Lease, state: Option<RunState>, until: Timestamp, slot: Option<Slot>) {
        let signals = RunSignals::default();
        self.inner.active.add(lease.clone(), signals.clone(), until);
        let service = self.clone();
        self.inner.tasks.spawn(async move { service.drive_leased(lease, signals, state, slot).await });
    }

    /// Drives a run while renewing its lease; then looks whether a command came in between.
    async fn drive_leased(&self, lease: Lease, signals: RunSignals, state: Option<RunState>, mut slot: Option<Slot>) {
        let run = lease.run;
        let deps = &self.inner.deps;
        let (mut parent, mut ended) = (None, false);
        let mut guard = self.inner.active.guard(&lease, &signals);
        let driving = AssertUnwindSafe(drive(deps, self, &signals, lease.clone(), state));
        tokio::select! {
            result = driving.catch_unwind() => match result {
                Ok(Ok(rested)) => {
                    guard.ended = true;
                    if let Rested::Ended { parent: waiting } = rested {
                        (parent, ended) = (waiting, true);
                    }
                }
                // The lease is not given back: it ends by itself, and the run is not tried at once again.
                Ok(Err(error)) => {
                    tracing::error!(%run, %error, "the run rests until its lease ends");
                }
                Err(_) => tracing::error!(%run, "the run panicked; it rests until its lease ends"),
            },
            () = self.renew_until_lost(&lease) => {
                tracing::warn!(%run, "lease lost; another runner has the run");
            }
            () = self.inner.shutdown.cancelled() => {
                signals.interrupt();
                if let Err(error) = deps.store.release(&lease).await {
                    tracing::warn!(%run, %error, "cannot release the run; its lease will end by itself");
                }
            }
        }
        drop(guard);
        let waiting = !ended && deps.store.commands(deps.tenant, run).await.is_ok_and(|queue| !queue.is_empty());
        if waiting && let Err(error) = Box::pin(self.claim(Claim::Run(run), slot.take())).await {
            tracing::warn!(%run, %error, "cannot go on with the run");
        }
        drop(slot);
        if self.inner.slots.are_waited_for() {
            Box::pin(self.fill_slots()).await;
        }
        // The one above has a command about it, so it goes on in any case; this is quicker.
        if let Some(parent) = parent.filter(|parent| self.signals(*parent).is_none())
            && let Some(slot) = self.inner.slots.take()
            && let Err(error) = Box::pin(self.claim(Claim::Run(parent), Some(slot))).await
        {
            tracing::warn!(run = %parent, %error, "cannot go on with the run at once");
        }
    }

    /// Returns when the lease is lost.
    async fn renew_until_lost(&self, lease: &Lease) {
        let deps = &self.inner.deps;
        loop {
            let pause = deps.config.get().lease / 3;
            tokio::time::sleep(pause).await;
            let until = self.lease_end();
            match deps.store.renew(lease, until).await {
                Ok(()) => self.inner.active.renewed(lease, until),
                Err(StoreError::Fenced { .. }) => return,
                Err(error) => tracing::warn!(run = %lease.run, %error, "cannot renew the lease"),
            }
        }
    }

    fn signals(&self, run: RunId) -> Option<RunSignals> {
        self.inner.active.signals(run)
    }
}

#[async_trait]
impl ChildRuns for RunService {
    async fn start_child(&self, child: &ChildRun, parent: &RunState) -> Result<(), EngineError> {
        let (until, slot) = (self.lease_end(), self.inner.slots.take());
        let new = create_child(&self.inner.deps, child, parent).await?;
        fail_point!("engine.child.made");
        self.begin(new, slot, until).await;
        Ok(())
    }

    async fn stop_child(&self, run: RunId, by: RequestedBy, client_left: bool) -> Result<(), EngineError> {
        if client_left { self.leave(run, by).await } else { self.stop(run, by).await }
    }
}

fn cut_short(run: RunId) -> EngineError {
    EngineError::Invalid(format!(
        "undoing run {run} was cut short; what is done stands in its log: undo it again for the rest"
    ))
}
