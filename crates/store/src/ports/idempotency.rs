use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Tx, args};
use steward_core::ports::{Remembered, StoreError, StoreResult};
use steward_core::{TenantId, Timestamp};

struct Key {
    tenant: TenantId,
    owner: String,
    name: String,
}

impl Store {
    /// Notes the key of `owner` with a hash of the request, unless known; keys older than `forget` are forgotten first.
    pub async fn begin_request(
        &self,
        tenant: TenantId,
        owner: &str,
        key: &str,
        request_hash: &str,
        at: Timestamp,
        forget: Timestamp,
    ) -> StoreResult<Remembered> {
        let key = Key { tenant, owner: owner.to_owned(), name: key.to_owned() };
        self.write((key, request_hash.to_owned(), at, forget), |(key, hash, at, forget), tx| {
            Box::pin(begin(tx, key, hash, *at, *forget))
        })
        .await
    }

    /// With the status and body of its answer, and a hash of its own body where [`Self::begin_request`] was not told it.
    pub async fn remember_request(
        &self,
        tenant: TenantId,
        owner: &str,
        key: &str,
        (status, body): (u16, &str),
        body_hash: Option<&str>,
    ) -> StoreResult<()> {
        let sql = "update idempotency_keys set status = $4, body = $5, body_hash = $6
             where tenant_id = $1 and owner = $2 and name = $3";
        let changed = self.execute(sql, args![tenant, owner, key, u32::from(status), body, body_hash]).await?;
        require_changed(changed, || format!("idempotency key {key:?}"))
    }

    /// Forgets a key whose request changed nothing.
    pub async fn forget_request(&self, tenant: TenantId, owner: &str, key: &str) -> StoreResult<()> {
        let sql = "delete from idempotency_keys where tenant_id = $1 and owner = $2 and name = $3";
        self.run(sql, args![tenant, owner, key]).await
    }
}

async fn begin(tx: &mut Tx<'_>, key: &Key, hash: &str, at: Timestamp, forget: Timestamp) -> StoreResult<Remembered> {
    tx.execute("delete from idempotency_keys where tenant_id = $1 and at < $2", args![key.tenant, forget]).await?;
    // The same key from another node: this waits for it, and then changes nothing.
    let sql = "insert into idempotency_keys (tenant_id, owner, name, request_hash, at)
             values ($1, $2, $3, $4, $5) on conflict (tenant_id, owner, name) do nothing";
    let changed = tx.execute(sql, args![key.tenant, &key.owner, &key.name, hash, at]).await?;
    if changed > 0 {
        return Ok(Remembered::New);
    }
    let sql = "select request_hash, status, body, body_hash from idempotency_keys
             where tenant_id = $1 and owner = $2 and name = $3";
    let row = tx.row(sql, args![key.tenant, &key.owner, &key.name]).await?;
    // Forgotten in between.
    let row = row.ok_or_else(|| tx.retry())?;
    if row.text(0)? != hash {
        return Ok(Remembered::Other);
    }
    match (row.opt_int(1)?, row.opt_text(2)?) {
        (Some(status), Some(body)) => Ok(Remembered::Done {
            status: u16::try_from(status)
                .map_err(|_| StoreError::Corrupt(format!("an idempotency key has the status {status}")))?,
            body,
            body_hash: row.opt_text(3)?,
        }),
        _ => Ok(Remembered::Begun),
    }
}
