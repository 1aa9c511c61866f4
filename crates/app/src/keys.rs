//! Virtual keys: they let a program use `/v1`, within limits.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize, listed_owner};
use crate::budgets::checked_limit;
use crate::dto::keys::{KeyChange, KeyInput, NewVirtualKey, VirtualKey as KeyView};
use crate::dto::named::NamedRef;
use std::str::FromStr;
use steward_access::NewKey;
use steward_core::ports::{BudgetScope, SpendLimit, VirtualKey, VirtualKeys as _};
use steward_core::spending::key_problem;
use steward_core::{AgentId, BudgetId, ConnectionId, KeyId, ports};
use uuid::Uuid;

impl App {
    /// Newest first: administrators see everybody's, others their own.
    pub async fn keys(&self, caller: &Caller, after: Option<KeyId>, limit: u32) -> AppResult<ports::Page<KeyView>> {
        authorize(caller, Action::Read, Resource::Keys)?;
        let user = listed_owner(caller, Resource::Keys);
        let page = self.store.keys(self.tenant(), user, after, limit).await?;
        Ok(ports::Page { items: self.show_keys(page.items).await?, more: page.more })
    }

    /// Makes a key and its budget. The secret is not kept anywhere.
    pub async fn create_key(&self, caller: &Caller, input: KeyInput) -> AppResult<NewVirtualKey> {
        authorize(caller, Action::Write, Resource::Keys)?;
        let wanted = VirtualKey {
            id: KeyId(Uuid::nil()),
            name: input.name.trim().to_owned(),
            user: caller.user(),
            prefix: String::new(),
            connections: self.connections_meant(caller, &input.connections).await?,
            agents: self.key_agents_meant(caller, input.agents).await?,
            requests_per_minute: input.requests_per_minute,
            tokens_per_minute: input.tokens_per_minute,
            created_at: self.now(),
            expires_at: input.expires_at,
            revoked_at: None,
        };
        self.check_key(&wanted)?;
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
        Ok(NewVirtualKey { key: self.show_key(key).await?, secret: Some(secret) })
    }

    /// Changes name, reach and limits; in force at the next request.
    pub async fn change_key(&self, caller: &Caller, id: KeyId, change: KeyChange) -> AppResult<KeyView> {
        let mut key = self.key_of(caller, id).await?;
        if key.revoked_at.is_some() {
            return Err(AppError::conflict("key_revoked", "the key is revoked, which is for good", "make a new one"));
        }
        if let Some(name) = change.name {
            name.trim().clone_into(&mut key.name);
        }
        if let Some(connections) = change.connections {
            key.connections = self.connections_meant(caller, &connections).await?;
        }
        if let Some(agents) = change.agents {
            key.agents = self.key_agents_meant(caller, agents).await?;
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
        self.check_key(&key)?;
        self.store.save_key(self.tenant(), &key, None).await?;
        self.show_key(self.store.key(self.tenant(), id).await?).await
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

    fn check_key(&self, key: &VirtualKey) -> AppResult<()> {
        match key_problem(key, self.now()) {
            Some(problem) => Err(AppError::invalid(problem.field, problem.what, problem.hint)),
            None => Ok(()),
        }
    }

    /// Those that the caller may use, by id or name.
    async fn connections_meant(&self, caller: &Caller, words: &[String]) -> AppResult<Vec<ConnectionId>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.readable_connections(caller).await.into_iter();
        let known: Vec<_> = known.map(|one| (one.connection.id, one.connection.name)).collect();
        meant("connections", "connection", words, &known)
    }

    async fn key_agents_meant(&self, caller: &Caller, words: Option<Vec<String>>) -> AppResult<Option<Vec<AgentId>>> {
        let Some(words) = words else { return Ok(None) };
        if words.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let known: Vec<_> = self.usable_agents(caller).await?.into_iter().map(|agent| (agent.id, agent.name)).collect();
        meant("agents", "agent", &words, &known).map(Some)
    }

    async fn show_key(&self, key: VirtualKey) -> AppResult<KeyView> {
        let shown = self.show_keys(vec![key]).await?.into_iter().next();
        shown.ok_or_else(|| AppError::not_found("the key"))
    }

    async fn show_keys(&self, keys: Vec<VirtualKey>) -> AppResult<Vec<KeyView>> {
        let agents = keys.iter().flat_map(|key| key.agents.iter().flatten().copied()).collect();
        let agents = self.agent_names(agents).await?;
        let connections = self.connections.list().await;
        let connection = |id: &ConnectionId| NamedRef {
            id: id.0,
            name: connections.iter().find(|one| one.connection.id == *id).map(|one| one.connection.name.clone()),
        };
        let shown = keys.into_iter().map(|key| KeyView {
            connections: key.connections.iter().map(connection).collect(),
            agents: key.agents.map(|ids| agents.refs(&ids)),
            id: key.id,
            name: key.name,
            user: key.user,
            prefix: key.prefix,
            requests_per_minute: key.requests_per_minute,
            tokens_per_minute: key.tokens_per_minute,
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
        });
        Ok(shown.collect())
    }
}

/// What words name, by id, or by the name that one has now.
fn meant<I: Copy + PartialEq + FromStr>(
    field: &str,
    what: &str,
    words: &[String],
    known: &[(I, String)],
) -> AppResult<Vec<I>> {
    let mut found = Vec::with_capacity(words.len());
    for word in words.iter().map(|word| word.trim()) {
        let id = word.parse::<I>().ok();
        let by_id = known.iter().find(|(known, _)| Some(*known) == id);
        let Some((id, _)) = by_id.or_else(|| known.iter().find(|(_, name)| name == word)) else {
            let names: Vec<&str> = known.iter().map(|(_, name)| name.as_str()).collect();
            let hint = format!("there are: {}", names.join(", "));
            return Err(AppError::invalid(field, format!("there is no {what} `{word}`"), hint));
        };
        if !found.contains(id) {
            found.push(*id);
        }
    }
    Ok(found)
}
