use crate::error::{DbError, on_duplicate, require_changed};
use crate::store::Store;
use crate::tx::{Row, args};
use steward_core::ports::{KeptRun, StoreError, StoreResult};
use steward_core::{RunId, TenantId};

impl Store {
    /// Keeps one; a name that another has is a conflict.
    pub async fn keep_run(&self, tenant: TenantId, it: &KeptRun) -> StoreResult<()> {
        let sql = "insert into kept_runs (tenant_id, name, run_id, kept_by, created_at) values ($1, $2, $3, $4, $5)";
        let kept = self.execute(sql, args![tenant, &it.name, it.run, &it.by, it.created_at]).await;
        kept.map_err(|e| match e {
            DbError::MissingParent => StoreError::NotFound(format!("run {}", it.run)),
            other => {
                on_duplicate(other, || format!("another run is kept under the name {:?}; choose another", it.name))
            }
        })?;
        Ok(())
    }

    /// All, by name.
    pub async fn kept_runs(&self, tenant: TenantId) -> StoreResult<Vec<KeptRun>> {
        let sql = "select name, run_id, kept_by, created_at from kept_runs where tenant_id = $1";
        let mut kept: Vec<KeptRun> = self.all(sql, args![tenant], kept_of).await?;
        kept.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(kept)
    }

    /// Lets go of one; the run stays.
    pub async fn drop_kept(&self, tenant: TenantId, name: &str) -> StoreResult<()> {
        let sql = "delete from kept_runs where tenant_id = $1 and name = $2";
        require_changed(self.execute(sql, args![tenant, name]).await?, || format!("kept run {name:?}"))
    }
}

fn kept_of(row: &Row) -> StoreResult<KeptRun> {
    Ok(KeptRun { name: row.text(0)?, run: RunId(row.id(1)?), by: row.text(2)?, created_at: row.time(3)? })
}
