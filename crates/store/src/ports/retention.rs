//! Deletes conversations, runs and figures for good, each in one transaction with the entry that proves it.

mod delete;

use super::unused_blobs::note_unused;
use crate::codec::{from_json, page_size, to_json};
use crate::names;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use crate::words::{self, MENTIONS, REPLACED};
use delete::delete;
use regex::Regex;
use serde::Deserialize as _;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use steward_core::audit::AuditEntry;
use steward_core::document::Collection;
use steward_core::governance::{Classification, Classified};
use steward_core::message::Message;
use steward_core::ports::{RetainedFilter, StoreError, StoreResult};
use steward_core::retention::{DeletedItem, RetainedItem, RetainedKind};
use steward_core::{ConversationId, TenantId, Timestamp, UserId};
use uuid::Uuid;

const DAY_MS: i64 = 86_400_000;
/// Rows that are read at a time.
const AT_ONCE: u32 = 500;

impl Store {
    /// Items with nothing at work in them.
    pub async fn retained(&self, tenant: TenantId, filter: &RetainedFilter) -> StoreResult<Vec<RetainedItem>> {
        let kind = filter.kind;
        let after_at = filter.after.as_ref().map(|(at, _)| *at);
        let after_id = filter.after.as_ref().map(|(_, id)| id.as_str());
        if kind == RetainedKind::Usage {
            let after = after_id.and_then(|id| id.parse::<i64>().ok());
            let before = filter.before.map(|before| Timestamp(before.0.div_euclid(DAY_MS)));
            let args = args![tenant, before, after, page_size(filter.limit)];
            return self.all(USAGE_DAYS, args, day).await;
        }
        let after_id = after_id.map(|id| id.parse::<Uuid>().unwrap_or_default());
        let limit = page_size(filter.limit);
        let deleted_only = kind == RetainedKind::Conversations && filter.deleted_only;
        let read = |row: &Row| item(kind, deleted_only, row);
        if kind == RetainedKind::Conversations {
            let args = args![tenant, filter.before, filter.user, deleted_only, after_at, after_id, limit];
            return self.all(CONVERSATIONS, args, read).await;
        }
        self.all(RUNS, args![tenant, filter.before, filter.user, after_at, after_id, limit], read).await
    }

    /// How many things of a kind there are.
    pub async fn count_retained(&self, tenant: TenantId, kind: RetainedKind) -> StoreResult<u64> {
        let sql = match kind {
            RetainedKind::Conversations => "select count(*) from conversations where tenant_id = $1",
            RetainedKind::Runs => "select count(*) from runs where tenant_id = $1 and conversation_id is null",
            RetainedKind::Usage => "select count(distinct day) from usage_days where tenant_id = $1",
        };
        self.count(sql, args![tenant]).await
    }

    /// The most confidential that runs of it have seen.
    pub async fn retained_classification(
        &self,
        tenant: TenantId,
        item: &RetainedItem,
    ) -> StoreResult<Option<Classification>> {
        let Ok(id) = item.id.parse::<Uuid>() else {
            return Ok(None);
        };
        if item.kind == RetainedKind::Conversations {
            let sql =
                "select body from messages where tenant_id = $1 and conversation_id = $2 order by seq desc limit 50";
            let mut highest = None;
            for row in self.rows(sql, args![tenant, id]).await? {
                let message: Option<Message> = serde_json::from_str(&row.text(0)?).ok();
                highest = highest.max(message.and_then(|message| message.classified).map(|seen| seen.classification));
            }
            return Ok(highest);
        }
        let sql = "select body, blob from events where tenant_id = $1 and run_id = $2
             and kind in ('run.started', 'data.classified', 'run.returned') order by seq";
        let mut highest = None;
        for row in self.rows(sql, args![tenant, id]).await? {
            let text = match (row.opt_text(0)?, row.opt_text(1)?) {
                (Some(text), _) => text,
                (None, Some(blob)) => match self.readable_blob(tenant, &blob).await? {
                    Some(text) => text,
                    None => continue,
                },
                (None, None) => continue,
            };
            highest = highest.max(classification_in(&text));
        }
        Ok(highest)
    }

    /// Deletes it with the audit entry that proves it: `entry`, to which what was deleted is added. `None`: it is gone, has
    /// changed after `item.at` or been taken out of the bin, or something is at work in it, and nothing was done. Large bodies
    /// go with [`Self::remove_unused_blobs`].
    pub async fn delete_retained(
        &self,
        tenant: TenantId,
        item: &RetainedItem,
        entry: &AuditEntry,
    ) -> StoreResult<Option<DeletedItem>> {
        let args = (tenant, item.clone(), entry.clone());
        let done = self.write(args, |(tenant, item, entry), tx| Box::pin(delete(tx, *tenant, item, entry))).await?;
        Ok(done.map(|deleted| deleted.item))
    }

    /// Puts `stand_in` into the place of each of these texts in what others have said and done, as far as it has ended, and
    /// removes what is kept for this user beside their account. Returns how many rows changed.
    pub async fn erase_mentions(
        &self,
        tenant: TenantId,
        user: UserId,
        texts: &[String],
        stand_in: &str,
    ) -> StoreResult<u64> {
        let Some(pattern) = names::pattern_of(texts)? else {
            let forgotten =
                self.write((tenant, user), |(tenant, user), tx| Box::pin(forget(tx, *tenant, *user))).await?;
            self.remove_unused_blobs(tenant).await?;
            return Ok(forgotten);
        };
        let args = (tenant, user, pattern.clone(), names::escaped(stand_in));
        let changed = self.write(args, |(tenant, user, pattern, stand_in), tx| {
            Box::pin(erase(tx, *tenant, *user, pattern, stand_in))
        });
        let changed = changed.await? + self.erase_in_blobs(tenant, &names::compiled(&pattern)?, stand_in).await?;
        self.remove_unused_blobs(tenant).await?;
        Ok(changed)
    }

    /// The same in events of ended runs that are too large to be in the database.
    async fn erase_in_blobs(&self, tenant: TenantId, named: &Regex, stand_in: &str) -> StoreResult<u64> {
        let (mut changed, mut after) = (0, String::new());
        loop {
            let rows = self.rows(LARGE_EVENTS, args![tenant, &after, AT_ONCE]).await?;
            for row in &rows {
                after = row.text(0)?;
                let Some(text) = self.readable_blob(tenant, &after).await? else {
                    continue;
                };
                let Cow::Owned(replaced) = names::replaced(named, &text, stand_in) else {
                    continue;
                };
                let stored = self.put_blob(tenant, replaced.clone().into_bytes()).await?;
                let args = (tenant, after.clone(), stored.clone());
                let moved = self.write(args, |(tenant, from, to), tx| Box::pin(move_events(tx, *tenant, from, to)));
                changed += moved.await?;
                // Removed since it was put, with another row that had it.
                if !self.has_blob(tenant, &stored).await? {
                    self.put_blob(tenant, replaced.into_bytes()).await?;
                }
            }
            if rows.is_empty() {
                return Ok(changed);
            }
        }
    }

    /// How many rows still have one of these texts, by table, the audit trail included.
    pub async fn mentions(&self, tenant: TenantId, texts: &[String]) -> StoreResult<Vec<(String, u64)>> {
        let mut found = Vec::new();
        let Some(pattern) = names::pattern_of(texts)? else {
            return Ok(found);
        };
        for &(table, sql) in &*MENTIONS {
            let count = self.count(sql, args![tenant, &pattern]).await?;
            if count > 0 {
                found.push((table.to_owned(), count));
            }
        }
        Ok(found)
    }

    /// Whether an erasure leaves this table as it is: configuration, the organisation's files, and the chain of the audit
    /// trail, which people look at themselves.
    pub fn keeps_mentions(table: &str) -> bool {
        words::stay_in(table)
    }
}

/// What counts is when they last changed, of those in the bin since when they are there.
const CONVERSATIONS: &str = "
select c.id, c.since, c.user_id, c.id from (
    select tenant_id, id, user_id, case when $4 = 0 then updated_at else deleted_at end as since
    from conversations where tenant_id = $1) c
where c.since is not null
  and ($2 is null or c.since < $2)
  and ($3 is null or c.user_id = $3)
  and ($5 is null or c.since > $5 or (c.since = $5 and c.id > $6))
  and not exists (select 1 from runs r
                  where r.tenant_id = c.tenant_id and r.conversation_id = c.id and r.status <> 'finished')
order by c.since, c.id limit $7";

/// Runs that another asked go with that one; of a user, those that are left as well, and those that were kept by name.
const RUNS: &str = "
select r.id, r.updated_at, r.user_id, r.conversation_id from runs r
where r.tenant_id = $1 and r.status = 'finished' and r.owner is null
  and ($2 is null or r.updated_at < $2)
  and ($3 is null or r.user_id = $3)
  and ($4 is null or r.updated_at > $4 or (r.updated_at = $4 and r.id > $5))
  and ($3 is not null or (
      r.conversation_id is null and r.origin <> 'delegation'
      and not exists (select 1 from kept_runs k where k.tenant_id = r.tenant_id and k.run_id = r.id)))
order by r.updated_at, r.id limit $6";

const USAGE_DAYS: &str = "
select distinct day from usage_days
where tenant_id = $1 and ($2 is null or day < $2) and ($3 is null or day > $3)
order by day limit $4";

const LARGE_EVENTS: &str = "
select distinct e.blob from events e
where e.tenant_id = $1 and e.blob > $2
  and exists (select 1 from runs r where r.tenant_id = e.tenant_id and r.id = e.run_id and r.status = 'finished')
order by e.blob limit $3";

const MOVE_EVENTS: &str = "
update events set blob = $3
where tenant_id = $1 and blob = $2
  and exists (select 1 from runs r where r.tenant_id = events.tenant_id and r.id = events.run_id
              and r.status = 'finished')";

fn item(kind: RetainedKind, deleted_only: bool, row: &Row) -> StoreResult<RetainedItem> {
    Ok(RetainedItem {
        kind,
        id: row.id(0)?.to_string(),
        at: row.time(1)?,
        deleted_only,
        user: row.opt_id(2)?.map(UserId),
        conversation: row.opt_id(3)?.map(ConversationId),
    })
}

fn day(row: &Row) -> StoreResult<RetainedItem> {
    let day = row.int(0)?;
    let at = Timestamp(day.saturating_mul(DAY_MS));
    let (kind, id) = (RetainedKind::Usage, day.to_string());
    Ok(RetainedItem { kind, id, at, deleted_only: false, user: None, conversation: None })
}

/// The classification that an event brings into its run.
fn classification_in(body: &str) -> Option<Classification> {
    let value: Value = serde_json::from_str(body).ok()?;
    let places = [&value, &value["classified"], &value["setup"]["classified"]];
    let seen = places.into_iter().filter_map(|place| Classified::deserialize(place).ok());
    seen.map(|seen| seen.classification).max()
}

impl Store {
    /// `None`: it is missing or damaged, so that there is nothing to find in it.
    async fn readable_blob(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<String>> {
        match self.blob_text(tenant, hash).await {
            Ok(text) => Ok(Some(text)),
            Err(StoreError::Corrupt(error)) => {
                tracing::warn!(blob = hash, error, "the text of a large event can't be read, and is passed over");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Gives the events of one blob another one.
async fn move_events(tx: &mut Tx<'_>, tenant: TenantId, from: &str, to: &str) -> StoreResult<u64> {
    note_unused(tx, tenant, &BTreeSet::from([from.to_owned()])).await?;
    Ok(tx.execute(MOVE_EVENTS, args![tenant, from, to]).await?)
}

async fn erase(tx: &mut Tx<'_>, tenant: TenantId, user: UserId, pattern: &str, stand_in: &str) -> StoreResult<u64> {
    // With a name replaced in its query, it would answer that there is nothing.
    let sql = "delete from verified_questions where tenant_id = $1 and regexp_like(body, $2)";
    let mut changed = tx.execute(sql, args![tenant, pattern]).await?;
    for &sql in &*REPLACED {
        changed += tx.execute(sql, args![tenant, pattern, stand_in]).await?;
    }
    Ok(changed + forget(tx, tenant, user).await?)
}

/// Removes what is kept for somebody beside their account.
async fn forget(tx: &mut Tx<'_>, tenant: TenantId, user: UserId) -> StoreResult<u64> {
    let owner = user.to_string();
    let mut changed =
        tx.execute("delete from idempotency_keys where tenant_id = $1 and owner = $2", args![tenant, owner]).await?;
    changed += tx.execute("delete from mask_maps where tenant_id = $1 and user_id = $2", args![tenant, user]).await?;
    changed += tx.execute("delete from responses where tenant_id = $1 and user_id = $2", args![tenant, user]).await?;
    for sql in [
        "update documents set added_by = null where tenant_id = $1 and added_by = $2",
        "update ingest_jobs set created_by = null where tenant_id = $1 and created_by = $2",
    ] {
        changed += tx.execute(sql, args![tenant, user]).await?;
    }
    Ok(changed + forget_maker(tx, tenant, user).await?)
}

/// Collections stay, made by nobody.
async fn forget_maker(tx: &mut Tx<'_>, tenant: TenantId, user: UserId) -> StoreResult<u64> {
    let sql = locking!(tx, "select id, body from collections where tenant_id = $1 and body like $2", "for update");
    let rows = tx.rows(sql, args![tenant, format!("%{user}%")]).await?;
    let mut changed = 0;
    for row in &rows {
        let mut collection: Collection = from_json("a collection", &row.text(1)?)?;
        if collection.created_by == Some(user) {
            collection.created_by = None;
            let sql = "update collections set body = $3 where tenant_id = $1 and id = $2";
            changed += tx.execute(sql, args![tenant, collection.id, to_json(&collection)?]).await?;
        }
    }
    Ok(changed)
}
