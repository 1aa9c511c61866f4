//! The writer's memory of where each log ends. It is the only writer of the only process, so what
//! it wrote last is what is there; anything that changes a lease makes it forget.

use crate::error;
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;
use steward_core::ports::{StoreError, StoreResult};
use steward_core::{RunId, TenantId};

/// Runs remembered before all are forgotten: a bound on memory, some 80 bytes each.
const MOST: usize = 20_000;

/// Where a log ends, and who may append.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub epoch: u64,
    pub last: u64,
}

/// Heads by run.
#[derive(Debug, Default)]
pub(super) struct Heads(HashMap<(TenantId, RunId), Head>);

impl Heads {
    /// The head of a run, from the database if it isn't known.
    pub(super) fn of(&mut self, connection: &Connection, tenant: TenantId, run: RunId) -> StoreResult<&mut Head> {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        match self.0.entry((tenant, run)) {
            std::collections::hash_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let head = load(connection, tenant, run)
                    .map_err(|e| error::sqlite(&e))?
                    .ok_or_else(|| StoreError::NotFound(format!("run {run}")))?;
                Ok(entry.insert(head))
            }
        }
    }

    /// Forgets all, since a call other than an append changed a lease or a log.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn load(connection: &Connection, tenant: TenantId, run: RunId) -> rusqlite::Result<Option<Head>> {
    connection
        .prepare_cached(
            "select epoch, (select coalesce(max(seq), 0) from events
                            where tenant_id = ?1 and run_id = ?2)
             from runs where tenant_id = ?1 and id = ?2",
        )?
        .query_row((tenant.0.as_bytes(), run.0.as_bytes()), |row| {
            Ok(Head { epoch: row.get::<_, i64>(0)?.cast_unsigned(), last: row.get::<_, i64>(1)?.cast_unsigned() })
        })
        .optional()
}
