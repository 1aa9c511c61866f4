//! The record of uses of credentials.

use crate::codec::{from_json, page_size, to_json};
use crate::tx::{Tx, args};
use steward_core::credential::CredentialUse;
use steward_core::ports::{Page, StoreError, StoreResult};
use steward_core::{CredentialId, TenantId, Timestamp};

pub(super) async fn add(tx: &mut Tx<'_>, tenant: TenantId, used: &CredentialUse) -> StoreResult<()> {
    // This row is held until the end, so that two uses of one instant get different numbers.
    let sql = "update credentials
               set used_at = case when used_at > $3 then used_at else $3 end
               where tenant_id = $1 and id = $2";
    let args = args![tenant, used.credential, used.at];
    if tx.execute(sql, args).await? == 0 {
        return Err(StoreError::NotFound(format!("credential {}", used.credential)));
    }
    tx.execute(
        "insert into credential_uses (tenant_id, credential_id, at, n, run_id, body)
         select $1, $2, $3, coalesce(max(n), 0) + 1, $4, $5 from credential_uses
         where tenant_id = $1 and credential_id = $2 and at = $3",
        args![tenant, used.credential, used.at, used.run, to_json(used)?],
    )
    .await?;
    Ok(())
}

/// A page goes on until the instant of its last use is whole: the next one begins before that.
pub(super) async fn page(
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
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        items.push(from_json("a use of a credential", &row.text(0)?)?);
    }
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
