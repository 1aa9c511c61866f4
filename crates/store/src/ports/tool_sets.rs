//! The tools of runs: schemas are kept once, by hash, since many runs share them, and put back when a log is read.

use crate::codec::{from_json, to_json};
use crate::store::Store;
use crate::tx::{Tx, args};
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::event::EventBody;
use steward_core::hash::sha256;
use steward_core::ports::{StoreError, StoreResult};
use steward_core::tool::ToolSpec;

/// A set that a new run refers to.
#[derive(Debug, Clone)]
pub(crate) struct ToolSet {
    pub hash: String,
    pub tools: Arc<[ToolSpec]>,
    /// Its JSON, where it may have to be written.
    pub body: Option<String>,
}

impl Store {
    pub(super) fn take_tool_set(&self, tenant: TenantId, first: &mut [EventBody]) -> StoreResult<Option<ToolSet>> {
        let Some(EventBody::RunStarted { setup, .. }) = first.first_mut() else {
            return Ok(None);
        };
        let tools = std::mem::take(&mut Arc::make_mut(setup).tools);
        let body = to_json(&tools)?;
        let hash = sha256(body.as_bytes());
        let body = self.tool_sets.get(tenant, &hash).is_none().then_some(body);
        Ok(Some(ToolSet { hash, tools, body }))
    }
    pub(super) async fn tool_set(&self, tenant: TenantId, hash: &str) -> StoreResult<Arc<[ToolSpec]>> {
        if let Some(known) = self.tool_sets.get(tenant, hash) {
            return Ok(known);
        }
        let row =
            self.row("select body from tool_sets where tenant_id = $1 and hash = $2", args![tenant, hash]).await?;
        let row = row.ok_or_else(|| {
            StoreError::Corrupt(format!("the set of tools {hash} is missing; restore it from a backup"))
        })?;
        let tools: Arc<[ToolSpec]> = from_json("a set of tools", &row.text(0)?)?;
        self.tool_sets.add(tenant, hash.to_owned(), Arc::clone(&tools));
        Ok(tools)
    }
}

/// Writes a set beside the run that is the first to have it.
pub(super) async fn save(tx: &mut Tx<'_>, tenant: TenantId, set: &ToolSet) -> StoreResult<()> {
    if let Some(body) = &set.body {
        let sql = "insert into tool_sets (tenant_id, hash, body) values ($1, $2, $3) on conflict (tenant_id, hash) do nothing";
        tx.execute(sql, args![tenant, &set.hash, body]).await?;
    }
    Ok(())
}
