//! Deleting one conversation, run or day of figures, with all that hangs on it, in one transaction with its proof.

use crate::append::{AuditRow, insert_audit};
use crate::codec::hashes_in;
use crate::ports::run_commit::open_run;
use crate::ports::unused_blobs::note_unused;
use crate::tx::{Tx, args, locking};
use serde_json::Value;
use std::collections::BTreeSet;
use steward_core::audit::AuditEntry;
use steward_core::hash::sha256;
use steward_core::ports::StoreResult;
use steward_core::retention::{DeletedItem, RetainedItem, RetainedKind};
use steward_core::{ConversationId, RunId, TenantId};

/// Rows that are read at a time.
const AT_ONCE: u32 = 500;

pub(super) struct Deleted {
    pub item: DeletedItem,
    /// Blobs that it had; others may have them too.
    pub blobs: BTreeSet<String>,
    digest: String,
}

impl Deleted {
    /// Takes a row into the digest: each is hashed with the hash before it.
    fn take(&mut self, row: &str) {
        self.digest = sha256(format!("{}{row}", self.digest).as_bytes());
    }
}

pub(super) async fn delete(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    item: &RetainedItem,
    entry: &AuditEntry,
) -> StoreResult<Option<Deleted>> {
    let mut deleted = Deleted { item: DeletedItem::default(), blobs: BTreeSet::new(), digest: String::new() };
    let done = match item.kind {
        RetainedKind::Conversations => conversation(tx, tenant, item, &mut deleted).await?,
        RetainedKind::Runs => run(tx, tenant, item, &mut deleted).await?,
        RetainedKind::Usage => usage(tx, tenant, item, &mut deleted).await?,
    };
    if !done {
        return Ok(None);
    }
    deleted.item.sha256.clone_from(&deleted.digest);
    let some = |count: u64| (count > 0).then_some(count);
    let entry = entry
        .clone()
        .with("sha256", deleted.digest.as_str())
        .with("runs", some(deleted.item.runs))
        .with("events", some(deleted.item.events))
        .with("messages", some(deleted.item.messages));
    insert_audit(tx, tenant, &AuditRow::of(&entry)?).await?;
    note_unused(tx, tenant, &deleted.blobs).await?;
    Ok(Some(deleted))
}

async fn conversation(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    item: &RetainedItem,
    deleted: &mut Deleted,
) -> StoreResult<bool> {
    let Ok(id) = item.id.parse::<ConversationId>() else {
        return Ok(false);
    };
    let sql = locking!(
        tx,
        "select updated_at, created_at, title, deleted_at from conversations where tenant_id = $1 and id = $2",
        "for update"
    );
    let Some(row) = tx.row(sql, args![tenant, id]).await? else {
        return Ok(false);
    };
    let stands = if item.deleted_only { row.opt_int(3)? == Some(item.at.0) } else { row.time(0)? <= item.at };
    if !stands || open_run(tx, tenant, id).await?.is_some() {
        return Ok(false);
    }
    let sql = "select id from runs where tenant_id = $1 and conversation_id = $2 order by id";
    let first = tx.rows(sql, args![tenant, id]).await?;
    let first: Vec<RunId> = first.iter().map(|row| row.id(0).map(RunId)).collect::<StoreResult<_>>()?;
    let Some(runs) = with_those_below(tx, tenant, first).await? else {
        return Ok(false);
    };
    deleted.take(&format!("conversation {id} {} {} {}", row.int(1)?, row.int(0)?, row.text(2)?));
    let mut after = 0;
    loop {
        let sql = "select seq, body from messages
             where tenant_id = $1 and conversation_id = $2 and seq > $3 order by seq limit $4";
        let rows = tx.rows(sql, args![tenant, id, after, AT_ONCE]).await?;
        let Some(last) = rows.last() else { break };
        after = last.int(0)?;
        for row in &rows {
            let body = row.text(1)?;
            deleted.take(&format!("message {} {body}", row.int(0)?));
            deleted.blobs.extend(hashes_in(&body).map(str::to_owned));
            deleted.item.messages += 1;
        }
    }
    tx.execute("delete from messages where tenant_id = $1 and conversation_id = $2", args![tenant, id]).await?;
    for run in runs {
        delete_run(tx, tenant, run, deleted).await?;
    }
    tx.execute("delete from conversations where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    Ok(true)
}

async fn run(tx: &mut Tx<'_>, tenant: TenantId, item: &RetainedItem, deleted: &mut Deleted) -> StoreResult<bool> {
    let Ok(id) = item.id.parse::<RunId>() else {
        return Ok(false);
    };
    let sql = locking!(tx, "select updated_at from runs where tenant_id = $1 and id = $2", "for update");
    match tx.row(sql, args![tenant, id]).await? {
        Some(row) if row.time(0)? <= item.at => {}
        _ => return Ok(false),
    }
    let Some(runs) = with_those_below(tx, tenant, vec![id]).await? else {
        return Ok(false);
    };
    for run in runs {
        delete_run(tx, tenant, run, deleted).await?;
    }
    Ok(true)
}

/// These and the runs that they asked, each locked; `None`: one of them is at work.
async fn with_those_below(tx: &mut Tx<'_>, tenant: TenantId, first: Vec<RunId>) -> StoreResult<Option<Vec<RunId>>> {
    let mut found = Vec::new();
    let mut open = first;
    while let Some(run) = open.pop() {
        let sql = locking!(tx, "select status, owner from runs where tenant_id = $1 and id = $2", "for update");
        let Some(row) = tx.row(sql, args![tenant, run]).await? else {
            continue;
        };
        if row.text(0)? != "finished" || row.opt_text(1)?.is_some() {
            return Ok(None);
        }
        found.push(run);
        let sql = "select body from events
             where tenant_id = $1 and run_id = $2 and kind = 'run.delegated' and body is not null order by seq";
        for row in tx.rows(sql, args![tenant, run]).await? {
            let body: Value = serde_json::from_str(&row.text(0)?).unwrap_or_default();
            let below = body["child"].as_str().and_then(|id| id.parse::<RunId>().ok());
            open.extend(below.filter(|below| !found.contains(below)));
        }
    }
    Ok(Some(found))
}

async fn delete_run(tx: &mut Tx<'_>, tenant: TenantId, id: RunId, deleted: &mut Deleted) -> StoreResult<()> {
    let sql = "select title, coalesce(answer, ''), created_at, updated_at from runs where tenant_id = $1 and id = $2";
    let Some(row) = tx.row(sql, args![tenant, id]).await? else {
        return Ok(());
    };
    deleted.take(&format!("run {id} {} {} {} {}", row.int(2)?, row.int(3)?, row.text(0)?, row.text(1)?));
    let mut after = 0;
    loop {
        let sql = "select seq, at, kind, body, blob, blob_names from events
             where tenant_id = $1 and run_id = $2 and seq > $3 order by seq limit $4";
        let rows = tx.rows(sql, args![tenant, id, after, AT_ONCE]).await?;
        let Some(last) = rows.last() else { break };
        after = last.int(0)?;
        for row in &rows {
            let (body, blob) = (row.opt_text(3)?.unwrap_or_default(), row.opt_text(4)?);
            let shown = blob.as_deref().unwrap_or(&body);
            deleted.take(&format!("event {} {} {} {shown}", row.int(0)?, row.int(1)?, row.text(2)?));
            let names = row.opt_text(5)?.unwrap_or_default();
            deleted.blobs.extend(hashes_in(&body).chain(hashes_in(&names)).map(str::to_owned));
            deleted.blobs.extend(blob);
            deleted.item.events += 1;
        }
    }
    for sql in [
        "delete from run_inbox where tenant_id = $1 and run_id = $2",
        "delete from timers where tenant_id = $1 and run_id = $2",
        "delete from approvals where tenant_id = $1 and run_id = $2",
        "delete from kept_runs where tenant_id = $1 and run_id = $2",
        "delete from responses where tenant_id = $1 and run_id = $2",
        "delete from events where tenant_id = $1 and run_id = $2",
        "delete from runs where tenant_id = $1 and id = $2",
    ] {
        tx.execute(sql, args![tenant, id]).await?;
    }
    deleted.item.runs += 1;
    Ok(())
}

async fn usage(tx: &mut Tx<'_>, tenant: TenantId, item: &RetainedItem, deleted: &mut Deleted) -> StoreResult<bool> {
    let Ok(day) = item.id.parse::<i64>() else {
        return Ok(false);
    };
    let sql =
        "select user_id, agent_id, connection_id, key_id, model, calls, prompt_tokens, completion_tokens, cost_micros
         from usage_days where tenant_id = $1 and day = $2
         order by user_id, agent_id, connection_id, key_id, model";
    let rows = tx.rows(sql, args![tenant, day]).await?;
    for row in &rows {
        let ids = [row.id(0)?, row.id(1)?, row.id(2)?, row.id(3)?].map(|id| id.to_string()).join(" ");
        let sums = [row.int(5)?, row.int(6)?, row.int(7)?, row.int(8)?].map(|sum| sum.to_string()).join(" ");
        deleted.take(&format!("usage {day} {ids} {} {sums}", row.text(4)?));
    }
    tx.execute("delete from usage_days where tenant_id = $1 and day = $2", args![tenant, day]).await?;
    Ok(!rows.is_empty())
}
