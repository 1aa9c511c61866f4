//! One runner: drives a leased run until it rests (ended, parked, or taken away).

use crate::deps::Deps;
use crate::run::approval_request::request_approval;
use crate::run::delegation::{self, preview};
use crate::run::finish::finish;
use crate::run::journal::{Journal, status_write};
use crate::run::plan_search::search_for_plan;
use crate::run::planning::{self, fill, filter_intent, make_plan};
use crate::run::prompt_room::call_model;
use crate::run::request_dispatch::dispatch;
use crate::run::tool_call::{Touched, commit_result, result_limit, run_tool, settle_interrupted, tool_scope};
use crate::run::tool_search::search_tools;
use crate::run::{ChildRuns, RunContext, RunSignals, result_of};
use std::collections::HashSet;
use steward_core::RunId;
use steward_core::event::{EventBody, RequestedBy, ToolResult};
use steward_core::policy::StandingGrant;
use steward_core::ports::{Command, Lease, QueuedCommand, RunStatus, SideWrite, StoreResult};
use steward_core::run::{Ask, Effect, RunState, Waiting};
use steward_core::tool::truncate;

/// How a runner left its run.
pub(crate) enum Rested {
    /// It has ended; nobody can queue anything for it any more. `parent`: the run that waits for it.
    Ended { parent: Option<RunId> },
    /// It waits, or had ended before.
    Waits,
}

/// Drives the run of `lease` to rest. `state`: the fold of a run that was just made here, so nothing was in flight.
pub(crate) async fn drive(
    deps: &Deps,
    children: &dyn ChildRuns,
    signals: &RunSignals,
    lease: Lease,
    state: Option<RunState>,
) -> StoreResult<Rested> {
    let fresh = state.is_some();
    let journal = match state {
        Some(state) => Journal::new(deps.clone(), lease, state),
        None => Journal::load(deps.clone(), lease).await?,
    };
    let mut context = RunContext { deps, signals, journal, children, access_checked: None };
    let state = &context.journal.state;
    if !fresh && !state.is_finished() && state.waiting.is_none() {
        let node = deps.config.get().node.clone();
        context.journal.append(EventBody::RunResumed { node, after_stop: false }).await?;
    }
    if !fresh {
        context.take_commands().await?;
    }
    loop {
        let effects = context.journal.state.next(deps.clock.now());
        if context.access_revoked(&effects).await? || context.permissions_changed(&effects).await? {
            continue;
        }
        if effects.is_empty() && context.rest().await? {
            return Ok(Rested::Waits);
        }
        for effect in effects {
            context.carry_out(effect).await?;
        }
        let state = &context.journal.state;
        if state.is_finished() {
            // The commit that ended it has given the lease back.
            deps.tools.ended(state.run_id);
            return Ok(Rested::Ended { parent: state.setup.as_ref().and_then(|setup| setup.parent) });
        }
        // A commit that parks gives the lease back with it: what was queued since needs a new one.
        if !context.parked() {
            context.take_commands().await?;
        }
    }
}

impl RunContext<'_> {
    fn parked(&self) -> bool {
        match &self.journal.state.waiting {
            Some(Waiting::Approval { .. }) => true,
            Some(Waiting::Timer { at, .. }) => at.since(self.deps.clock.now()) > self.deps.config.get().short_wait,
            // The lease goes back once the other run is at work, see `rest`.
            Some(Waiting::Child(_)) | None => false,
        }
    }

    /// Records permissions that changed since the run last looked; `true`: what `effects` was decided on has changed.
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
            let client_left = matches!(command, Command::ClientLeft { .. });
            match command {
                _ if self.journal.state.is_finished() => {}
                _ if client_left && delegation::waits_for_person(self.deps, &self.journal.state).await? => {}
                Command::Stop { by, source } | Command::ClientLeft { by, source } => {
                    let requested = RequestedBy { name: by.clone(), source: source.as_deref().cloned() };
                    delegation::stop_child(self, requested, client_left).await?;
                    self.signals.cancellation.cancel();
                    wakes = true;
                    events.push(EventBody::StopRequested { by, source, client_left });
                }
                Command::Steer { text, by, source } => {
                    let state = &self.journal.state;
                    let rules = state.setup.as_deref().map(|setup| &setup.data_rules);
                    let personal = match rules {
                        Some(rules) => self.deps.personal_data_in(rules, &text).await,
                        None => Vec::new(),
                    };
                    let classified = state.newly_classified_words(&text, &personal);
                    events.extend(classified.map(|classified| EventBody::DataClassified { classified }));
                    events.push(EventBody::RunSteered { text, by, source });
                }
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
                Command::Decide { id, answer, by, source } => {
                    let state = &self.journal.state;
                    let open = matches!(&state.waiting, Some(Waiting::Approval { id: open, subject }) if *open == id && answer.fits(subject));
                    // They may have said something since they were let decide.
                    let user = source.as_ref().and_then(|source| source.user);
                    wakes = open && !(answer.lets_through() && state.needs_other_than(user));
                    if wakes {
                        side.push(SideWrite::Decided { id, answer: answer.clone(), by: by.clone() });
                        events.push(EventBody::ApprovalDecided { approval_id: id, answer, by, source });
                    }
                }
            }
            if wakes && self.journal.state.waiting.is_some() {
                side.push(status_write(&self.journal.state, RunStatus::Running));
            }
            self.journal.commit(events, side).await?;
        }
        Ok(())
    }

    /// Nothing to do now. Waits in place for a near alarm, else gives the lease back.
    async fn rest(&mut self) -> StoreResult<bool> {
        if let Some(Waiting::Timer { id, at }) = self.journal.state.waiting.clone() {
            let wait = at.since(self.deps.clock.now());
            if wait <= self.deps.config.get().short_wait {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {
                        let side = vec![SideWrite::TimerDone(id)];
                        self.journal.commit(vec![EventBody::TimerFired { timer_id: id }], side).await?;
                    }
                    () = self.signals.wake.notified() => {}
                }
                return Ok(false);
            }
        }
        if let Some(Waiting::Child(child)) = self.journal.state.waiting.clone()
            && !self.journal.state.is_finished()
            && delegation::attend_child(self, child).await?
        {
            return Ok(false);
        }
        self.deps.store.release(self.journal.lease()).await?;
        Ok(true)
    }

    async fn carry_out(&mut self, effect: Effect) -> StoreResult<()> {
        // Without a beginning nothing is wanted.
        let Some(setup) = self.journal.state.setup.clone() else {
            return Ok(());
        };
        let cancellation = &self.signals.cancellation;
        match effect {
            Effect::FilterIntent => filter_intent(self, &setup).await,
            Effect::CallModel(purpose) => call_model(self, &setup, purpose).await.map(|_| ()),
            Effect::SearchForPlan => search_for_plan(self, &setup).await,
            Effect::MakePlan => make_plan(self, &setup).await,
            Effect::Fill { index } => fill(self, &setup, index).await,
            Effect::Correct { words, message, strategy } => {
                self.journal.append(EventBody::ModelCorrected { words, message, strategy }).await
            }
            Effect::Dispatch => dispatch(self, &setup).await,
            Effect::SearchTools { call } => search_tools(self, call).await,
            Effect::DeepPlan { reason } => planning::make_deep_plan(self, &setup, reason).await,
            Effect::DeepFromPlan { steps } => planning::record_given_steps(self, steps).await,
            Effect::DeepOwn { call, steps, notes } => planning::record_own_plan(self, &setup, call, steps, notes).await,
            Effect::DeepDrop { reason } => planning::drop_deep_plan(self, reason).await,
            Effect::DeepStep(judged) => planning::record_step_end(self, judged).await,
            Effect::DeepRemind { open } => self.journal.append(EventBody::DeepReminded { open }).await,
            Effect::Reject { call, message } => {
                self.journal.append(EventBody::ToolRejected { call_id: call.id, tool: call.name, message }).await
            }
            Effect::RunTool { call, idempotency_key, effect, .. } => {
                run_tool(self.deps, &mut self.journal, call, idempotency_key, effect, None, cancellation).await
            }
            Effect::Settle { call, idempotency_key } => {
                settle_interrupted(self.deps, &mut self.journal, call, idempotency_key, cancellation).await
            }
            Effect::Delegate { call, agent, idempotency_key, effect } => {
                delegation::delegate(self, call, agent, idempotency_key, effect).await
            }
            Effect::DryRun { call } => {
                let scope = tool_scope(self.deps, &self.journal.state, cancellation, &call.name).await?;
                let preview = preview(self.deps, &self.journal.state, &call, &scope).await;
                let mut text = preview.summary;
                if let Some(detail) = preview.detail {
                    text = format!("{text}\n{detail}");
                }
                let (text, _) = truncate(&text, result_limit(&self.journal.state, &call.name));
                let arguments = call.arguments.clone();
                let result = result_of(call.id, call.name, ToolResult::Dry { preview: text });
                commit_result(self.deps, &mut self.journal, &arguments, result, Touched::default()).await
            }
            Effect::Ask(what) => request_approval(self.deps, &mut self.journal, what, cancellation).await,
            Effect::Finish { outcome, answer } => finish(&mut self.journal, outcome, answer).await,
        }
    }
}
