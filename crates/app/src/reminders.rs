//! What agents were asked to remind of.

use crate::app::App;
use crate::authorize::{Action, Resource, authorize};
use crate::caller::Caller;
use crate::dto::reminder::{Reminder as ReminderView, ReminderChange};
use crate::error::AppError;
use steward_core::AgentId;
use steward_core::ports::Reminder;

/// Latest time of a reminder: the year 9999.
const LATEST: i64 = 253_402_300_799_999;

impl App {
    /// Reminders of all agents by time. `due`: only those whose time has come; `done`: with those that are done.
    pub async fn reminders(&self, caller: &Caller, due: bool, done: bool) -> Result<Vec<ReminderView>, AppError> {
        authorize(caller, Action::Read, Resource::Reminders)?;
        let deps = self.deps();
        let now = deps.clock.now();
        let mut all = deps.store.all_reminders(deps.tenant).await?;
        all.retain(|(_, one)| (done || !one.done) && (!due || (!one.done && one.at <= now)));
        let names = self.agent_names(all.iter().map(|(agent, _)| *agent).collect()).await?;
        let views = all.into_iter().map(|one| {
            let name = names.get(one.0);
            ReminderView::of(one, name, now)
        });
        Ok(views.collect())
    }

    /// Marks a reminder as done, or as open again, or puts it off.
    pub async fn change_reminder(
        &self,
        caller: &Caller,
        id: &str,
        wanted: ReminderChange,
    ) -> Result<ReminderView, AppError> {
        authorize(caller, Action::Write, Resource::Reminders)?;
        if wanted.at.is_some_and(|at| !(0..=LATEST).contains(&at.0)) {
            return Err(AppError::invalid("at", "`at` is no time", "give milliseconds since 1970 UTC"));
        }
        let (agent, mut one) = self.reminder(id).await?;
        one.done = wanted.done.unwrap_or(one.done);
        one.at = wanted.at.unwrap_or(one.at);
        let deps = self.deps();
        deps.store.save_reminder(deps.tenant, agent, &one).await?;
        let names = self.agent_names(vec![agent]).await?;
        Ok(ReminderView::of((agent, one), names.get(agent), deps.clock.now()))
    }

    pub async fn delete_reminder(&self, caller: &Caller, id: &str) -> Result<(), AppError> {
        authorize(caller, Action::Write, Resource::Reminders)?;
        let (agent, one) = self.reminder(id).await?;
        let deps = self.deps();
        Ok(deps.store.remove_reminder(deps.tenant, agent, &one.id).await?)
    }

    async fn reminder(&self, id: &str) -> Result<(AgentId, Reminder), AppError> {
        let deps = self.deps();
        let all = deps.store.all_reminders(deps.tenant).await?;
        all.into_iter().find(|(_, one)| one.id == id).ok_or_else(|| AppError::not_found(format!("reminder {id}")))
    }
}
