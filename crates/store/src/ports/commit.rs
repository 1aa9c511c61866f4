//! Appending under a lease, with rows beside the events: one transaction.

use super::side;
use crate::codec::{status_word, to_json};
use crate::engine::Lot;
use crate::error::clash;
use crate::tx::{Tx, args, locking};
use steward_core::Timestamp;
use steward_core::ports::{RunRow, StoreError, StoreResult};

/// A new run, leased to `owner`.
pub(super) async fn create(
    tx: &mut Tx<'_>,
    row: &RunRow,
    lot: &Lot,
    owner: &str,
    until: Timestamp,
) -> StoreResult<()> {
    let outcome = row.outcome.as_ref().map(to_json).transpose()?;
    tx.execute(
        "insert into runs (tenant_id, id, agent_id, conversation_id, title, status, outcome, answer,
                           created_at, updated_at, tokens, cost_micros, owner, epoch, lease_until,
                           commands)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1, $14, 0)",
        args![
            row.tenant,
            row.id,
            row.agent,
            row.conversation,
            &row.title,
            status_word(row.status),
            outcome,
            row.answer.as_deref(),
            row.created_at,
            row.updated_at,
            row.tokens,
            row.cost_micros,
            owner,
            until
        ],
    )
    .await
    .map_err(|e| clash(e, || format!("run {} exists already", row.id)))?;
    insert(tx, lot).await?;
    side::write(tx, lot).await
}

/// Events and rows of a run, if the lease holds and nothing was appended meanwhile.
pub(super) async fn commit(tx: &mut Tx<'_>, lot: &Lot) -> StoreResult<()> {
    let sql = locking!(
        tx,
        "select epoch from runs where tenant_id = $1 and id = $2",
        "for update"
    );
    let found = tx.row(sql, args![lot.tenant, lot.run]).await?;
    let epoch = found
        .ok_or_else(|| StoreError::NotFound(format!("run {}", lot.run)))?
        .count(0)?;
    // A statement of its own: it must see what was appended before we had the lock.
    let last = last_seq(tx, lot).await?;
    if epoch != lot.epoch || last != lot.after {
        return Err(StoreError::Fenced {
            run: lot.run,
            epoch: lot.epoch,
        });
    }
    insert(tx, lot).await?;
    side::write(tx, lot).await
}

async fn last_seq(tx: &mut Tx<'_>, lot: &Lot) -> StoreResult<u64> {
    let row = tx
        .row(
            "select coalesce(max(seq), 0) from events where tenant_id = $1 and run_id = $2",
            args![lot.tenant, lot.run],
        )
        .await?;
    row.map_or(Ok(0), |row| row.count(0))
}

async fn insert(tx: &mut Tx<'_>, lot: &Lot) -> StoreResult<()> {
    for (seq, row) in (lot.after + 1..).zip(&lot.rows) {
        tx.execute(
            "insert into events (tenant_id, run_id, seq, epoch, at, kind, body, blob)
             values ($1, $2, $3, $4, $5, $6, $7, $8)",
            args![
                lot.tenant,
                lot.run,
                seq,
                lot.epoch,
                lot.at,
                row.kind,
                row.body.as_deref(),
                row.blob.as_deref()
            ],
        )
        .await
        // Only another appender could have taken the number.
        .map_err(|e| match e {
            StoreError::Conflict(_) => StoreError::Fenced {
                run: lot.run,
                epoch: lot.epoch,
            },
            other => other,
        })?;
    }
    Ok(())
}
