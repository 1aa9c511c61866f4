use crate::codec::{from_json, page_size, to_json};
use crate::error::{DbError, on_duplicate, require_changed};
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::ports::{Page, StoreError, StoreResult, VirtualKey, VirtualKeys};
use steward_core::{KeyId, TenantId, Timestamp, UserId};

#[async_trait]
impl VirtualKeys for Store {
    async fn save_key(&self, tenant: TenantId, key: &VirtualKey, secret_hash: Option<&str>) -> StoreResult<()> {
        let Some(hash) = secret_hash else {
            return self.write((tenant, key.clone()), |(tenant, key), tx| Box::pin(change(tx, *tenant, key))).await;
        };
        let sql = "insert into virtual_keys (tenant_id, id, user_id, secret_hash, body, expires_at, revoked_at)
             values ($1, $2, $3, $4, $5, $6, $7)";
        let args = args![tenant, key.id, key.user, hash, to_json(key)?, key.expires_at, key.revoked_at];
        self.execute(sql, args).await.map_err(|e| match e {
            DbError::MissingParent => StoreError::NotFound(format!("user {}", key.user)),
            other => on_duplicate(other, || format!("key {} exists already", key.id)),
        })?;
        Ok(())
    }

    async fn key_by_hash(&self, tenant: TenantId, hash: &str, now: Timestamp) -> StoreResult<Option<VirtualKey>> {
        let sql = "select body, revoked_at from virtual_keys
             where tenant_id = $1 and secret_hash = $2 and revoked_at is null
               and (expires_at is null or expires_at > $3)";
        self.first(sql, args![tenant, hash, now], key_of).await
    }

    async fn key(&self, tenant: TenantId, id: KeyId) -> StoreResult<VirtualKey> {
        let sql = "select body, revoked_at from virtual_keys where tenant_id = $1 and id = $2";
        self.first(sql, args![tenant, id], key_of).await?.ok_or_else(|| unknown(id))
    }
}

impl Store {
    /// Newest first; with `user` only theirs.
    pub async fn keys(
        &self,
        tenant: TenantId,
        user: Option<UserId>,
        after: Option<KeyId>,
        limit: u32,
    ) -> StoreResult<Page<VirtualKey>> {
        let limit = page_size(limit);
        let sql = "select body, revoked_at from virtual_keys
             where tenant_id = $1 and ($2 is null or user_id = $2) and ($3 is null or id < $3)
             order by id desc limit $4";
        self.page(sql, args![tenant, user, after, limit + 1], limit, key_of).await
    }

    pub async fn revoke_key(&self, tenant: TenantId, id: KeyId, at: Timestamp) -> StoreResult<()> {
        // The first time counts.
        let sql = "update virtual_keys set revoked_at = coalesce(revoked_at, $3) where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id, at]).await?, || format!("key {id}"))
    }
}

/// Name, what it opens and its limits; whose it is and when it was made stays.
async fn change(tx: &mut Tx<'_>, tenant: TenantId, key: &VirtualKey) -> StoreResult<()> {
    let sql = locking!(tx, "select body, revoked_at from virtual_keys where tenant_id = $1 and id = $2", "for update");
    let row = tx.row(sql, args![tenant, key.id]).await?;
    let old = key_of(&row.ok_or_else(|| unknown(key.id))?)?;
    let new = VirtualKey {
        user: old.user,
        prefix: old.prefix,
        created_at: old.created_at,
        revoked_at: old.revoked_at,
        ..key.clone()
    };
    let sql = "update virtual_keys set body = $3, expires_at = $4 where tenant_id = $1 and id = $2";
    tx.run(sql, args![tenant, key.id, to_json(&new)?, new.expires_at]).await
}

fn key_of(row: &Row) -> StoreResult<VirtualKey> {
    let mut key: VirtualKey = from_json("a virtual key", &row.text(0)?)?;
    key.revoked_at = row.opt_int(1)?.map(Timestamp);
    Ok(key)
}

fn unknown(id: KeyId) -> StoreError {
    StoreError::NotFound(format!("key {id}"))
}
