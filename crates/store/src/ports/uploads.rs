use crate::store::Store;
use crate::tx::{Row, args};
use steward_core::ports::{Page, StoreResult};
use steward_core::upload::{UploadedBytes, UploadedFile};
use steward_core::{TenantId, UserId};

/// Documents that are files elsewhere take no room here.
const USED: &str = "
select cast(coalesce(sum(case when user_id = $2 then bytes else 0 end), 0) as bigint),
       cast(coalesce(sum(bytes), 0) as bigint)
from (select user_id, bytes from uploads where tenant_id = $1
      union all
      select added_by, bytes from documents where tenant_id = $1 and origin in ('upload', 'package')) kept";

impl Store {
    /// Notes a file that was sent; another of the same path isn't there any more.
    pub async fn note_upload(&self, tenant: TenantId, file: &UploadedFile) -> StoreResult<()> {
        let sql = "insert into uploads (tenant_id, path, user_id, bytes, at) values ($1, $2, $3, $4, $5)
             on conflict (tenant_id, path) do update
             set user_id = excluded.user_id, bytes = excluded.bytes, at = excluded.at";
        self.run(sql, args![tenant, &file.path, file.user_id, file.bytes, file.at]).await
    }

    pub async fn forget_upload(&self, tenant: TenantId, path: &str) -> StoreResult<()> {
        self.run("delete from uploads where tenant_id = $1 and path = $2", args![tenant, path]).await
    }

    /// Whose file it is; `None`: nobody has sent it.
    pub async fn upload(&self, tenant: TenantId, path: &str) -> StoreResult<Option<UploadedFile>> {
        let sql = "select path, user_id, bytes, at from uploads where tenant_id = $1 and path = $2";
        self.first(sql, args![tenant, path], file).await
    }

    /// By path, of one user or of all.
    pub async fn uploads(
        &self,
        tenant: TenantId,
        user: Option<UserId>,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<UploadedFile>> {
        let sql = "select path, user_id, bytes, at from uploads
             where tenant_id = $1 and ($2 is null or user_id = $2) and ($3 is null or path > $3)
             order by path limit $4";
        self.page(sql, args![tenant, user, after, limit + 1], limit, file).await
    }

    pub async fn count_uploads(&self, tenant: TenantId, user: UserId) -> StoreResult<u64> {
        self.count("select count(*) from uploads where tenant_id = $1 and user_id = $2", args![tenant, user]).await
    }

    /// What was sent and is kept, as far as rows tell: files may have been removed in the workspace.
    pub async fn uploaded_bytes(&self, tenant: TenantId, user: UserId) -> StoreResult<UploadedBytes> {
        let read = |row: &Row| Ok(UploadedBytes { of_user: row.count(0)?, of_organisation: row.count(1)? });
        Ok(self.first(USED, args![tenant, user], read).await?.unwrap_or_default())
    }
}

fn file(row: &Row) -> StoreResult<UploadedFile> {
    Ok(UploadedFile { path: row.text(0)?, user_id: UserId(row.id(1)?), bytes: row.count(2)?, at: row.time(3)? })
}
