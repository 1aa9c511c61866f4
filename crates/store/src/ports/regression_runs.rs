//! Runs kept as tests.

use crate::error::{DbError, on_duplicate};
use crate::store::Store;
use crate::tx::{Tx, args};
use async_trait::async_trait;
use steward_core::ports::{KeptRun, KeptRuns, StoreError, StoreResult};
use steward_core::{RunId, TenantId};

#[async_trait]
impl KeptRuns for Store {
    async fn keep_run(&self, tenant: TenantId, kept: &KeptRun) -> StoreResult<()> {
        self.write((tenant, kept.clone()), |(tenant, kept), tx| Box::pin(keep(tx, *tenant, kept))).await
    }

    async fn kept_runs(&self, tenant: TenantId) -> StoreResult<Vec<KeptRun>> {
        self.read(tenant, |tenant, tx| Box::pin(all(tx, *tenant))).await
    }

    async fn drop_kept(&self, tenant: TenantId, name: &str) -> StoreResult<()> {
        self.write((tenant, name.to_owned()), |(tenant, name), tx| Box::pin(remove(tx, *tenant, name))).await
    }
}

async fn keep(tx: &mut Tx<'_>, tenant: TenantId, it: &KeptRun) -> StoreResult<()> {
    tx.execute(
        "insert into kept_runs (tenant_id, name, run_id, kept_by, created_at)
         values ($1, $2, $3, $4, $5)",
        args![tenant, &it.name, it.run, &it.by, it.created_at],
    )
    .await
    .map_err(|e| match e {
        DbError::MissingParent => StoreError::NotFound(format!("run {}", it.run)),
        other => on_duplicate(other, || format!("another run is kept under the name {:?}; choose another", it.name)),
    })?;
    Ok(())
}

async fn all(tx: &mut Tx<'_>, tenant: TenantId) -> StoreResult<Vec<KeptRun>> {
    let rows =
        tx.rows("select name, run_id, kept_by, created_at from kept_runs where tenant_id = $1", args![tenant]).await?;
    let mut kept: Vec<KeptRun> = rows
        .iter()
        .map(|row| {
            Ok(KeptRun { name: row.text(0)?, run: RunId(row.id(1)?), by: row.text(2)?, created_at: row.time(3)? })
        })
        .collect::<StoreResult<_>>()?;
    kept.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kept)
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, name: &str) -> StoreResult<()> {
    let removed = tx.execute("delete from kept_runs where tenant_id = $1 and name = $2", args![tenant, name]).await?;
    if removed == 0 {
        return Err(StoreError::NotFound(format!("kept run {name:?}")));
    }
    Ok(())
}
