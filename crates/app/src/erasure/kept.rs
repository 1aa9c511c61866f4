//! What agents keep for a person, and their calendar: told to them, and deleted with them or with their account.

use super::{Lines, PAGE, counted, line};
use crate::app::{App, AppError, AppResult};
use crate::dto::retention::KindCount;
use serde_json::json;
use steward_core::agent::KeptFor;
use steward_core::ports::{HookFilter, HookRow, ScheduleFilter, ScheduleRow, SubscriptionFilter, SubscriptionRow};
use steward_core::{AgentId, UserId};

impl App {
    pub(super) async fn count_kept(&self, user: UserId) -> AppResult<Vec<KindCount>> {
        let (tenant, of) = (self.tenant(), KeptFor::User(user));
        let databases = self.own_databases(user)?.len() + self.store.database_docs_of(tenant, of).await?.len();
        let calendar = self.calendars.exists(tenant, user).map_err(|error| unusable(&error))?;
        Ok(vec![
            counted("memories", self.store.memories_of(tenant, of).await?.len()),
            counted("notes", self.store.notes_of(tenant, of).await?.len()),
            counted("reminders", self.store.reminders_of(tenant, of).await?.len()),
            counted("databases", databases),
            counted("calendars", usize::from(calendar)),
            counted("schedules", self.schedules_kept_of(user).await?.len()),
            counted("webhooks", self.hooks_kept_of(user).await?.len()),
            counted("subscriptions", self.subscriptions_kept_of(user).await?.len()),
        ])
    }

    /// Answers how many there were.
    pub(crate) async fn remove_kept(&self, user: UserId) -> AppResult<u64> {
        let files = self.databases.delete_of(user).await?;
        let rows = self.store.delete_kept_of(self.tenant(), user).await?;
        let calendar = self.calendars.delete(self.tenant(), user).map_err(|error| unusable(&error))?;
        let schedules = self.store.delete_schedules_of(self.tenant(), user).await?;
        for row in self.hooks_kept_of(user).await? {
            self.forget_secrets(row.id).await;
        }
        let hooks = self.store.delete_hooks_of(self.tenant(), user).await?;
        for row in self.subscriptions_kept_of(user).await? {
            self.forget_opened(row.id).await;
        }
        let subscriptions = self.store.delete_subscriptions_of(self.tenant(), user).await?;
        Ok(files + rows + u64::from(calendar) + schedules + hooks + subscriptions)
    }

    pub(super) async fn export_kept(&self, user: UserId, lines: &mut Lines) -> AppResult<()> {
        let (tenant, of) = (self.tenant(), KeptFor::User(user));
        for (agent, memory) in self.store.memories_of(tenant, of).await? {
            line(lines, "memory", json!({"agent": agent, "text": memory.text})).await?;
        }
        for (agent, note) in self.store.notes_of(tenant, of).await? {
            line(lines, "note", json!({"agent": agent, "note": note})).await?;
        }
        for (agent, reminder) in self.store.reminders_of(tenant, of).await? {
            line(lines, "reminder", json!({"agent": agent, "reminder": reminder})).await?;
        }
        for (agent, doc) in self.store.database_docs_of(tenant, of).await? {
            line(lines, "database_documentation", json!({"agent": agent, "text": doc.text})).await?;
        }
        for row in self.schedules_kept_of(user).await? {
            let told = json!({"id": row.id, "agent": row.agent, "schedule": row.body, "deleted_at": row.deleted_at});
            line(lines, "schedule", told).await?;
        }
        for row in self.hooks_kept_of(user).await? {
            let told = json!({"id": row.id, "agent": row.agent, "webhook": row.body, "deleted_at": row.deleted_at});
            line(lines, "webhook", told).await?;
        }
        for row in self.subscriptions_kept_of(user).await? {
            let told = json!({"id": row.id, "subscription": row.body, "deleted_at": row.deleted_at});
            line(lines, "subscription", told).await?;
        }
        for agent in self.own_databases(user)? {
            for (table, all) in self.databases.dump(agent, user).await? {
                let shown = json!({"agent": agent, "table": table, "columns": all.columns, "rows": all.rows});
                line(lines, "database_table", shown).await?;
            }
        }
        if let Some(text) = self.calendars.text(tenant, user).map_err(|error| unusable(&error))? {
            line(lines, "calendar", json!({"text": text})).await?;
        }
        Ok(())
    }

    /// Those that they deleted, too.
    async fn schedules_kept_of(&self, user: UserId) -> AppResult<Vec<ScheduleRow>> {
        let mut all = Vec::new();
        for deleted in [false, true] {
            let mut filter = ScheduleFilter { owner: Some(user), deleted, limit: PAGE, ..ScheduleFilter::default() };
            loop {
                let page = self.store.schedules(self.tenant(), &filter).await?;
                filter.before = page.items.last().map(|last| last.id);
                all.extend(page.items);
                if !page.more {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// Those that they deleted, too.
    async fn hooks_kept_of(&self, user: UserId) -> AppResult<Vec<HookRow>> {
        let mut all = Vec::new();
        for deleted in [false, true] {
            let mut filter = HookFilter { owner: Some(user), deleted, limit: PAGE, ..HookFilter::default() };
            loop {
                let page = self.store.hooks(self.tenant(), &filter).await?;
                filter.before = page.items.last().map(|last| last.id);
                all.extend(page.items);
                if !page.more {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// Those that they deleted, too.
    async fn subscriptions_kept_of(&self, user: UserId) -> AppResult<Vec<SubscriptionRow>> {
        let mut all = Vec::new();
        for deleted in [false, true] {
            let mut filter =
                SubscriptionFilter { owner: Some(user), deleted, limit: PAGE, ..SubscriptionFilter::default() };
            loop {
                let page = self.store.subscriptions(self.tenant(), &filter).await?;
                filter.before = page.items.last().map(|last| last.id);
                all.extend(page.items);
                if !page.more {
                    break;
                }
            }
        }
        Ok(all)
    }

    fn own_databases(&self, user: UserId) -> AppResult<Vec<AgentId>> {
        let found = self.databases.of_user(user).map_err(|error| {
            AppError::unavailable(format!("the folder of the agents' databases can't be read: {error}"))
        })?;
        Ok(found.into_iter().map(|(agent, _)| agent).collect())
    }
}

fn unusable(error: &std::io::Error) -> AppError {
    AppError::unavailable(format!("the calendar of a user can't be used: {error}"))
}
