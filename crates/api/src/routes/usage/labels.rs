//! Names for people beside ids.

use crate::problem::Problem;
use crate::state::ApiState;
use std::collections::HashMap;
use steward_core::ports::{BudgetScope, StoreError, UsageBy, UsageRow};
use steward_core::{AgentId, ConnectionId, KeyId, UserId};
use uuid::Uuid;

/// What there is no name for any more.
const GONE: &str = "(deleted)";

/// Names by id.
#[derive(Default)]
pub(crate) struct Labels(HashMap<Uuid, String>);

impl Labels {
    /// Those of the groups of a report.
    pub async fn of_groups(state: &ApiState, by: UsageBy, rows: &[UsageRow]) -> Result<Self, Problem> {
        let ids = rows.iter().filter_map(|row| row.group.parse().ok());
        let scopes = ids.filter_map(|id: Uuid| match by {
            UsageBy::Agent => Some(BudgetScope::Agent(AgentId(id))),
            UsageBy::User => Some(BudgetScope::User(UserId(id))),
            UsageBy::Connection => Some(BudgetScope::Connection(ConnectionId(id))),
            UsageBy::Key => Some(BudgetScope::Key(KeyId(id))),
            UsageBy::Day | UsageBy::Model => None,
        });
        Self::of(state, scopes).await
    }

    /// Those of what budgets are for.
    pub async fn of(state: &ApiState, scopes: impl Iterator<Item = BudgetScope>) -> Result<Self, Problem> {
        let mut names = HashMap::new();
        for scope in scopes {
            if let Some((id, name)) = name(state, scope).await? {
                names.insert(id, name);
            }
        }
        Ok(Self(names))
    }

    /// That of a group.
    pub fn group(&self, by: UsageBy, group: &str) -> String {
        match by {
            UsageBy::Day | UsageBy::Model => group.to_owned(),
            UsageBy::Agent if group.is_empty() => "(no agent)".to_owned(),
            UsageBy::User if group.is_empty() => "(command line)".to_owned(),
            UsageBy::Connection if group.is_empty() => "(no connection)".to_owned(),
            UsageBy::Key if group.is_empty() => "(no key)".to_owned(),
            _ => {
                let known = group.parse().ok().and_then(|id: Uuid| self.0.get(&id));
                known.map_or_else(|| GONE.to_owned(), Clone::clone)
            }
        }
    }

    /// That of what a budget is for.
    pub fn scope(&self, scope: BudgetScope) -> String {
        let id = match scope {
            BudgetScope::Installation => return "installation".to_owned(),
            BudgetScope::User(UserId(id))
            | BudgetScope::Agent(AgentId(id))
            | BudgetScope::Connection(ConnectionId(id))
            | BudgetScope::Key(KeyId(id)) => id,
        };
        self.0.get(&id).map_or_else(|| GONE.to_owned(), Clone::clone)
    }

    /// Whether what a budget is for is there.
    pub fn knows(&self, scope: BudgetScope) -> bool {
        scope == BudgetScope::Installation || self.scope(scope) != GONE
    }
}

async fn name(state: &ApiState, scope: BudgetScope) -> Result<Option<(Uuid, String)>, Problem> {
    let deps = state.runs.deps();
    let found = match scope {
        BudgetScope::Installation => return Ok(None),
        BudgetScope::User(id) => (id.0, state.access.email(id).await?),
        BudgetScope::Agent(id) => {
            let agent = present(deps.store.agent(deps.tenant, id).await)?;
            (id.0, agent.map(|agent| agent.name))
        }
        BudgetScope::Connection(id) => {
            let all = state.connections.list().await;
            let known = all.into_iter().find(|known| known.connection.id == id);
            (id.0, known.map(|known| known.connection.name))
        }
        BudgetScope::Key(id) => {
            let key = present(deps.store.key(deps.tenant, id).await)?;
            (id.0, key.map(|key| key.name))
        }
    };
    Ok(found.1.map(|name| (found.0, name)))
}

fn present<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
