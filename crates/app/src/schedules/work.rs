//! Deciding on schedules and starting what is due, on each node: of two that decide at once, the database takes one.

use super::timing::{Kept, fill_request, refused};
use crate::app::{App, AppError, AppResult, Caller};
use crate::unattended::{NotStarted, Unattended, outcome_of, to_kept};
use futures::StreamExt as _;
use futures::stream;
use std::time::Duration;
use steward_core::audit::{AuditEntry, AuditResult};
use steward_core::policy::Origin;
use steward_core::ports::{
    FATE_RAN, OccurrenceKey, ScheduleRow, SettledFate, Settlement, StartedBy, StartedOccurrence, StoreError,
};
use steward_core::provenance::Provenance;
use steward_core::{RunId, ScheduleId, Timestamp};
use steward_engine::EngineError;
use steward_schedule::{
    Decision, Fate, OpenRow, OverlapPolicy, Pause, PauseReason, Plan, Stored, decide, pause_for_failures,
};

/// Longest rest of the worker: so late it sees what other nodes changed, and a clock that was set.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// Shortest rest, so that what can't be decided on keeps no core busy.
const SHORTEST_REST: Duration = Duration::from_millis(20);
/// When something that failed in passing is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(5);
/// How often it is looked whether the run has ended that another one waits for.
const LOOK_AFTER_RUN: Duration = Duration::from_secs(2);
/// Should this node end between a decision and its runs, the next look is after so long.
const GUARD: Duration = Duration::from_secs(30);
/// Schedules that are read at a time, and that are decided on at the same time.
const AT_ONCE: u32 = 100;
const SIDE_BY_SIDE: usize = 8;
/// Decisions of one look at a schedule.
const MAX_DECISIONS: u32 = 200;
/// Ended occurrences that are kept of a schedule, and how often older ones are removed, in revisions.
const KEPT_OCCURRENCES: u32 = 2_000;
const REMOVE_EVERY: u64 = 50;

/// Starts what is due, for as long as it is polled.
pub(crate) async fn keep_schedules(app: App) {
    let mut failing = false;
    loop {
        let looked = app.start_due_schedules().await;
        if let Err(error) = &looked
            && !failing
        {
            tracing::error!(%error, "the schedules can't be read");
        }
        failing = looked.is_err();
        let rest = match looked {
            Ok(Some(wake_at)) => wake_at.since(app.now()).clamp(SHORTEST_REST, LONGEST_REST),
            Ok(None) => LONGEST_REST,
            Err(_) => TRY_AGAIN,
        };
        tokio::select! {
            () = app.automation.changed.notified() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
}

impl App {
    /// Decides on all that are due; answers when the next one is.
    pub(crate) async fn start_due_schedules(&self) -> AppResult<Option<Timestamp>> {
        let due = self.store.due_schedules(self.tenant(), self.now(), AT_ONCE).await?;
        let decide = async |id: ScheduleId| {
            if let Err(error) = self.decide_on_schedule(id).await {
                tracing::error!(schedule = %id, %error, "a schedule can't be decided on; it is tried again");
                self.put_off_schedule(id).await;
            }
        };
        stream::iter(due).for_each_concurrent(SIDE_BY_SIDE, decide).await;
        Ok(self.store.next_schedule_wake(self.tenant()).await?)
    }

    async fn put_off_schedule(&self, id: ScheduleId) {
        let put_off = async {
            let Some(row) = self.store.schedule(self.tenant(), id).await? else { return Ok(false) };
            let wake_at = Some(self.now().plus(TRY_AGAIN));
            self.store.wake_schedule_at(self.tenant(), id, row.revision, wake_at).await
        };
        if let Err(error) = put_off.await {
            tracing::error!(schedule = %id, %error, "a schedule can't be put off");
        }
    }

    /// Gives each occurrence that is due its fate, and makes rows of the next ones. Left to the server where this is a command
    /// without one, which would end before its runs do.
    pub(super) async fn decide_on_schedule(&self, id: ScheduleId) -> AppResult<()> {
        if !self.automation.works() {
            return Ok(());
        }
        for _ in 0..MAX_DECISIONS {
            let Some(row) = self.store.schedule(self.tenant(), id).await?.filter(|row| row.deleted_at.is_none()) else {
                return Ok(());
            };
            if self.decide_once(row).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// `false`: there is more to decide, or another was faster.
    async fn decide_once(&self, mut row: ScheduleRow) -> AppResult<bool> {
        let (tenant, now, mut kept) = (self.tenant(), self.now(), Kept::read(&row.body)?);
        let plan = kept.time.plan(&row.id.to_string(), &self.automation.zones).map_err(refused)?;
        let started = self.store.started_occurrences(tenant, row.id).await?;
        let (ended, running): (Vec<_>, Vec<_>) = started.into_iter().partition(|one| one.ended_as.is_some());
        let mut paused = None;
        if kept.pause.is_none() && !ended.is_empty() {
            paused = self.pause_after_failures(&row, &ended, now).await?;
        }
        if let Some(pause) = paused.clone() {
            row.body.pause = Some(to_kept(&pause));
            kept.pause = Some(pause);
        }
        let open = self.store.open_occurrences(tenant, row.id).await?;
        let stored = Stored {
            planned_until: row.planned_until,
            open: open.iter().map(|one| OpenRow { nominal: one.nominal, due: one.due, queued: one.queued }).collect(),
            running: running.iter().map(|one| one.nominal).collect(),
            paused_since: kept.pause.as_ref().map(|pause| pause.since),
        };
        let decision = decide(&plan, &kept.policy, &stored, now);
        let starts: Vec<Timestamp> = decision.list_started().collect();
        let queued = open.iter().any(|one| one.queued) || !decision.queue.is_empty();
        let waits = queued && kept.policy.overlap != OverlapPolicy::Allow;
        let wake_at = earliest(decision.wake_at, waits.then(|| now.plus(LOOK_AFTER_RUN)));
        self.cancel_runs(&row, &decision, &running).await?;
        let guarded = if starts.is_empty() { wake_at } else { earliest(wake_at, Some(now.plus(GUARD))) };
        let settlement = Settlement {
            body: paused.is_some().then(|| row.body.clone()),
            wake_at: guarded,
            keep: row.revision.is_multiple_of(REMOVE_EVERY).then_some(KEPT_OCCURRENCES),
            ..settlement_of(&decision, &ended)
        };
        if !self.store.settle_occurrences(tenant, row.id, row.revision, now, settlement).await? {
            return Ok(false);
        }
        self.tell_of_decision(&row, &decision, paused.as_ref()).await;
        row.revision += 1;
        let mut passing = false;
        for nominal in &starts {
            match self.start_occurrence(&row, &plan, *nominal).await {
                Ok(_) | Err(NotStarted::Settled) => {}
                Err(NotStarted::Passing(error)) => {
                    tracing::warn!(schedule = %row.id, %error, "a run is put off");
                    passing = true;
                }
                Err(NotStarted::Refused(reason, error)) => {
                    self.pause_refused(row, reason, &error).await?;
                    return Ok(false);
                }
            }
        }
        if !starts.is_empty() {
            let wake_at = earliest(wake_at, passing.then(|| now.plus(TRY_AGAIN)));
            self.store.wake_schedule_at(tenant, row.id, row.revision, wake_at).await?;
        }
        Ok(!decision.more)
    }

    async fn pause_after_failures(
        &self,
        row: &ScheduleRow,
        ended: &[StartedOccurrence],
        now: Timestamp,
    ) -> AppResult<Option<Pause>> {
        let Some(limit) = row.body.pause_after_failures else { return Ok(None) };
        let known = self.store.occurrence_outcomes(self.tenant(), row.id, row.resumed_at, limit).await?;
        let since = |one: &&StartedOccurrence| one.nominal >= row.resumed_at;
        let newest = ended.iter().rev().filter(since).filter_map(|one| one.ended_as.as_deref());
        let outcomes = newest.chain(known.iter().map(String::as_str)).map(outcome_of);
        Ok(pause_for_failures(Some(limit), outcomes, now))
    }

    async fn cancel_runs(
        &self,
        row: &ScheduleRow,
        decision: &Decision,
        running: &[StartedOccurrence],
    ) -> AppResult<()> {
        for one in running.iter().filter(|one| decision.cancel.contains(&one.nominal)) {
            let by = format!("schedule {}", row.body.name);
            match self.runs.stop(one.run, by.as_str()).await {
                // It has ended meanwhile, which is as good.
                Ok(()) | Err(EngineError::NotFound(_) | EngineError::Store(StoreError::Conflict(_))) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn start_occurrence(&self, row: &ScheduleRow, plan: &Plan, nominal: Timestamp) -> Result<RunId, NotStarted> {
        let key = OccurrenceKey { schedule: row.id, nominal, by_hand: false };
        let owner = self.unattended_owner(row.owner, Origin::Schedule).await?;
        self.start_scheduled(&owner, row, plan, key).await.map_err(NotStarted::of)
    }

    /// At once, since a person asked for it.
    pub(super) async fn start_by_hand(&self, caller: &Caller, row: &ScheduleRow) -> AppResult<RunId> {
        let plan = Kept::read(&row.body)?.time.plan(&row.id.to_string(), &self.automation.zones).map_err(refused)?;
        let key = OccurrenceKey { schedule: row.id, nominal: self.now(), by_hand: true };
        let caller = Caller { origin: Origin::Schedule, ..caller.clone() };
        self.start_scheduled(&caller, row, &plan, key).await
    }

    async fn start_scheduled(
        &self,
        owner: &Caller,
        row: &ScheduleRow,
        plan: &Plan,
        key: OccurrenceKey,
    ) -> AppResult<RunId> {
        let wanted = Unattended {
            agent: row.agent,
            request: fill_request(&row.body, plan, key.nominal),
            by: StartedBy::Occurrence(key),
            outside: Provenance::default(),
        };
        self.start_unattended(owner, wanted).await
    }

    /// It rests, since it can't start a run; its owner sees why.
    async fn pause_refused(&self, mut row: ScheduleRow, reason: PauseReason, error: &AppError) -> AppResult<()> {
        let now = self.now();
        let note = format!("{}; {}", error.detail.title, error.detail.hint);
        let pause = Pause { since: now, reason, note };
        row.body.pause = Some(to_kept(&pause));
        row.wake_at = Some(now);
        if self.store.change_schedule(self.tenant(), &row, Vec::new()).await? {
            self.tell_of_decision(&row, &Decision::default(), Some(&pause)).await;
        }
        Ok(())
    }

    /// What its owner and administrators are to know of.
    async fn tell_of_decision(&self, row: &ScheduleRow, decision: &Decision, paused: Option<&Pause>) {
        let entry = |action: &str| self.audit_fact(action).on(row.id.to_string()).with("name", row.body.name.as_str());
        let mut entries: Vec<AuditEntry> = Vec::new();
        if let Some((first, last, count)) = decision.summarize_missed() {
            let missed = entry("schedules.missed").ended(AuditResult::Failed).with("count", count);
            entries.push(missed.with("first", first.rfc3339()).with("last", last.rfc3339()));
        }
        if let Some(pause) = paused {
            let paused = entry("schedules.paused").ended(AuditResult::Failed).with("reason", to_kept(&pause.reason));
            entries.push(paused.with("note", pause.note.as_str()));
        }
        for entry in entries {
            if let Err(error) = self.record_audit(&entry).await {
                tracing::error!(schedule = %row.id, %error, "what became of a schedule could not be written down");
            }
        }
    }
}

/// All but the runs that are started, and when it is decided on next.
fn settlement_of(decision: &Decision, ended: &[StartedOccurrence]) -> Settlement {
    let others = decision.settle.iter().filter(|(_, fate)| *fate != Fate::Ran);
    Settlement {
        make: decision.make.iter().map(|one| (one.nominal, one.due)).collect(),
        queue: decision.queue.clone(),
        settle: others.map(|(nominal, fate)| (*nominal, settled(*fate))).collect(),
        ended: ended.iter().filter_map(|one| Some((one.nominal, one.ended_as.clone()?))).collect(),
        planned_until: decision.planned_until,
        ..Settlement::default()
    }
}

fn settled(fate: Fate) -> SettledFate {
    let word = |reason: serde_json::Value| reason.as_str().map(str::to_owned);
    let (name, reason, into) = match fate {
        Fate::Ran => (FATE_RAN, None, None),
        Fate::Joined { into } => ("joined", None, Some(into)),
        Fate::Skipped { reason } => ("skipped", word(to_kept(&reason)), None),
        Fate::Missed { reason } => ("missed", word(to_kept(&reason)), None),
    };
    SettledFate { word: name.to_owned(), reason, into }
}

fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
