//! Reminders: each user's own, and those that all users of an agent share. Whoever may edit the agent changes the latter.

use crate::agent_lookup::of;
use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::reminders::{Reminder as ReminderView, ReminderChange};
use std::collections::HashMap;
use steward_core::AgentId;
use steward_core::agent::{Agent, KeptFor};
use steward_core::ports::{Facts as _, Reminder};

/// Latest time of a reminder: the year 9999.
const LATEST: i64 = 253_402_300_799_999;

/// One that its caller may see.
struct Seen {
    agent: AgentId,
    of: KeptFor,
    may_change: bool,
    reminder: Reminder,
}

impl App {
    /// Those of the caller and those that they share with others, by time. `due`: only those whose time has come; `done`:
    /// with those that are done.
    pub async fn reminders(&self, caller: &Caller, due: bool, done: bool) -> AppResult<Vec<ReminderView>> {
        let now = self.now();
        let mut seen = self.seen_reminders(caller).await?;
        seen.retain(|Seen { reminder, .. }| {
            (done || !reminder.done) && (!due || (!reminder.done && reminder.at <= now))
        });
        let names = self.agent_names(seen.iter().map(|one| one.agent).collect()).await?;
        let view = |one: Seen| ReminderView::of(one.reminder, (one.agent, names.get(one.agent)), one.may_change, now);
        Ok(seen.into_iter().map(view).collect())
    }

    pub async fn change_reminder(&self, caller: &Caller, id: &str, wanted: ReminderChange) -> AppResult<ReminderView> {
        if wanted.at.is_some_and(|at| !(0..=LATEST).contains(&at.0)) {
            return Err(AppError::invalid("at", "`at` is no time", "give milliseconds since 1970 UTC"));
        }
        let Seen { agent, of, mut reminder, .. } = self.changeable_reminder(caller, id).await?;
        reminder.done = wanted.done.unwrap_or(reminder.done);
        reminder.at = wanted.at.unwrap_or(reminder.at);
        self.store.save_reminder(self.tenant(), agent, of, &reminder).await?;
        let names = self.agent_names(vec![agent]).await?;
        Ok(ReminderView::of(reminder, (agent, names.get(agent)), true, self.now()))
    }

    pub async fn delete_reminder(&self, caller: &Caller, id: &str) -> AppResult<()> {
        let one = self.changeable_reminder(caller, id).await?;
        Ok(self.store.remove_reminder(self.tenant(), one.agent, one.of, &one.reminder.id).await?)
    }

    async fn changeable_reminder(&self, caller: &Caller, id: &str) -> AppResult<Seen> {
        let seen = self.seen_reminders(caller).await?;
        let missing = || AppError::not_found(format!("reminder {id}"));
        let one = seen.into_iter().find(|one| one.reminder.id == id).ok_or_else(missing)?;
        if !one.may_change {
            authorize(caller, Action::Write, of(&self.live_agent(one.agent).await?))?;
        }
        Ok(one)
    }

    async fn seen_reminders(&self, caller: &Caller) -> AppResult<Vec<Seen>> {
        authorize(caller, Action::Read, Resource::Reminders)?;
        let own = KeptFor::User(caller.user());
        let mut seen: Vec<Seen> = Vec::new();
        for (agent, reminder) in self.store.reminders_of(self.tenant(), own).await? {
            seen.push(Seen { agent, of: own, may_change: true, reminder });
        }
        let shared = self.store.reminders_of(self.tenant(), KeptFor::Everybody).await?;
        if !shared.is_empty() {
            let usable = self.usable_agents(caller).await?;
            let sharing: HashMap<AgentId, &Agent> =
                usable.iter().filter(|agent| agent.own_data.shared).map(|agent| (agent.id, agent)).collect();
            seen.extend(shared.into_iter().filter_map(|(agent, reminder)| {
                let may_change = authorize(caller, Action::Write, of(sharing.get(&agent)?)).is_ok();
                Some(Seen { agent, of: KeptFor::Everybody, may_change, reminder })
            }));
            seen.sort_by(|one, other| {
                (one.reminder.at, &one.reminder.id).cmp(&(other.reminder.at, &other.reminder.id))
            });
        }
        Ok(seen)
    }
}
