//! Virtual keys: they let a program use `/v1`, within limits.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize, listed_owner};
use crate::budgets::checked_limit;
use crate::dto::keys::{KeyChange, KeyInput, NewVirtualKey};
use steward_access::NewKey;
use steward_core::ports::{BudgetScope, SpendLimit, VirtualKey, VirtualKeys as _};
use steward_core::spending::key_problem;
use steward_core::{BudgetId, KeyId, ports};
use uuid::Uuid;

impl App {
    /// Newest first: administrators see everybody's, others their own.
    pub async fn keys(&self, caller: &Caller, after: Option<KeyId>, limit: u32) -> AppResult<ports::Page<VirtualKey>> {
        authorize(caller, Action::Read, Resource::Keys)?;
        let user = listed_owner(caller, Resource::Keys);
        Ok(self.store.keys(self.tenant(), user, after, limit).await?)
    }

    /// Makes a key and its budget. The secret is not kept anywhere.
    pub async fn create_key(&self, caller: &Caller, input: KeyInput) -> AppResult<NewVirtualKey> {
        authorize(caller, Action::Write, Resource::Keys)?;
        let wanted = VirtualKey {
            id: KeyId(Uuid::nil()),
            name: input.name.trim().to_owned(),
            user: caller.user(),
            prefix: String::new(),
            connections: input.connections,
            agents: input.agents,
            requests_per_minute: input.requests_per_minute,
            tokens_per_minute: input.tokens_per_minute,
            created_at: self.now(),
            expires_at: input.expires_at,
            revoked_at: None,
        };
        self.check_key(caller, &wanted).await?;
        // Looked at before the key is made: a key without its budget must not get about.
        let budget = input.budget.map(|budget| SpendLimit {
            id: BudgetId(self.new_id()),
            scope: BudgetScope::Installation,
            period: budget.period,
            tokens: budget.tokens,
            cost_micros: budget.cost_micros,
        });
        let budget = budget.map(checked_limit).transpose()?;
        let new = NewKey {
            name: wanted.name,
            connections: wanted.connections,
            agents: wanted.agents,
            requests_per_minute: wanted.requests_per_minute,
            tokens_per_minute: wanted.tokens_per_minute,
            expires_at: wanted.expires_at,
        };
        let (key, secret) = self.access.make_virtual_key(caller.user(), new).await?;
        if let Some(mut budget) = budget {
            budget.scope = BudgetScope::Key(key.id);
            let saved = self.store.save_spend_limit(self.tenant(), &budget).await;
            if let Err(error) = saved {
                self.store.revoke_key(self.tenant(), key.id, self.now()).await?;
                return Err(error.into());
            }
        }
        Ok(NewVirtualKey { key, secret: Some(secret) })
    }

    /// Changes name, reach and limits; in force at the next request.
    pub async fn change_key(&self, caller: &Caller, id: KeyId, change: KeyChange) -> AppResult<VirtualKey> {
        let mut key = self.key_of(caller, id).await?;
        if key.revoked_at.is_some() {
            return Err(AppError::conflict("key_revoked", "the key is revoked, which is for good", "make a new one"));
        }
        if let Some(name) = change.name {
            name.trim().clone_into(&mut key.name);
        }
        if let Some(connections) = change.connections {
            key.connections = connections;
        }
        if let Some(agents) = change.agents {
            key.agents = agents;
        }
        if let Some(limit) = change.requests_per_minute {
            key.requests_per_minute = limit;
        }
        if let Some(limit) = change.tokens_per_minute {
            key.tokens_per_minute = limit;
        }
        if let Some(at) = change.expires_at {
            key.expires_at = at;
        }
        self.check_key(caller, &key).await?;
        self.store.save_key(self.tenant(), &key, None).await?;
        Ok(self.store.key(self.tenant(), id).await?)
    }

    /// For good; in force at the next request.
    pub async fn revoke_key(&self, caller: &Caller, id: KeyId) -> AppResult<()> {
        let key = self.key_of(caller, id).await?;
        Ok(self.store.revoke_key(self.tenant(), key.id, self.now()).await?)
    }

    /// A key that the caller may change: their own, or any as an administrator.
    async fn key_of(&self, caller: &Caller, id: KeyId) -> AppResult<VirtualKey> {
        authorize(caller, Action::Write, Resource::Keys)?;
        let key = self.store.key(self.tenant(), id).await?;
        authorize(caller, Action::Write, Resource::Key { id, owner: key.user })?;
        Ok(key)
    }

    async fn check_key(&self, caller: &Caller, key: &VirtualKey) -> AppResult<()> {
        if let Some(problem) = key_problem(key, self.now()) {
            return Err(AppError::invalid(problem.field, problem.what, problem.hint));
        }
        if !key.connections.is_empty() {
            listed("connections", "connection", &key.connections, &self.usable_connections(caller).await)?;
        }
        if let Some(agents) = key.agents.as_ref().filter(|agents| !agents.is_empty()) {
            let known = self.usable_agents(caller).await?;
            let known: Vec<String> = known.into_iter().map(|agent| agent.name).collect();
            listed("agents", "agent", agents, &known)?;
        }
        Ok(())
    }
}

fn listed(field: &str, what: &str, names: &[String], known: &[String]) -> AppResult<()> {
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(AppError::invalid(
            field,
            format!("there is no {what} `{name}`"),
            format!("there are: {}", known.join(", ")),
        )),
    }
}
