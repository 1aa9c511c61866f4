//! The writer's memory of where each log ends: it is the only writer, and forgets when a lease changes.

use crate::append::LogHead;
use crate::engine::ready;
use crate::tx::Tx;
use rusqlite::Connection;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use steward_core::ports::StoreResult;
use steward_core::{RunId, TenantId};

/// Runs remembered before all are forgotten: a bound on memory, some 80 bytes each.
const MAX_RUNS: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct LogHeadCache(HashMap<(TenantId, RunId), LogHead>);

impl LogHeadCache {
    pub(super) fn get(
        &mut self,
        connection: &mut Connection,
        tenant: TenantId,
        run: RunId,
    ) -> StoreResult<&mut LogHead> {
        if self.0.len() >= MAX_RUNS {
            self.0.clear();
        }
        match self.0.entry((tenant, run)) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let mut tx = Tx::Sqlite(connection);
                let head = ready(Box::pin(LogHead::lock(&mut tx, tenant, run)))?;
                Ok(entry.insert(head))
            }
        }
    }

    /// Forgets all, since a call other than an append changed a lease or a log.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
