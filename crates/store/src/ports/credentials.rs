//! The vault's rows: sealed bytes and what may be shown. All of a tenant are sealed with one key at any instant.

use crate::append::{AuditRow, insert_audit};
use crate::codec::{body, from_json, page_size, sort_key, to_json};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::audit::of_credential_use;
use steward_core::credential::{Credential, CredentialUse};
use steward_core::ports::{CredentialRows, Page, SealedCredential, StoreError, StoreResult};
use steward_core::{CredentialId, RunId, TenantId, Timestamp, UserId};
use uuid::Uuid;

#[async_trait]
impl CredentialRows for Store {
    async fn save_credential(&self, tenant: TenantId, row: &SealedCredential) -> StoreResult<()> {
        self.write((tenant, row.clone()), |(tenant, row), tx| Box::pin(save(tx, *tenant, row))).await
    }

    async fn credential_row(&self, tenant: TenantId, id: CredentialId) -> StoreResult<SealedCredential> {
        self.read((tenant, id), |(tenant, id), tx| Box::pin(one(tx, *tenant, *id))).await
    }

    async fn credential_rows(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<SealedCredential>> {
        let limit = page_size(limit);
        let sql = "select body, key_id, sealed, used_at from credentials
             where tenant_id = $1 and ($2 is null or sort_key > $2)
             order by sort_key limit $3";
        self.page(sql, args![tenant, after.map(sort_key), limit + 1], limit, sealed_of).await
    }

    async fn credential_keys(&self) -> StoreResult<Vec<String>> {
        self.all("select distinct key_id from credentials", args![], |row| row.text(0)).await
    }

    async fn reseal(&self, tenant: TenantId, from: &str, rows: &[SealedCredential]) -> StoreResult<()> {
        self.write((tenant, from.to_owned(), rows.to_vec()), |(tenant, from, rows), tx| {
            Box::pin(reseal(tx, *tenant, from, rows))
        })
        .await
    }

    async fn remove_credential(&self, tenant: TenantId, id: CredentialId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove(tx, *tenant, *id))).await
    }

    async fn credential_used(&self, tenant: TenantId, used: &CredentialUse, entry: Uuid) -> StoreResult<()> {
        self.write((tenant, used.clone(), entry), |(tenant, used, entry), tx| {
            Box::pin(add_use(tx, *tenant, used, *entry))
        })
        .await
    }

    async fn credential_uses(
        &self,
        tenant: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> StoreResult<Page<CredentialUse>> {
        self.read((tenant, id, before, limit), |(tenant, id, before, limit), tx| {
            Box::pin(page_of_uses(tx, *tenant, *id, *before, *limit))
        })
        .await
    }
}

fn unknown_credential(id: CredentialId) -> StoreError {
    StoreError::NotFound(format!("credential {id}"))
}

/// Any number that other programs on the same server are unlikely to lock.
const ADVISORY_LOCK: i64 = 0x5374_6577_6172_6402;

async fn save(tx: &mut Tx<'_>, tenant: TenantId, row: &SealedCredential) -> StoreResult<()> {
    lock_all(tx).await?;
    let sql = "select 1 from credentials where tenant_id = $1 and key_id <> $2 limit 1";
    if tx.row(sql, args![tenant, &row.key_id]).await?.is_some() {
        return Err(StoreError::Conflict(
            "the other credentials are sealed with another key; start Steward with that key, or \
             remove them first"
                .to_owned(),
        ));
    }
    tx.write_unique(
        "insert into credentials (tenant_id, id, name, sort_key, body, key_id, sealed, used_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (tenant_id, id) do update set
             name = excluded.name, sort_key = excluded.sort_key, body = excluded.body,
             sealed = excluded.sealed",
        args![
            tenant,
            row.credential.id,
            &row.credential.name,
            sort_key(&row.credential.name),
            to_json(&row.credential)?,
            &row.key_id,
            hex::encode(&row.sealed),
            row.credential.used_at
        ],
        || format!("another credential has the name {:?}; choose another, or change that one", row.credential.name),
    )
    .await
}

async fn one(tx: &mut Tx<'_>, tenant: TenantId, id: CredentialId) -> StoreResult<SealedCredential> {
    let sql = "select body, key_id, sealed, used_at from credentials
               where tenant_id = $1 and id = $2";
    let row = tx.row(sql, args![tenant, id]).await?;
    sealed_of(&row.ok_or_else(|| unknown_credential(id))?)
}

async fn reseal(tx: &mut Tx<'_>, tenant: TenantId, from: &str, rows: &[SealedCredential]) -> StoreResult<()> {
    lock_all(tx).await?;
    let changed = || StoreError::Conflict("the credentials were changed meanwhile; rotate them again".to_owned());
    let sql = "select count(*) from credentials where tenant_id = $1";
    if tx.count(sql, args![tenant]).await? != rows.len() as u64 {
        return Err(changed());
    }
    for row in rows {
        // Secrets changed since they were read would be lost: the body has the time of their last change.
        let current = one(tx, tenant, row.credential.id).await;
        if current.map_err(|_| changed())?.credential.changed_at != row.credential.changed_at {
            return Err(changed());
        }
        let sql = "update credentials set key_id = $4, sealed = $5
                   where tenant_id = $1 and id = $2 and key_id = $3";
        let args = args![tenant, row.credential.id, from, &row.key_id, hex::encode(&row.sealed)];
        if tx.execute(sql, args).await? != 1 {
            return Err(changed());
        }
    }
    Ok(())
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: CredentialId) -> StoreResult<()> {
    lock_all(tx).await?;
    let sql = "delete from credentials where tenant_id = $1 and id = $2";
    require_changed(tx.execute(sql, args![tenant, id]).await?, || format!("credential {id}"))
}

/// On PostgreSQL, others that write wait until this transaction ends; SQLite has one writer anyway.
async fn lock_all(tx: &mut Tx<'_>) -> StoreResult<()> {
    if matches!(tx, Tx::Postgres(_)) {
        tx.rows("select pg_advisory_xact_lock($1)::text", args![ADVISORY_LOCK]).await?;
    }
    Ok(())
}

fn sealed_of(row: &Row) -> StoreResult<SealedCredential> {
    let mut credential: Credential = from_json("a credential", &row.text(0)?)?;
    credential.used_at = row.opt_int(3)?.map(Timestamp);
    let sealed = hex::decode(row.text(2)?)
        .map_err(|_| StoreError::Corrupt(format!("the secret of credential {} is no hexadecimal", credential.id)))?;
    Ok(SealedCredential { credential, key_id: row.text(1)?, sealed })
}

async fn add_use(tx: &mut Tx<'_>, tenant: TenantId, used: &CredentialUse, entry: Uuid) -> StoreResult<()> {
    // This row is held until the end, so that two uses of one instant get different numbers.
    let sql = "update credentials
               set used_at = case when used_at > $3 then used_at else $3 end
               where tenant_id = $1 and id = $2";
    let args = args![tenant, used.credential, used.at];
    require_changed(tx.execute(sql, args).await?, || format!("credential {}", used.credential))?;
    let sql = "insert into credential_uses (tenant_id, credential_id, at, n, run_id, body)
         select $1, $2, $3, coalesce(max(n), 0) + 1, $4, $5 from credential_uses
         where tenant_id = $1 and credential_id = $2 and at = $3";
    tx.execute(sql, args![tenant, used.credential, used.at, used.run, to_json(used)?]).await?;
    let owner = match used.run {
        Some(run) => owner_of(tx, tenant, run).await?,
        None => None,
    };
    insert_audit(tx, tenant, &AuditRow::of(&of_credential_use(entry, used, owner))?).await
}

/// The user whose run it is, if there is one.
async fn owner_of(tx: &mut Tx<'_>, tenant: TenantId, run: RunId) -> StoreResult<Option<(String, UserId)>> {
    let sql = "select u.email, u.id from runs r join users u on u.tenant_id = r.tenant_id and u.id = r.user_id
               where r.tenant_id = $1 and r.id = $2";
    let row = tx.row(sql, args![tenant, run]).await?;
    row.map(|row| Ok((row.text(0)?, UserId(row.id(1)?)))).transpose()
}

/// A page goes on until the instant of its last use is whole: the next one begins before that.
async fn page_of_uses(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: CredentialId,
    before: Option<Timestamp>,
    limit: u32,
) -> StoreResult<Page<CredentialUse>> {
    let sql = "select body, at from credential_uses
               where tenant_id = $1 and credential_id = $2 and ($3 is null or at < $3)
                 and at >= coalesce((select at from credential_uses
                                     where tenant_id = $1 and credential_id = $2
                                       and ($3 is null or at < $3)
                                     order by at desc, n desc limit 1 offset $4), 0)
               order by at desc, n desc";
    let limit = page_size(limit);
    let rows = tx.rows(sql, args![tenant, id, before, limit - 1]).await?;
    let items = rows.iter().map(body("a use of a credential")).collect::<StoreResult<_>>()?;
    let more = match rows.last() {
        Some(last) => {
            let sql = "select 1 from credential_uses
                       where tenant_id = $1 and credential_id = $2 and at < $3 limit 1";
            tx.row(sql, args![tenant, id, last.int(1)?]).await?.is_some()
        }
        None => false,
    };
    Ok(Page { items, more })
}
