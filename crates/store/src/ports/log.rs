use crate::codec::to_json;
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use serde::de::IgnoredAny;
use std::sync::Arc;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{StoreError, StoreResult, StoredEvent};
use steward_core::{RunId, TenantId, Timestamp};

/// Most events of one call.
const MAX_EVENTS: u32 = 10_000;

pub(super) async fn rows(store: &Store, tenant: TenantId, run: RunId, after: u64, limit: u32) -> StoreResult<Vec<Row>> {
    let limit = if limit == 0 { MAX_EVENTS } else { limit.min(MAX_EVENTS) };
    let sql = "select seq, at, epoch, body, blob,
           case when seq = 1 then (select tool_set from runs where tenant_id = $1 and id = $2) end
         from events where tenant_id = $1 and run_id = $2 and seq > $3 order by seq limit $4";
    store.rows(sql, args![tenant, run, after, limit]).await
}

/// Rows of `tool.staged` of all other runs from a time on.
pub(super) async fn staged(store: &Store, tenant: TenantId, except: RunId, since: Timestamp) -> StoreResult<Vec<Row>> {
    let sql = "select seq, at, epoch, body, blob, null from events
         where tenant_id = $1 and kind = 'tool.staged' and at > $3 and run_id <> $2
         order by at, run_id, seq limit $4";
    store.rows(sql, args![tenant, except, since, MAX_EVENTS]).await
}

/// Rows as events, with large bodies and the tools of the run.
pub(super) async fn restore(
    store: &Store,
    tenant: TenantId,
    run: RunId,
    rows: Vec<Row>,
) -> StoreResult<Vec<StoredEvent>> {
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        let seq = row.count(0)?;
        let mut raw = match (row.opt_text(3)?, row.opt_text(4)?) {
            (Some(body), _) => body,
            (None, Some(hash)) => store.blob_text(tenant, &hash).await?,
            (None, None) => {
                return Err(StoreError::Corrupt(format!("event {seq} of run {run} has no body")));
            }
        };
        let mut body = parse_body(&raw, run, seq)?;
        if let EventBody::RunStarted { setup, .. } = &mut body
            && let Some(hash) = row.opt_text(5)?
        {
            Arc::make_mut(setup).tools = store.tool_set(tenant, &hash).await?;
            raw = to_json(&body)?;
        }
        let event = Event { run_id: run, seq, at: row.time(1)?, epoch: row.count(2)?, body };
        events.push(StoredEvent { event, raw });
    }
    Ok(events)
}

/// A body of a newer program, be its kind or only one of its fields new, is `Unknown`.
fn parse_body(raw: &str, run: RunId, seq: u64) -> StoreResult<EventBody> {
    serde_json::from_str(raw).or_else(|_| match serde_json::from_str::<IgnoredAny>(raw) {
        Ok(_) => Ok(EventBody::Unknown),
        Err(e) => Err(StoreError::Corrupt(format!("event {seq} of run {run} is not JSON: {e}"))),
    })
}

/// The engine's own check, then ours: no log has a gap.
pub(super) async fn check(tx: &mut Tx<'_>) -> StoreResult<()> {
    if matches!(tx, Tx::Sqlite(_)) {
        for row in tx.rows("pragma integrity_check", args![]).await? {
            let finding = row.text(0)?;
            if finding != "ok" {
                return Err(StoreError::Corrupt(finding));
            }
        }
        if let Some(row) = tx.row("pragma foreign_key_check", args![]).await? {
            let table = row.text(0)?;
            return Err(StoreError::Corrupt(format!("a row of {table} belongs to nothing")));
        }
    }
    let sql = "select run_id from events group by tenant_id, run_id
             having count(*) <> max(seq) or min(seq) <> 1 limit 1";
    let gap = tx.row(sql, args![]).await?;
    match gap {
        Some(row) => Err(StoreError::Corrupt(format!("the log of run {} has a gap", row.id(0)?))),
        None => Ok(()),
    }
}
