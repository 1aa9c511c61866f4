//! All rows of a tenant are sealed with one key at any instant; both ways of writing hold to that.

use super::unknown;
use crate::codec::{from_json, page_size, paged, sort_key, to_json};
use crate::error::clash;
use crate::tx::{Row, Tx, args};
use steward_core::credential::Credential;
use steward_core::ports::{Page, SealedCredential, StoreError, StoreResult};
use steward_core::{CredentialId, TenantId, Timestamp};

/// Any number that other programs on the same server are unlikely to lock.
const ADVISORY_LOCK: i64 = 0x5374_6577_6172_6402;

pub(super) async fn save(tx: &mut Tx<'_>, tenant: TenantId, row: &SealedCredential) -> StoreResult<()> {
    one_at_a_time(tx).await?;
    let sql = "select 1 from credentials where tenant_id = $1 and key_id <> $2 limit 1";
    if tx.row(sql, args![tenant, &row.key_id]).await?.is_some() {
        return Err(StoreError::Conflict(
            "the other credentials are sealed with another key; start Steward with that key, or \
             remove them first"
                .to_owned(),
        ));
    }
    tx.execute(
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
    )
    .await
    .map_err(|e| {
        clash(e, || {
            format!("another credential has the name {:?}; choose another, or change that one", row.credential.name)
        })
    })?;
    Ok(())
}

pub(super) async fn one(tx: &mut Tx<'_>, tenant: TenantId, id: CredentialId) -> StoreResult<SealedCredential> {
    let sql = "select body, key_id, sealed, used_at from credentials
               where tenant_id = $1 and id = $2";
    let row = tx.row(sql, args![tenant, id]).await?;
    sealed_of(&row.ok_or_else(|| unknown(id))?)
}

pub(super) async fn page(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    after: Option<&str>,
    limit: u32,
) -> StoreResult<Page<SealedCredential>> {
    let limit = page_size(limit);
    let sql = "select body, key_id, sealed, used_at from credentials
               where tenant_id = $1 and ($2 is null or sort_key > $2)
               order by sort_key limit $3";
    let args = args![tenant, after.map(sort_key), limit + 1];
    let rows = tx.rows(sql, args).await?;
    let rows = rows.iter().map(sealed_of).collect::<StoreResult<_>>()?;
    Ok(paged(rows, limit))
}

pub(super) async fn keys(tx: &mut Tx<'_>) -> StoreResult<Vec<String>> {
    let sql = "select distinct key_id from credentials";
    let rows = tx.rows(sql, args![]).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

pub(super) async fn reseal(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    from: &str,
    rows: &[SealedCredential],
) -> StoreResult<()> {
    one_at_a_time(tx).await?;
    let changed = || StoreError::Conflict("the credentials were changed meanwhile; rotate them again".to_owned());
    let sql = "select count(*) from credentials where tenant_id = $1";
    let all = tx.row(sql, args![tenant]).await?;
    let all = all.map_or(Ok(0), |row| row.count(0))?;
    if all != rows.len() as u64 {
        return Err(changed());
    }
    for row in rows {
        // Secrets that were changed since they were read would be lost: the time of their last change
        // stands in the body.
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

pub(super) async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: CredentialId) -> StoreResult<()> {
    one_at_a_time(tx).await?;
    let sql = "delete from credentials where tenant_id = $1 and id = $2";
    match tx.execute(sql, args![tenant, id]).await? {
        0 => Err(unknown(id)),
        _ => Ok(()),
    }
}

/// On PostgreSQL, others that write wait until this transaction ends; SQLite has one writer anyway.
async fn one_at_a_time(tx: &mut Tx<'_>) -> StoreResult<()> {
    if matches!(tx, Tx::Postgres(_)) {
        let lock = args![ADVISORY_LOCK];
        tx.rows("select pg_advisory_xact_lock($1)::text", lock).await?;
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
