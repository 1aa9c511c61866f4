//! Settings.

use crate::codec::{from_json, to_json};
use crate::store::Store;
use crate::tx::{Tx, args};
use async_trait::async_trait;
use serde_json::Value;
use steward_core::TenantId;
use steward_core::ports::{Settings, StoreResult};

#[async_trait]
impl Settings for Store {
    async fn setting(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Value>> {
        self.read((tenant, name.to_owned()), |(tenant, name), tx| Box::pin(get(tx, *tenant, name))).await
    }

    async fn set_setting(&self, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()> {
        let args = (tenant, name.to_owned(), value.clone());
        self.write(args, |(tenant, name, value), tx| Box::pin(set(tx, *tenant, name, value))).await
    }
}

async fn get(tx: &mut Tx<'_>, tenant: TenantId, name: &str) -> StoreResult<Option<Value>> {
    let row = tx.row("select value from settings where tenant_id = $1 and name = $2", args![tenant, name]).await?;
    row.map(|row| from_json("a setting", &row.text(0)?)).transpose()
}

async fn set(tx: &mut Tx<'_>, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()> {
    tx.execute(
        "insert into settings (tenant_id, name, value) values ($1, $2, $3)
         on conflict (tenant_id, name) do update set value = excluded.value",
        args![tenant, name, to_json(value)?],
    )
    .await?;
    Ok(())
}
