use crate::store::Store;
use crate::tx::{Row, args};
use steward_core::ports::{MaskMapRow, StoreResult};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

impl Store {
    pub async fn save_mask_map(&self, tenant: TenantId, row: &MaskMapRow) -> StoreResult<()> {
        let sql = "insert into mask_maps (tenant_id, id, user_id, made_at, ends_at, sealed)
             values ($1, $2, $3, $4, $5, $6)";
        self.run(sql, args![tenant, row.id, row.user, row.made_at, row.ends_at, &row.sealed]).await
    }

    pub async fn mask_map(&self, tenant: TenantId, id: Uuid) -> StoreResult<Option<MaskMapRow>> {
        let sql = "select id, user_id, made_at, ends_at, sealed from mask_maps where tenant_id = $1 and id = $2";
        self.first(sql, args![tenant, id], mask_map).await
    }

    /// Some of those whose time is over.
    pub async fn ended_mask_maps(&self, tenant: TenantId, now: Timestamp) -> StoreResult<Vec<MaskMapRow>> {
        let sql = "select id, user_id, made_at, ends_at, sealed from mask_maps
             where tenant_id = $1 and ends_at <= $2 order by ends_at limit 100";
        self.all(sql, args![tenant, now], mask_map).await
    }

    pub async fn remove_mask_map(&self, tenant: TenantId, id: Uuid) -> StoreResult<()> {
        self.run("delete from mask_maps where tenant_id = $1 and id = $2", args![tenant, id]).await
    }
}

fn mask_map(row: &Row) -> StoreResult<MaskMapRow> {
    Ok(MaskMapRow {
        id: row.id(0)?,
        user: UserId(row.id(1)?),
        made_at: row.time(2)?,
        ends_at: row.time(3)?,
        sealed: row.text(4)?,
    })
}
