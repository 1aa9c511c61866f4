mod attachments;
mod fork;
mod start;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize, listed_owner};
use crate::dto::runs::{ChildRun, KeptReport, Replay, Run, RunDetail, Undone as UndoneView};
use crate::inputs::is_line;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;
use steward_core::event::{Event, EventBody, RequestedBy};
use steward_core::locks::lock;
use steward_core::ports::{
    EventStream, KeptRun, RunFilter, RunRow, RunStatus, RunStore as _, StoreError, StoreResult, StoredEvent,
};
use steward_core::run::{RunState, Waiting};
use steward_core::tool::Undo;
use steward_core::{RunId, TenantId, Timestamp, ports};
use steward_engine::EngineError;
use uuid::Uuid;

pub use start::{EarlierMessages, MAX_MESSAGE, RunRequest};

const MAX_KEPT_NAME: usize = 100;
/// Longest message to a run at work, characters.
const MAX_STEERING: usize = 200_000;
const PAGE: u32 = 500;

/// How long a person's reading of another's run needs no other entry of the audit trail.
const READING_NOTED_FOR: Duration = Duration::from_hours(1);
/// Readings that are remembered for that.
const MAX_NOTED_READINGS: usize = 10_000;
/// By organisation, reader and run.
static NOTED_READINGS: Mutex<BTreeMap<(Uuid, Uuid, Uuid), Timestamp>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
pub struct RunSearch {
    /// Of the caller only, even if they see all. `user` of the filter is set by who asks.
    pub mine: bool,
    pub filter: RunFilter,
}

impl App {
    /// Newest first: one's own, or everybody's for those who see all.
    pub async fn runs(&self, caller: &Caller, search: RunSearch) -> AppResult<ports::Page<Run>> {
        authorize(caller, Action::Read, Resource::Runs)?;
        let own = search.mine.then(|| caller.user());
        let filter = RunFilter { user: own.or_else(|| listed_owner(caller, Resource::Runs)), ..search.filter };
        let page = self.store.runs(self.tenant(), filter).await?;
        let names = self.agent_names(page.items.iter().map(|row| row.agent).collect()).await?;
        let items = page.items.into_iter().map(|row| Run::named(names.get(row.agent), row)).collect();
        Ok(ports::Page { items, more: page.more })
    }

    /// With all that its page shows but its log.
    pub async fn run(&self, caller: &Caller, id: RunId) -> AppResult<RunDetail> {
        let row = self.run_of(caller, Action::Read, id).await?;
        let seen = self.runs.state(id).await?;
        let undoable = seen.effects().filter(|(_, undo)| matches!(undo, Undo::Snapshot { .. })).count();
        let waiting = match seen.waiting {
            Some(Waiting::Approval { id, .. }) if seen.outcome.is_none() => Some(id),
            _ => None,
        };
        let children = seen
            .children
            .iter()
            .map(|child| ChildRun {
                run_id: child.run,
                agent_name: child.agent.clone(),
                call_id: child.call_id.clone(),
            })
            .collect();
        let setup = seen.setup.ok_or_else(|| AppError::unavailable("the log of this run has no beginning"))?;
        let kept = self.store.kept_runs(self.tenant()).await?;
        let names = self.agent_names(vec![row.agent]).await?;
        let forkable = self.runs.forkable(id).await?;
        Ok(RunDetail {
            run: Run::named(names.get(row.agent), row),
            input: setup.input.clone(),
            mode: setup.mode,
            asked_by: setup.asked_by.clone(),
            connection_id: setup.connection,
            budget: setup.budget,
            waiting_approval: waiting,
            undoable,
            forkable,
            kept_as: kept.into_iter().find(|kept| kept.run == id).map(|kept| kept.name),
            parent: setup.parent,
            children,
        })
    }

    pub async fn run_row(&self, caller: &Caller, id: RunId) -> AppResult<RunRow> {
        self.run_of(caller, Action::Read, id).await
    }

    /// At most `limit` events of a run after `after`, and whether more follow.
    pub async fn run_log(
        &self,
        caller: &Caller,
        id: RunId,
        after: u64,
        limit: u32,
    ) -> AppResult<ports::Page<StoredEvent>> {
        self.run_of(caller, Action::Read, id).await?;
        // Positions are stored as signed numbers; nothing lies behind the highest.
        let after = after.min(i64::MAX.unsigned_abs());
        let mut items = self.stored_events(id, after, limit + 1).await?;
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Ok(ports::Page { items, more })
    }

    /// Stops a run: tools and model requests end within a second.
    pub async fn stop_run(&self, caller: &Caller, id: RunId) -> AppResult<()> {
        still_open(&self.run_of(caller, Action::Operate, id).await?)?;
        Ok(self.runs.stop(id, caller.requested_by()).await?)
    }

    /// Stops a run that the caller asked for and no longer waits for.
    pub async fn cancel_run(&self, caller: &Caller, id: RunId) -> Result<(), EngineError> {
        let by = RequestedBy { name: caller.principal.name.clone(), ..caller.requested_by() };
        self.runs.stop(id, by).await
    }

    /// Says something to a run at work; it takes it in at its next step.
    pub async fn steer_run(&self, caller: &Caller, id: RunId, text: &str) -> AppResult<()> {
        still_open(&self.run_of(caller, Action::Operate, id).await?)?;
        if text.trim().is_empty() || text.chars().count() > MAX_STEERING {
            return Err(AppError::invalid(
                "text",
                format!("a message has 1 to {MAX_STEERING} characters"),
                "say what the run should know; upload long texts as files",
            ));
        }
        Ok(self.runs.steer(id, text, caller.requested_by()).await?)
    }

    /// Takes up a run that nobody works on; `false` where there is nothing to do.
    pub async fn resume_run(&self, caller: &Caller, id: RunId) -> AppResult<bool> {
        let row = self.run_of(caller, Action::Operate, id).await?;
        Ok(row.status != RunStatus::Finished && self.runs.resume(id).await?)
    }

    /// Decides a run again from its own log, without models or tools, and compares.
    pub async fn replay_run(&self, caller: &Caller, id: RunId) -> AppResult<Replay> {
        self.run_of(caller, Action::Operate, id).await?;
        let report = self.runs.replay(id).await?;
        Ok(Replay {
            run_id: id,
            same: report.same,
            events: report.events,
            decisions: report.decisions,
            differences: report.differences,
        })
    }

    /// Takes back what an ended run did, newest first, or only one call.
    pub async fn undo_run(&self, caller: &Caller, id: RunId, call: Option<&str>) -> AppResult<Vec<UndoneView>> {
        let row = self.run_of(caller, Action::Operate, id).await?;
        has_ended(&row, "stop it first, or wait for its end")?;
        let by = caller.requested_by();
        let undone = match call {
            Some(call) => vec![self.runs.undo_call(id, call, by).await?],
            None => self.runs.undo(id, by).await?,
        };
        Ok(undone
            .into_iter()
            .map(|one| {
                let (undone, detail) = match one.result {
                    Ok(summary) => (true, summary),
                    Err(why) => (false, why),
                };
                UndoneView { call_id: one.call_id, tool: one.tool, undone, detail }
            })
            .collect())
    }

    pub async fn keep_run(&self, caller: &Caller, id: RunId, name: &str) -> AppResult<KeptRun> {
        let row = self.run_of(caller, Action::Operate, id).await?;
        has_ended(&row, "wait for its end, or stop it")?;
        let name = name.trim();
        if !is_line(name, MAX_KEPT_NAME) || name.contains('/') {
            return Err(AppError::invalid(
                "name",
                format!("a name has 1 to {MAX_KEPT_NAME} characters on one line, and no `/`"),
                "choose another name",
            ));
        }
        let kept = KeptRun { name: name.to_owned(), run: id, by: caller.by(), created_at: self.now() };
        self.store.keep_run(self.tenant(), &kept).await?;
        Ok(kept)
    }

    /// Those whose run the caller may see, by name.
    pub async fn kept_runs(&self, caller: &Caller) -> AppResult<Vec<KeptRun>> {
        authorize(caller, Action::Read, Resource::Runs)?;
        let all = self.store.kept_runs(self.tenant()).await?;
        if listed_owner(caller, Resource::Runs).is_none() {
            return Ok(all);
        }
        let mut mine = Vec::new();
        for kept in all {
            let row = self.store.run(self.tenant(), kept.run).await?;
            if authorize(caller, Action::Read, Resource::Run { id: row.id, owner: row.user }).is_ok() {
                mine.push(kept);
            }
        }
        Ok(mine)
    }

    /// Decides all of them again from their logs, without models or tools, and compares.
    pub async fn replay_kept_runs(&self, caller: &Caller) -> AppResult<Vec<KeptReport>> {
        authorize(caller, Action::Operate, Resource::Runs)?;
        let mut reports = Vec::new();
        for kept in self.kept_runs(caller).await? {
            let (name, run_id, report) = (kept.name, kept.run, self.runs.replay(kept.run).await?);
            reports.push(KeptReport { name, run_id, same: report.same, differences: report.differences });
        }
        Ok(reports)
    }

    /// Lets go of one; the run stays.
    pub async fn drop_kept_run(&self, caller: &Caller, name: &str) -> AppResult<()> {
        authorize(caller, Action::Operate, Resource::Runs)?;
        let known = self.kept_runs(caller).await?;
        let Some(kept) = known.into_iter().find(|kept| kept.name == name) else {
            return Err(AppError::not_found(format!("the kept run `{name}`")));
        };
        // Its run, so that somebody else's is theirs to let go.
        self.run_of(caller, Action::Operate, kept.run).await?;
        Ok(self.store.drop_kept(self.tenant(), &kept.name).await?)
    }

    /// Past and to come; ends after `run.finished`. Callers must have found the run by [`Self::run_row`], or begun it.
    pub fn watch(&self, run: RunId, after: u64) -> BoxStream<'static, StoreResult<Event>> {
        let events = self.runs.watch(run, after);
        if self.tenant() == TenantId::DEFAULT {
            return events;
        }
        let closing = self.closing.clone();
        events.take_until(async move { closing.cancelled().await }.boxed()).boxed()
    }

    /// At most `limit` events of a run after `after`, as they are stored.
    pub async fn stored_events(&self, run: RunId, after: u64, limit: u32) -> StoreResult<Vec<StoredEvent>> {
        self.store.events(self.tenant(), run, after, limit).await
    }

    pub async fn run_state(&self, run: RunId) -> Result<RunState, EngineError> {
        self.runs.state(run).await
    }

    /// All events of this process from now on, lossy: for refreshing lists.
    pub fn watch_all(&self) -> EventStream {
        let closing = self.closing.clone();
        self.deps().bus.subscribe_all().take_until(async move { closing.cancelled().await }.boxed()).boxed()
    }

    pub async fn may_see_event(&self, caller: &Caller, event: &Event) -> bool {
        if listed_owner(caller, Resource::Runs).is_none() {
            return true;
        }
        let id = event.run_id;
        let owner = match &event.body {
            EventBody::RunStarted { setup, .. } => setup.user,
            _ => match self.store.run(self.tenant(), id).await {
                Ok(row) => row.user,
                Err(_) => return false,
            },
        };
        authorize(caller, Action::Read, Resource::Run { id, owner }).is_ok()
    }

    /// A run that the caller asked for; `None`: it isn't there, or somebody else did.
    pub async fn asked_run(&self, caller: &Caller, id: RunId) -> StoreResult<Option<RunRow>> {
        match self.store.run(self.tenant(), id).await {
            Ok(row) => {
                let asked = authorize(caller, Action::Read, Resource::AskedRun { id, owner: row.user });
                Ok(asked.is_ok().then_some(row))
            }
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn run_of(&self, caller: &Caller, action: Action, id: RunId) -> AppResult<RunRow> {
        authorize(caller, action, Resource::Runs)?;
        let row = self.store.run(self.tenant(), id).await?;
        authorize(caller, action, Resource::Run { id, owner: row.user })?;
        if action == Action::Read && row.user.is_some_and(|owner| owner != caller.user()) {
            self.note_reading(caller, id).await?;
        }
        Ok(row)
    }

    /// Somebody looks at what another person asked: an entry once in a while, since a page asks many times.
    async fn note_reading(&self, caller: &Caller, id: RunId) -> AppResult<()> {
        let (now, key) = (self.now(), (self.tenant().0, caller.user().0, id.0));
        {
            let mut noted = lock(&NOTED_READINGS);
            if noted.get(&key).is_some_and(|at| *at <= now && now.since(*at) < READING_NOTED_FOR) {
                return Ok(());
            }
            if noted.len() >= MAX_NOTED_READINGS {
                noted.clear();
            }
            noted.insert(key, now);
        }
        self.record_audit(&self.audit_entry_of(caller, "runs.read").on(id.to_string())).await
    }

    /// Calls `see` with each event, oldest first, until it has seen enough; only a page is in memory at a time.
    pub(crate) async fn each_event(&self, run: RunId, mut see: impl FnMut(&Event) -> ControlFlow<()>) -> AppResult<()> {
        let mut after = 0;
        loop {
            let page = self.stored_events(run, after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.event.seq;
            for stored in &page {
                if see(&stored.event).is_break() {
                    return Ok(());
                }
            }
        }
    }
}

/// Refuses what only a run that has not ended can do.
fn still_open(row: &RunRow) -> AppResult<()> {
    if row.status == RunStatus::Finished {
        return Err(AppError::conflict(
            "run_finished",
            format!("run {} has ended", row.id),
            "begin another: send a message to its conversation, or fork it",
        )
        .run(row.id));
    }
    Ok(())
}

/// Refuses what only an ended run can do.
fn has_ended(row: &RunRow, hint: &str) -> AppResult<()> {
    if row.status == RunStatus::Finished {
        return Ok(());
    }
    Err(AppError::conflict("run_open", format!("run {} has not ended", row.id), hint).run(row.id))
}
