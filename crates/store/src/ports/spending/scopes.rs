//! Whose calls are limited, remembered by the process that alone writes the data: most callers have no
//! budget, and their calls need not wait for the writer because somebody else has one.

use super::row::scope_of;
use crate::tx::{Tx, args};
use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};
use steward_core::TenantId;
use steward_core::ports::{BudgetScope, Spender, StoreResult};

/// Scopes that have, or had, a limit. None is forgotten before the store is opened again: a limit may
/// always be on its way through the writer's queue.
#[derive(Debug, Default)]
pub(crate) struct LimitedScopes(RwLock<HashSet<(TenantId, BudgetScope)>>);

impl LimitedScopes {
    /// A limit is about to be there.
    pub(crate) fn add(&self, tenant: TenantId, scope: BudgetScope) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert((tenant, scope));
    }

    /// Whether there is none at all.
    pub(crate) fn is_empty(&self) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
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
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut scopes = scopes.into_iter().flatten();
        !known.is_empty() && scopes.any(|scope| known.contains(&(tenant, scope)))
    }
}

/// Those of all limits.
pub(crate) async fn limited_scopes(tx: &mut Tx<'_>) -> StoreResult<Vec<(TenantId, BudgetScope)>> {
    let rows = tx.rows("select tenant_id, scope, owner_id from spend_limits", args![]).await?;
    rows.iter()
        .map(|row| {
            let scope = scope_of(&row.text(1)?, row.id(2)?)?;
            Ok((TenantId(row.id(0)?), scope))
        })
        .collect()
}
