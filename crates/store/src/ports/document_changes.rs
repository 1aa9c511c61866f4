//! The numbers of documents and of their changes.

use crate::tx::{Row, Tx, args};
use steward_core::TenantId;
use steward_core::ports::{StoreError, StoreResult};

pub(super) fn number(row: &Row, index: usize) -> StoreResult<u32> {
    u32::try_from(row.int(index)?).map_err(|_| StoreError::Corrupt(format!("column {index} of a row is out of range")))
}

/// Numbers of documents and changes are given under the lock of this row, so that nobody sees a later one before.
pub(super) async fn count_up(tx: &mut Tx<'_>, tenant: TenantId, documents: u32) -> StoreResult<(u32, u64)> {
    let sql = "insert into document_counters (tenant_id, last_number, last_change) values ($1, $2, 1)
               on conflict (tenant_id) do update
               set last_number = document_counters.last_number + excluded.last_number,
                   last_change = document_counters.last_change + 1
               returning last_number, last_change";
    let row = tx.row(sql, args![tenant, documents]).await?;
    let row = row.ok_or_else(|| StoreError::Backend("no number for a document".to_owned()))?;
    Ok((number(&row, 0)?, row.count(1)?))
}

/// Writes down that indexes are to look at the document again; answers the change's number.
pub(super) async fn note_change(tx: &mut Tx<'_>, tenant: TenantId, number: u32) -> StoreResult<u64> {
    let (_, seq) = count_up(tx, tenant, 0).await?;
    tx.execute("delete from document_changes where tenant_id = $1 and number = $2", args![tenant, number]).await?;
    let sql = "insert into document_changes (tenant_id, seq, number) values ($1, $2, $3)";
    tx.execute(sql, args![tenant, seq, number]).await?;
    Ok(seq)
}
