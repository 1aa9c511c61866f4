//! Schedules: what starts runs by itself. When something is due, and what becomes of it, says the room `schedule`; here it is
//! kept, started with the rights that the owner has at that moment, and shown.

mod timing;
mod work;

pub(crate) use work::keep_schedules;

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize, listed_owner};
use crate::dto::schedules::{
    Schedule, ScheduleInput, ScheduleLanguage, ScheduleOccurrence, SchedulePauseInput, SchedulePreview,
    SchedulePreviewInput, ScheduleRunStarted,
};
use crate::inputs::checked_name;
use crate::unattended::{MAX_FAILURES, MAX_REQUEST, OwnerNames, outcome_of, to_kept};
use steward_core::ports::{Page, ScheduleBody, ScheduleFilter, ScheduleRow};
use steward_core::{AgentId, ScheduleId, Timestamp};
use steward_schedule::{
    MAX_WORDS_LENGTH, Pause, ReadContext, Reading, ScheduleTime, count_failures, describe, read_words,
};
use timing::{Kept, policy_of, preview_question, preview_time, refused, time_of, when_of};

/// How many schedules a user may have.
const MAX_SCHEDULES: u64 = 500;
const MAX_GRACE: u32 = 86_400;
/// Tries of a change that others overtake.
const TRIES: u32 = 10;
const DEFAULT_ZONE: &str = "UTC";

/// Which schedules a list holds.
#[derive(Debug, Default)]
pub struct ScheduleSearch {
    /// Of the caller only, even if they see all.
    pub mine: bool,
    pub agent: Option<AgentId>,
    pub deleted: bool,
    pub before: Option<ScheduleId>,
    pub limit: u32,
}

impl App {
    /// What words or times say, before anything is made of them.
    pub fn preview_schedule(&self, caller: &Caller, input: &SchedulePreviewInput) -> AppResult<SchedulePreview> {
        authorize(caller, Action::Read, Resource::Schedules)?;
        let (zones, language, now) = (&self.automation.zones, input.language.into(), self.now());
        match (&input.words, &input.when) {
            (Some(words), None) => {
                if words.len() > MAX_WORDS_LENGTH {
                    let title = format!("these are more than {MAX_WORDS_LENGTH} bytes");
                    return Err(AppError::invalid("words", title, "say only when, such as `every weekday at 8`"));
                }
                let zone = input.zone.as_deref().unwrap_or(DEFAULT_ZONE);
                zones.find(zone).map_err(|error| AppError::invalid("zone", error.problem, error.hint))?;
                match read_words(words, &ReadContext { now, zone, language }, zones) {
                    Reading::Timing(read) => preview_time(&read.time, (zones, language), now),
                    Reading::Question(question) => preview_question(question),
                }
            }
            (None, Some(when)) => preview_time(&time_of(when)?, (zones, language), now),
            _ => Err(AppError::invalid("words", "send either `words` or `when`", "leave one of them out")),
        }
    }

    /// Newest first: one's own, or everybody's for those who see all.
    pub async fn schedules(
        &self,
        caller: &Caller,
        search: ScheduleSearch,
        language: ScheduleLanguage,
    ) -> AppResult<Page<Schedule>> {
        authorize(caller, Action::Read, Resource::Schedules)?;
        let own = search.mine.then(|| caller.user());
        let filter = ScheduleFilter {
            owner: own.or_else(|| listed_owner(caller, Resource::Schedules)),
            agent: search.agent,
            deleted: search.deleted,
            before: search.before,
            limit: search.limit,
        };
        let page = self.store.schedules(self.tenant(), &filter).await?;
        let mut names = OwnerNames::default();
        let mut items = Vec::with_capacity(page.items.len());
        for row in page.items {
            items.push(self.show_schedule(caller, row, language, &mut names).await?);
        }
        Ok(Page { items, more: page.more })
    }

    pub async fn schedule(&self, caller: &Caller, id: ScheduleId, language: ScheduleLanguage) -> AppResult<Schedule> {
        let row = self.schedule_of(caller, Action::Read, id).await?;
        self.show_schedule(caller, row, language, &mut OwnerNames::default()).await
    }

    pub async fn create_schedule(&self, caller: &Caller, input: ScheduleInput) -> AppResult<Schedule> {
        authorize(caller, Action::Write, Resource::Schedules)?;
        // It works with all rights of its owner, which a key for some of them must not open.
        if caller.principal.key.is_some() {
            let hint = "log in, or use an API key of the user instead";
            return Err(AppError::forbidden("a virtual key can't make or change schedules", hint));
        }
        self.require_disk_room()?;
        self.check_count(caller).await?;
        let (time, body) = self.schedule_body(caller, &input, None).await?;
        let now = self.now();
        let id = ScheduleId(self.new_id());
        self.check_future(&time, id, now)?;
        let row = ScheduleRow {
            id,
            owner: caller.user(),
            agent: input.agent_id,
            body,
            planned_until: now,
            wake_at: Some(now),
            resumed_at: now,
            revision: 1,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        };
        self.store.create_schedule(self.tenant(), &row).await?;
        self.after_change(id).await?;
        self.schedule(caller, id, ScheduleLanguage::default()).await
    }

    /// Only its owner may: it works with their rights.
    pub async fn replace_schedule(&self, caller: &Caller, id: ScheduleId, input: ScheduleInput) -> AppResult<Schedule> {
        self.own_schedule(caller, id).await?;
        self.decide_on_schedule(id).await?;
        for _ in 0..TRIES {
            let mut row = self.own_schedule(caller, id).await?;
            let (time, body) = self.schedule_body(caller, &input, row.body.pause.clone()).await?;
            let now = self.now();
            let mut withdrawn = Vec::new();
            if body.time != row.body.time {
                self.check_future(&time, id, now)?;
                withdrawn = self.withdrawable(&row, now).await?;
                row.planned_until = now;
            }
            row = ScheduleRow { agent: input.agent_id, body, wake_at: Some(now), updated_at: now, ..row };
            if self.store.change_schedule(self.tenant(), &row, withdrawn).await? {
                self.after_change(id).await?;
                return self.schedule(caller, id, ScheduleLanguage::default()).await;
            }
        }
        Err(overtaken())
    }

    /// It rests: what is due meanwhile is skipped, and told as such.
    pub async fn pause_schedule(
        &self,
        caller: &Caller,
        id: ScheduleId,
        input: &SchedulePauseInput,
    ) -> AppResult<Schedule> {
        self.live_schedule(caller, Action::Operate, id).await?;
        let pause = Pause::by_person(self.now(), &input.note);
        let pause = pause.map_err(|error| AppError::invalid(error.part, error.problem, error.hint))?;
        self.change_pause(caller, id, Some(pause)).await
    }

    /// It works again, from now on; failures count anew.
    pub async fn resume_schedule(&self, caller: &Caller, id: ScheduleId) -> AppResult<Schedule> {
        self.own_schedule(caller, id).await?;
        self.change_pause(caller, id, None).await
    }

    /// It goes away, and what it would have started; its runs and history stay, and so does the way back.
    pub async fn delete_schedule(&self, caller: &Caller, id: ScheduleId) -> AppResult<()> {
        self.live_schedule(caller, Action::Operate, id).await?;
        for _ in 0..TRIES {
            let mut row = self.live_schedule(caller, Action::Operate, id).await?;
            let now = self.now();
            let open = self.store.open_occurrences(self.tenant(), id).await?;
            let withdrawn = open.into_iter().map(|one| one.nominal).collect();
            row = ScheduleRow { deleted_at: Some(now), wake_at: None, updated_at: now, ..row };
            if self.store.change_schedule(self.tenant(), &row, withdrawn).await? {
                return Ok(());
            }
        }
        Err(overtaken())
    }

    /// Brings a deleted one back, as it was; what was due meanwhile isn't caught up.
    pub async fn restore_schedule(&self, caller: &Caller, id: ScheduleId) -> AppResult<Schedule> {
        for _ in 0..TRIES {
            let mut row = self.schedule_of(caller, Action::Write, id).await?;
            only_owner(caller, &row)?;
            if row.deleted_at.is_none() {
                return Err(AppError::conflict("not_deleted", "this schedule isn't deleted", "there is nothing to do"));
            }
            self.check_count(caller).await?;
            let now = self.now();
            row = ScheduleRow { deleted_at: None, planned_until: now, wake_at: Some(now), updated_at: now, ..row };
            if self.store.change_schedule(self.tenant(), &row, Vec::new()).await? {
                self.after_change(id).await?;
                return self.schedule(caller, id, ScheduleLanguage::default()).await;
            }
        }
        Err(overtaken())
    }

    /// Starts a run at once, beside what is due.
    pub async fn run_schedule(&self, caller: &Caller, id: ScheduleId) -> AppResult<ScheduleRunStarted> {
        let row = self.own_schedule(caller, id).await?;
        let run_id = self.start_by_hand(caller, &row).await?;
        Ok(ScheduleRunStarted { run_id })
    }

    /// Its occurrences, those to come among them, the latest first.
    pub async fn schedule_occurrences(
        &self,
        caller: &Caller,
        id: ScheduleId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> AppResult<Page<ScheduleOccurrence>> {
        self.schedule_of(caller, Action::Read, id).await?;
        let page = self.store.occurrences(self.tenant(), id, before, limit).await?;
        Ok(Page { items: page.items.into_iter().map(Into::into).collect(), more: page.more })
    }

    async fn change_pause(&self, caller: &Caller, id: ScheduleId, pause: Option<Pause>) -> AppResult<Schedule> {
        // What is due by now gets its fate under the state that held until now.
        self.decide_on_schedule(id).await?;
        for _ in 0..TRIES {
            let mut row = self.live_schedule(caller, Action::Operate, id).await?;
            let now = self.now();
            row.body.pause = pause.as_ref().map(to_kept);
            if pause.is_none() {
                row.resumed_at = now;
            }
            row = ScheduleRow { wake_at: Some(now), updated_at: now, ..row };
            if self.store.change_schedule(self.tenant(), &row, Vec::new()).await? {
                self.after_change(id).await?;
                return self.schedule(caller, id, ScheduleLanguage::default()).await;
            }
        }
        Err(overtaken())
    }

    /// Makes the rows of its next occurrences, and has the worker look.
    async fn after_change(&self, id: ScheduleId) -> AppResult<()> {
        self.decide_on_schedule(id).await?;
        self.automation.changed.notify_one();
        Ok(())
    }

    /// What is kept of what was sent, checked.
    async fn schedule_body(
        &self,
        caller: &Caller,
        input: &ScheduleInput,
        pause: Option<serde_json::Value>,
    ) -> AppResult<(ScheduleTime, ScheduleBody)> {
        let name = checked_name(&input.name)?;
        let length = input.request.chars().count();
        if input.request.trim().is_empty() || length > MAX_REQUEST {
            let title = format!("a request has 1 to {MAX_REQUEST} characters");
            return Err(AppError::invalid("request", title, "say what the agent is to do each time"));
        }
        if !(1..=MAX_GRACE).contains(&input.grace_seconds) {
            let title = format!("{} seconds aren't allowed", input.grace_seconds);
            return Err(AppError::invalid("grace_seconds", title, format!("choose 1 to {MAX_GRACE}; 60 is usual")));
        }
        if input.pause_after_failures.is_some_and(|count| !(1..=MAX_FAILURES).contains(&count)) {
            let hint = format!("choose 1 to {MAX_FAILURES}, or null for never");
            return Err(AppError::invalid("pause_after_failures", "it can't rest after so many runs", hint));
        }
        self.agent_for(caller, Action::Ask, input.agent_id).await.map_err(|error| match error.kind {
            ErrorKind::NotFound => {
                AppError::invalid("agent_id", error.detail.title, "GET /api/agents tells which agents there are")
            }
            _ => error.field("agent_id"),
        })?;
        let time = time_of(&input.when)?;
        let body = ScheduleBody {
            name,
            request: input.request.clone(),
            time: to_kept(&time),
            policy: to_kept(&policy_of(input)),
            pause_after_failures: input.pause_after_failures,
            pause,
        };
        Ok((time, body))
    }

    async fn check_count(&self, caller: &Caller) -> AppResult<()> {
        if self.store.count_schedules(self.tenant(), caller.user()).await? < MAX_SCHEDULES {
            return Ok(());
        }
        let title = format!("you have {MAX_SCHEDULES} schedules, which is the limit");
        Err(AppError::conflict("too_many_schedules", title, "delete those that you don't need"))
    }

    /// Refuses what will never be due, such as a date that has passed.
    fn check_future(&self, time: &ScheduleTime, id: ScheduleId, now: Timestamp) -> AppResult<()> {
        let plan = time.plan(&id.to_string(), &self.automation.zones).map_err(refused)?;
        if plan.find_next(now).is_some() {
            return Ok(());
        }
        Err(AppError::invalid("when", "it would never be due from now on", "choose a time, or an end, that is to come"))
    }

    /// A deleted one, too.
    async fn schedule_of(&self, caller: &Caller, action: Action, id: ScheduleId) -> AppResult<ScheduleRow> {
        authorize(caller, action, Resource::Schedules)?;
        let found = self.store.schedule(self.tenant(), id).await?;
        let row = found.ok_or_else(|| AppError::not_found(format!("schedule {id}")))?;
        authorize(caller, action, Resource::Schedule { id, owner: row.owner })?;
        Ok(row)
    }

    async fn live_schedule(&self, caller: &Caller, action: Action, id: ScheduleId) -> AppResult<ScheduleRow> {
        let row = self.schedule_of(caller, action, id).await?;
        if row.deleted_at.is_some() {
            let title = format!("schedule {id} is deleted");
            return Err(AppError::conflict("deleted", title, "restore it first"));
        }
        Ok(row)
    }

    async fn own_schedule(&self, caller: &Caller, id: ScheduleId) -> AppResult<ScheduleRow> {
        let row = self.live_schedule(caller, Action::Write, id).await?;
        only_owner(caller, &row)?;
        Ok(row)
    }

    async fn show_schedule(
        &self,
        caller: &Caller,
        row: ScheduleRow,
        language: ScheduleLanguage,
        owners: &mut OwnerNames,
    ) -> AppResult<Schedule> {
        let (kept, now) = (Kept::read(&row.body)?, self.now());
        let plan = kept.time.plan(&row.id.to_string(), &self.automation.zones).map_err(refused)?;
        let works = kept.pause.is_none() && row.deleted_at.is_none();
        let last = self.store.last_occurrence(self.tenant(), row.id).await?;
        let outcomes = self.store.occurrence_outcomes(self.tenant(), row.id, row.resumed_at, MAX_FAILURES).await?;
        let names = self.agent_names(vec![row.agent]).await?;
        let owner = self.owner_name(row.owner, owners).await?;
        Ok(Schedule {
            id: row.id,
            name: row.body.name,
            owner_id: row.owner,
            owner,
            agent_id: row.agent,
            agent: names.get(row.agent),
            request: row.body.request,
            when: when_of(&kept.time)?,
            description: describe(&plan, language.into()),
            missed: timing::missed_of(&kept.policy),
            overlap: timing::overlap_of(&kept.policy),
            grace_seconds: kept.policy.grace_seconds,
            pause_after_failures: row.body.pause_after_failures,
            failures: count_failures(outcomes.iter().map(|outcome| outcome_of(outcome))),
            pause: kept.pause.map(Into::into),
            next_at: works.then(|| plan.find_next(now).map(|next| next.due)).flatten(),
            last: last.map(Into::into),
            may_change: row.owner == caller.user() && caller.principal.key.is_none(),
            created_at: row.created_at,
            updated_at: row.updated_at,
            deleted_at: row.deleted_at,
        })
    }
}

fn only_owner(caller: &Caller, row: &ScheduleRow) -> AppResult<()> {
    if row.owner == caller.user() && caller.principal.key.is_none() {
        return Ok(());
    }
    let hint = "ask its owner, or make a schedule of your own; operators may pause and delete it";
    Err(AppError::forbidden("only its owner may change or run a schedule: it works with their rights", hint))
}

fn overtaken() -> AppError {
    AppError::conflict("changed_meanwhile", "the schedule is being changed by others at the moment", "try again")
}

impl App {
    /// What is to come, and would not any more after a change of its times. What only waits for its jitter stays.
    async fn withdrawable(&self, row: &ScheduleRow, now: Timestamp) -> AppResult<Vec<Timestamp>> {
        let open = self.store.open_occurrences(self.tenant(), row.id).await?;
        Ok(open.into_iter().filter(|one| !one.queued && one.nominal > now).map(|one| one.nominal).collect())
    }
}
