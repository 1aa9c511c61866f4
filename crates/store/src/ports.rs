//! The ports, by table: what they do is written once, for both engines.

mod agents;
mod approvals;
mod audit;
mod budgets;
mod chunks;
mod collection_models;
mod collections;
mod connections;
mod conversations;
mod credentials;
mod document_changes;
mod documents;
mod domains;
mod facts;
mod file_provenance;
mod grants;
mod groups;
mod hooks;
mod idempotency;
mod ingest;
mod leases;
mod log;
mod mask_maps;
mod mcp_servers;
pub(crate) mod originals;
mod overview;
mod reservations;
mod resource_grants;
mod responses;
mod retention;
mod run_commit;
mod run_inbox;
mod run_list;
mod runs;
mod schedules;
mod scim;
mod sessions;
mod side_writes;
mod sign_on;
mod skills;
mod spend_limits;
mod subscriptions;
mod tenants;
mod tool_sets;
mod unused_blobs;
mod uploads;
mod usage;
mod users;
mod virtual_keys;

use crate::codec::{body, to_json};
use crate::store::Store;
use crate::tx::args;
use async_trait::async_trait;
use serde_json::Value;
use std::time::Duration;
use steward_core::TenantId;
use steward_core::ports::{Settings, StoreResult};

/// Documents, alarms and reservations are put off for less. What waits longer was put off by a clock that was ahead, and
/// is due.
const LONGEST_WAIT: Duration = Duration::from_hours(48);

#[async_trait]
impl Settings for Store {
    async fn setting(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Value>> {
        let sql = "select value from settings where tenant_id = $1 and name = $2";
        self.first(sql, args![tenant, name], body("a setting")).await
    }

    async fn set_setting(&self, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()> {
        let sql = "insert into settings (tenant_id, name, value) values ($1, $2, $3)
             on conflict (tenant_id, name) do update set value = excluded.value";
        self.run(sql, args![tenant, name, to_json(value)?]).await
    }
}

impl Store {
    /// Replaces a setting of which `version` was read, 0 where there was none; `false`: somebody was quicker.
    pub async fn replace_setting(
        &self,
        tenant: TenantId,
        name: &str,
        value: &Value,
        version: u64,
    ) -> StoreResult<bool> {
        let sql = "insert into settings (tenant_id, name, value, version) values ($1, $2, $3, $4 + 1)
             on conflict (tenant_id, name) do update set value = excluded.value, version = excluded.version
             where settings.version = $4";
        Ok(self.execute(sql, args![tenant, name, to_json(value)?, version]).await? > 0)
    }
}
