//! One runner: drives a leased run until it rests (ended, parked, or taken away).

use crate::ask::{ask, status};
use crate::child::{self, preview};
use crate::deep;
use crate::deps::Deps;
use crate::fill::fill;
use crate::finish::finish;
use crate::journal::Journal;
use crate::model_call::call_model;
use crate::planning::{filter_intent, make_plan};
use crate::search;
use crate::service::RunService;
use crate::tier4;
use crate::tool_call::{result_limit, run_tool, scope_of, settle};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use steward_core::RunId;
use steward_core::event::{EventBody, Outcome, ToolResult};
use steward_core::ports::{Command, Lease, QueuedCommand, RunStatus, SideWrite, StandingGrant, StoreResult};
use steward_core::run::{AnswerFrom, Ask, Effect, RunState, Waiting};
use steward_core::tool::truncate;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How others reach a running run.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    /// A command was queued.
    pub wake: Arc<Notify>,
    /// The run is stopped: tools and model calls end.
    pub stop: Arc<AtomicBool>,
    /// The same, for what awaits.
    pub cancel: CancellationToken,
}

impl Handle {
    pub fn new() -> Self {
        Self { wake: Arc::new(Notify::new()), stop: Arc::new(AtomicBool::new(false)), cancel: CancellationToken::new() }
    }

    /// Ends what is in flight; the durable command tells why.
    pub fn interrupt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.cancel.cancel();
        self.wake.notify_one();
    }
}

pub(crate) struct Runner<'a> {
    pub deps: &'a Deps,
    pub handle: &'a Handle,
    pub journal: Journal,
    /// Drives the runs that this one delegates to.
    pub service: &'a RunService,
}

/// Drives the run of `lease` to rest. `state`: the fold of a run that was just made here, so nothing was in flight.
/// Returns the run that waits for this one, if it has ended.
pub(crate) async fn drive(
    service: &RunService,
    deps: &Deps,
    handle: &Handle,
    lease: Lease,
    state: Option<RunState>,
) -> StoreResult<Option<RunId>> {
    let fresh = state.is_some();
    let journal = match state {
        Some(state) => Journal::new(deps.clone(), lease, state),
        None => Journal::load(deps.clone(), lease).await?,
    };
    let mut runner = Runner { deps, handle, journal, service };
    let state = &runner.journal.state;
    if !fresh && !state.is_finished() && state.waiting.is_none() {
        let node = deps.config.node.clone();
        runner.journal.append(EventBody::RunResumed { node }).await?;
    }
    runner.take_commands().await?;
    loop {
        let effects = runner.journal.state.next(deps.clock.now());
        if runner.permissions_changed(&effects).await? {
            continue;
        }
        if effects.is_empty() && runner.rest().await? {
            let state = &runner.journal.state;
            if state.is_finished() {
                deps.tools.ended(state.run_id);
            }
            let parent = state.setup.as_ref().and_then(|setup| setup.parent);
            return Ok(parent.filter(|_| state.is_finished()));
        }
        for effect in effects {
            runner.carry_out(effect).await?;
        }
        // A commit that parks gives the lease back with it: what was queued since needs a new one.
        if !runner.parked() {
            runner.take_commands().await?;
        }
    }
}

impl Runner<'_> {
    /// Whether the run waits for a person or for a far alarm.
    fn parked(&self) -> bool {
        match &self.journal.state.waiting {
            Some(Waiting::Approval { .. }) => true,
            Some(Waiting::Timer { at, .. }) => at.since(self.deps.clock.now()) > self.deps.config.short_wait,
            // The lease goes back once the other run is at work, see `rest`.
            Some(Waiting::Child(_)) | None => false,
        }
    }

    /// Takes down what people allowed the agent, or took back, since the run last looked; `true`: what `effects` was
    /// decided on has changed.
    async fn permissions_changed(&mut self, effects: &[Effect]) -> StoreResult<bool> {
        let state = &self.journal.state;
        let matters = effects.iter().any(|effect| match effect {
            Effect::RunTool { .. } | Effect::Delegate { .. } => !state.standing.is_empty(),
            Effect::Ask(Ask::Call { .. }) => true,
            _ => false,
        });
        let Some(setup) = state.setup.as_deref().filter(|_| matters) else {
            return Ok(false);
        };
        let (deps, now) = (self.deps, self.deps.clock.now());
        let agent = Some(setup.agent.id);
        let standing = deps.store.grants(deps.tenant, agent, now).await?;
        let in_force = |one: &&StandingGrant| one.grant.until.is_none_or(|until| now < until);
        let known: HashSet<_> = state.standing.iter().filter(in_force).map(|one| one.id).collect();
        if known == standing.iter().map(|one| one.id).collect() {
            return Ok(false);
        }
        let changed = EventBody::GrantsChanged { standing };
        self.journal.append(changed).await?;
        Ok(true)
    }

    /// Takes queued commands in: each becomes an event, consumed in the same transaction.
    async fn take_commands(&mut self) -> StoreResult<()> {
        let lease = self.journal.lease();
        let queued = self.deps.store.commands(lease.tenant, lease.run).await?;
        for QueuedCommand { id, command } in queued {
            let mut side = vec![SideWrite::Consumed(vec![id])];
            let mut events = Vec::new();
            let mut wakes = false;
            match command {
                _ if self.journal.state.is_finished() => {}
                Command::Stop { by } => {
                    child::stop(self, &by).await?;
                    self.handle.stop.store(true, Ordering::Relaxed);
                    wakes = true;
                    events.push(EventBody::StopRequested { by });
                }
                Command::Steer { text, by } => events.push(EventBody::RunSteered { text, by }),
                Command::Timer { id } => {
                    wakes = matches!(&self.journal.state.waiting, Some(Waiting::Timer { id: open, .. }) if *open == id);
                    side.push(SideWrite::TimerDone(id));
                    events.push(EventBody::TimerFired { timer_id: id });
                }
                // What it came to is read when the run rests. It is at work from here on: parked
                // with nothing queued, nobody would claim it after a crash in between.
                Command::ChildEnded { run } => {
                    wakes = matches!(&self.journal.state.waiting, Some(Waiting::Child(child)) if child.run == run);
                }
                Command::Decide { id, answer, by } => {
                    wakes = matches!(&self.journal.state.waiting, Some(Waiting::Approval { id: open, subject }) if *open == id && answer.fits(subject));
                    if wakes {
                        side.push(SideWrite::Decided { id, answer: answer.clone(), by: by.clone() });
                        events.push(EventBody::ApprovalDecided { approval_id: id, answer, by });
                    }
                }
            }
            if wakes && self.journal.state.waiting.is_some() {
                side.push(status(&self.journal.state, RunStatus::Running));
            }
            self.journal.commit(events, side).await?;
        }
        Ok(())
    }

    /// Nothing to do now. Waits in place for a near alarm, else gives the lease back.
    async fn rest(&mut self) -> StoreResult<bool> {
        if let Some(Waiting::Timer { id, at }) = self.journal.state.waiting.clone() {
            let wait = at.since(self.deps.clock.now());
            if wait <= self.deps.config.short_wait {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {
                        let side = vec![SideWrite::TimerDone(id)];
                        self.journal.commit(vec![EventBody::TimerFired { timer_id: id }], side).await?;
                    }
                    () = self.handle.wake.notified() => {}
                }
                return Ok(false);
            }
        }
        if let Some(Waiting::Child(child)) = self.journal.state.waiting.clone()
            && !self.journal.state.is_finished()
            && child::attend(self, child).await?
        {
            return Ok(false);
        }
        self.deps.store.release(self.journal.lease()).await?;
        Ok(true)
    }

    async fn carry_out(&mut self, effect: Effect) -> StoreResult<()> {
        let stop = Arc::clone(&self.handle.stop);
        match effect {
            Effect::FilterIntent => filter_intent(self).await,
            Effect::CallModel(purpose) => call_model(self, purpose).await.map(|_| ()),
            Effect::MakePlan => make_plan(self).await,
            Effect::Fill { index } => fill(self, index).await,
            Effect::Correct { words, message, strategy } => {
                self.journal.append(EventBody::ModelCorrected { words, message, strategy }).await
            }
            Effect::Dispatch => tier4::dispatch(self).await,
            Effect::SearchTools { call } => search::search_tools(self, call).await,
            Effect::DeepPlan { reason } => deep::plan(self, reason).await,
            Effect::DeepFromPlan { steps } => deep::told(self, steps).await,
            Effect::DeepOwn { call, steps, notes } => deep::own(self, call, steps, notes).await,
            Effect::DeepDrop { reason } => deep::drop_plan(self, reason).await,
            Effect::DeepStep(judged) => deep::ended(self, judged).await,
            Effect::DeepRemind { open } => self.journal.append(EventBody::DeepReminded { open }).await,
            Effect::Reject { call, message } => {
                self.journal.append(EventBody::ToolRejected { call_id: call.id, tool: call.name, message }).await
            }
            Effect::RunTool { call, idempotency_key, effect, .. } => {
                run_tool(self.deps, &mut self.journal, call, idempotency_key, effect, None, &stop).await
            }
            Effect::Settle { call, idempotency_key } => {
                settle(self.deps, &mut self.journal, call, idempotency_key, &stop).await
            }
            Effect::Delegate { call, agent, idempotency_key, effect } => {
                child::delegate(self, call, agent, idempotency_key, effect).await
            }
            Effect::DryRun { call } => {
                let scope = scope_of(self.deps, &self.journal.state, &stop, &call.name);
                let preview = preview(self.deps, &self.journal.state, &call, &scope).await;
                let mut text = preview.summary;
                if let Some(detail) = preview.detail {
                    text = format!("{text}\n{detail}");
                }
                let (text, _) = truncate(&text, self.result_limit(&call.name));
                let result = ToolResult::Dry { preview: text };
                self.journal
                    .append(EventBody::ToolResult { call_id: call.id, tool: call.name, result, ms: 0, evidence: None })
                    .await
            }
            Effect::Ask(what) => self.ask(what, &stop).await,
            Effect::Finish { outcome, answer } => self.finish(outcome, answer).await,
        }
    }

    /// Longest text of a result that the tool gives to the model, characters.
    fn result_limit(&self, tool: &str) -> usize {
        result_limit(&self.journal.state, tool)
    }

    async fn ask(&mut self, what: Ask, stop: &Arc<AtomicBool>) -> StoreResult<()> {
        ask(self.deps, &mut self.journal, what, stop).await
    }

    async fn finish(&mut self, outcome: Outcome, answer: AnswerFrom) -> StoreResult<()> {
        finish(&mut self.journal, outcome, answer).await
    }
}
