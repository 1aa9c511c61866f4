//! Which scopes have a hard budget, so that most calls need not ask the database.

use crate::tx::{Tx, args};
use std::collections::HashSet;
use std::sync::{Arc, RwLock};
use steward_core::locks::{read, write};
use steward_core::ports::{BudgetScope, Spender, StoreError, StoreResult};
use steward_core::{AgentId, ConnectionId, KeyId, TenantId, UserId};
use uuid::Uuid;

/// Whose calls hard budgets limit.
#[derive(Clone)]
pub(crate) enum LimitLookup {
    /// Another process may make one: ask the database.
    Database,
    /// One process owns the data.
    Cached(Arc<LimitedScopes>),
}

/// Scopes that have, or had, a limit. None is forgotten before the store is opened again: a limit may
/// always be on its way through the writer's queue.
#[derive(Debug, Default)]
pub(crate) struct LimitedScopes(RwLock<HashSet<(TenantId, BudgetScope)>>);

impl LimitedScopes {
    /// Adds a scope whose limit is about to be saved.
    pub(crate) fn add(&self, tenant: TenantId, scope: BudgetScope) {
        let mut known = write(&self.0);
        known.insert((tenant, scope));
    }
    pub(crate) fn is_empty(&self) -> bool {
        let known = read(&self.0);
        known.is_empty()
    }

    /// Whether one may count the calls of `spender`.
    pub(crate) fn count(&self, tenant: TenantId, spender: &Spender) -> bool {
        let scopes = [
            Some(BudgetScope::Installation),
            spender.user.map(BudgetScope::User),
            spender.agent.map(BudgetScope::Agent),
            spender.connection.map(BudgetScope::Connection),
            spender.key.map(BudgetScope::Key),
        ];
        let known = read(&self.0);
        let mut scopes = scopes.into_iter().flatten();
        !known.is_empty() && scopes.any(|scope| known.contains(&(tenant, scope)))
    }
}

pub(crate) async fn limited_scopes(tx: &mut Tx<'_>) -> StoreResult<Vec<(TenantId, BudgetScope)>> {
    let rows = tx.rows("select tenant_id, scope, owner_id from spend_limits", args![]).await?;
    rows.iter()
        .map(|row| {
            let scope = scope_of(&row.text(1)?, row.id(2)?)?;
            Ok((TenantId(row.id(0)?), scope))
        })
        .collect()
}

pub(crate) fn scope_columns(scope: BudgetScope) -> (&'static str, Uuid) {
    match scope {
        BudgetScope::Installation => ("installation", Uuid::nil()),
        BudgetScope::User(id) => ("user", id.0),
        BudgetScope::Agent(id) => ("agent", id.0),
        BudgetScope::Connection(id) => ("connection", id.0),
        BudgetScope::Key(id) => ("key", id.0),
    }
}

pub(crate) fn scope_of(word: &str, id: Uuid) -> StoreResult<BudgetScope> {
    Ok(match word {
        "installation" => BudgetScope::Installation,
        "user" => BudgetScope::User(UserId(id)),
        "agent" => BudgetScope::Agent(AgentId(id)),
        "connection" => BudgetScope::Connection(ConnectionId(id)),
        "key" => BudgetScope::Key(KeyId(id)),
        other => {
            return Err(StoreError::Corrupt(format!("a budget has the scope {other:?}")));
        }
    })
}
