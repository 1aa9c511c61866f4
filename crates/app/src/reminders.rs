use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::reminders::{Reminder as ReminderView, ReminderChange};
use steward_core::AgentId;
use steward_core::ports::{Facts as _, Reminder};

/// Latest time of a reminder: the year 9999.
const LATEST: i64 = 253_402_300_799_999;

impl App {
    /// Reminders of all agents that the caller may use, by time. `due`: only those whose time has come; `done`: with those that are done.
    pub async fn reminders(&self, caller: &Caller, due: bool, done: bool) -> AppResult<Vec<ReminderView>> {
        authorize(caller, Action::Read, Resource::Reminders)?;
        let now = self.now();
        let mut all = self.store.all_reminders(self.tenant()).await?;
        all.retain(|(_, one)| (done || !one.done) && (!due || (!one.done && one.at <= now)));
        let names = self.agent_names(all.iter().map(|(agent, _)| *agent).collect()).await?;
        all.retain(|(id, _)| {
            let name = names.get(*id).unwrap_or_default();
            authorize(caller, Action::Read, Resource::Agent { id: *id, name: &name }).is_ok()
        });
        Ok(all.into_iter().map(|one| ReminderView::named(names.get(one.0), one, now)).collect())
    }

    pub async fn change_reminder(&self, caller: &Caller, id: &str, wanted: ReminderChange) -> AppResult<ReminderView> {
        authorize(caller, Action::Write, Resource::Reminders)?;
        if wanted.at.is_some_and(|at| !(0..=LATEST).contains(&at.0)) {
            return Err(AppError::invalid("at", "`at` is no time", "give milliseconds since 1970 UTC"));
        }
        let (agent, mut one) = self.reminder(id).await?;
        one.done = wanted.done.unwrap_or(one.done);
        one.at = wanted.at.unwrap_or(one.at);
        self.store.save_reminder(self.tenant(), agent, &one).await?;
        let names = self.agent_names(vec![agent]).await?;
        Ok(ReminderView::named(names.get(agent), (agent, one), self.now()))
    }

    pub async fn delete_reminder(&self, caller: &Caller, id: &str) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Reminders)?;
        let (agent, one) = self.reminder(id).await?;
        Ok(self.store.remove_reminder(self.tenant(), agent, &one.id).await?)
    }

    async fn reminder(&self, id: &str) -> AppResult<(AgentId, Reminder)> {
        let all = self.store.all_reminders(self.tenant()).await?;
        all.into_iter().find(|(_, one)| one.id == id).ok_or_else(|| AppError::not_found(format!("reminder {id}")))
    }
}
