//! The audit trail: entries wait in one table and get their places in the chain in another.

use crate::append::{AuditRow, insert_audit};
use crate::codec::{fold, from_json, from_word, page_size, paged, pattern, to_json, to_word};
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use steward_core::audit::{AuditEntry, AuditResult, ChainRow, Link, SealedEntry, hash_of, of_pruning};
use steward_core::hash::sha256;
use steward_core::ports::{AuditFilter, AuditOrder, ChainEnds, Page, Pruned, StoreResult};
use steward_core::{RunId, TenantId, Timestamp, UserId};
use uuid::Uuid;

/// Rows of one read of the chain.
const MAX_CHAIN: u32 = 10_000;
/// Places and times of the chain may be out of step by this much, as clocks of nodes and waiting entries are,
/// milliseconds.
const OUT_OF_STEP: i64 = 3_600_000;

impl Store {
    pub async fn record_audit(&self, tenant: TenantId, entry: &AuditEntry) -> StoreResult<()> {
        self.write((tenant, AuditRow::of(entry)?), |(tenant, row), tx| Box::pin(insert_audit(tx, *tenant, row))).await
    }

    /// Gives up to `most` new entries their place, the oldest first; returns how many. Nodes that do so at the same time
    /// wait for each other.
    pub async fn seal_audit(&self, tenant: TenantId, most: u32) -> StoreResult<u64> {
        let sql = "select 1 from audit_pending where tenant_id = $1 limit 1";
        if self.row(sql, args![tenant]).await?.is_none() {
            return Ok(0);
        }
        self.write((tenant, most), |(tenant, most), tx| Box::pin(seal(tx, *tenant, *most))).await
    }

    pub async fn audit_ends(&self, tenant: TenantId) -> StoreResult<ChainEnds> {
        let sql = "select seq, hash, anchor_seq, anchor_hash from audit_ends where tenant_id = $1";
        Ok(self.first(sql, args![tenant], ends).await?.unwrap_or_default())
    }

    /// Entries that have their place.
    pub async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        order: AuditOrder,
        limit: u32,
    ) -> StoreResult<Page<SealedEntry>> {
        let search = Search {
            tenant,
            pattern: pattern(filter.text.as_deref())?,
            filter: filter.clone(),
            order,
            limit: page_size(limit),
        };
        self.read(search, |search, tx| Box::pin(page(tx, search))).await
    }

    /// Rows after `after` as they are, damaged ones too, for a check.
    pub async fn audit_chain(&self, tenant: TenantId, after: u64, limit: u32) -> StoreResult<Vec<ChainRow>> {
        let sql = "select seq, hash, id, at, actor, actor_id, origin, address, action, target, result, run_id, detail
             from audit_entries where tenant_id = $1 and seq > $2 order by seq limit $3";
        self.all(sql, args![tenant, after, limit.clamp(1, MAX_CHAIN)], |row| {
            // Whoever changed it may have left what can't be read.
            let hash = row.text(1).unwrap_or_default();
            Ok(ChainRow { seq: row.count(0)?, hash, entry: entry(row, 2).ok() })
        })
        .await
    }

    /// How many entries are older than `before`, and how many there are.
    pub async fn count_audit(&self, tenant: TenantId, before: Timestamp) -> StoreResult<(u64, u64)> {
        let old = "select count(*) from audit_entries where tenant_id = $1 and at < $2";
        let all = "select count(*) from audit_entries where tenant_id = $1";
        Ok((self.count(old, args![tenant, before]).await?, self.count(all, args![tenant]).await?))
    }

    /// When a run was last begun or an entry of the audit trail last made, before `before`.
    pub async fn last_written(&self, tenant: TenantId, before: Timestamp) -> StoreResult<Option<Timestamp>> {
        let sql = "select max(at) from (
                       select max(at) as at from audit_entries where tenant_id = $1 and at < $2
                       union all select max(created_at) from runs where tenant_id = $1 and created_at < $2) w";
        let row = self.row(sql, args![tenant, before]).await?;
        Ok(row.map(|row| row.opt_int(0)).transpose()?.flatten().map(Timestamp))
    }

    /// Deletes up to `most` entries from the beginning, as far as all are older than `before`, and records that under
    /// `id`. `None`: there are none.
    pub async fn prune_audit(
        &self,
        tenant: TenantId,
        before: Timestamp,
        most: u32,
        id: Uuid,
        now: Timestamp,
    ) -> StoreResult<Option<Pruned>> {
        self.write((tenant, before, most, id, now), |(tenant, before, most, id, now), tx| {
            Box::pin(prune(tx, *tenant, *before, *most, *id, *now))
        })
        .await
    }
}

/// The chain's ends, held until the transaction is over: whoever seals or deletes waits for it.
async fn lock_ends(tx: &mut Tx<'_>, tenant: TenantId) -> StoreResult<ChainEnds> {
    let sql = "insert into audit_ends (tenant_id, seq, hash, anchor_seq, anchor_hash) values ($1, 0, '', 0, '')
               on conflict (tenant_id) do nothing";
    tx.execute(sql, args![tenant]).await?;
    let sql =
        locking!(tx, "select seq, hash, anchor_seq, anchor_hash from audit_ends where tenant_id = $1", "for update");
    tx.row(sql, args![tenant]).await?.as_ref().map_or_else(|| Ok(ChainEnds::default()), ends)
}

fn ends(row: &Row) -> StoreResult<ChainEnds> {
    Ok(ChainEnds {
        head: Link { seq: row.count(0)?, hash: row.text(1)? },
        anchor: Link { seq: row.count(2)?, hash: row.text(3)? },
    })
}

async fn seal(tx: &mut Tx<'_>, tenant: TenantId, most: u32) -> StoreResult<u64> {
    let mut head = lock_ends(tx, tenant).await?.head;
    // What is deleted here is what is read here: another row that comes in meanwhile waits for the next time.
    let sql = "delete from audit_pending where tenant_id = $1 and id in (
                   select id from audit_pending where tenant_id = $1 order by id limit $2)
               returning id, body";
    let mut waiting = Vec::new();
    for row in tx.rows(sql, args![tenant, most]).await? {
        let (id, body) = (row.id(0)?, row.text(1)?);
        // One that somebody damaged must not hold up the others.
        let entry = from_json("an entry of the audit trail", &body).unwrap_or_else(|_| {
            let found = AuditEntry::new(id, Timestamp(0), "audit.unreadable").ended(AuditResult::Failed);
            found.with("sha256", sha256(body.as_bytes()))
        });
        waiting.push(entry.storable());
    }
    waiting.sort_by_key(|entry| (entry.at, entry.id));
    for entry in &waiting {
        let seq = head.seq + 1;
        head = Link { seq, hash: hash_of(&head.hash, seq, entry) };
        insert(tx, tenant, &head, entry).await?;
    }
    let sql = "update audit_ends set seq = $2, hash = $3 where tenant_id = $1";
    tx.execute(sql, args![tenant, head.seq, &head.hash]).await?;
    Ok(waiting.len() as u64)
}

async fn insert(tx: &mut Tx<'_>, tenant: TenantId, place: &Link, entry: &AuditEntry) -> StoreResult<()> {
    let detail = to_json(&entry.detail)?;
    let address = entry.address.as_deref().unwrap_or_default();
    let folded = fold(&format!("{} {} {} {address} {detail}", entry.actor, entry.action, entry.target));
    let sql = "insert into audit_entries (tenant_id, seq, id, at, actor, actor_id, origin, address, action, target,
                                    result, run_id, detail, hash, folded)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    tx.run(
        sql,
        args![
            tenant,
            place.seq,
            entry.id,
            entry.at,
            &entry.actor,
            entry.actor_id,
            entry.origin.as_ref().map(to_word).transpose()?,
            entry.address.as_deref(),
            &entry.action,
            &entry.target,
            entry.result.as_str(),
            entry.run_id,
            detail,
            &place.hash,
            folded
        ],
    )
    .await
}

/// The columns of an entry from `first` on: id, at, actor, …, detail.
fn entry(row: &Row, first: usize) -> StoreResult<AuditEntry> {
    let word = |index| row.opt_text(first + index);
    Ok(AuditEntry {
        id: row.id(first)?,
        at: row.time(first + 1)?,
        actor: row.text(first + 2)?,
        actor_id: row.opt_id(first + 3)?.map(UserId),
        origin: word(4)?.map(|origin| from_word("an entry's origin", origin)).transpose()?,
        address: word(5)?,
        action: row.text(first + 6)?,
        target: row.text(first + 7)?,
        result: from_word("an entry's result", row.text(first + 8)?)?,
        run_id: row.opt_id(first + 9)?.map(RunId),
        detail: from_json("an entry's details", &row.text(first + 10)?)?,
    })
}

struct Search {
    tenant: TenantId,
    filter: AuditFilter,
    pattern: Option<String>,
    order: AuditOrder,
    limit: u32,
}

/// As for runs: what the filter surely holds is said without an `or`, for the index. The plus keeps `at` from choosing
/// it: the bounds of `seq` stand for the time.
macro_rules! entries {
    ($narrow:literal, $order:literal) => {
        concat!(
            "select seq, hash, id, at, actor, actor_id, origin, address, action, target, result, run_id, detail
             from audit_entries where tenant_id = $1 and seq > $2 and seq < $3 ",
            $narrow,
            " and ($4 is null or run_id = $4) and ($5 is null or actor = $5)
              and ($6 is null or action = $6 or action like $7 escape '\\')
              and ($8 is null or target = $8) and ($9 is null or result = $9)
              and +at >= $10 and +at < $11 and ($12 is null or folded like $12 escape '\\')
              order by seq ",
            $order,
            " limit $13"
        )
    };
}

async fn page(tx: &mut Tx<'_>, search: &Search) -> StoreResult<Page<SealedEntry>> {
    let Search { tenant, filter, pattern, order, limit } = search;
    let (mut after, mut before, newest) = match order {
        AuditOrder::NewestBefore(before) => (0, before.unwrap_or(MOST), true),
        AuditOrder::OldestAfter(after) => (*after, MOST, false),
    };
    let (from, to) = (filter.from.map_or(i64::MIN, |at| at.0), filter.to.map_or(i64::MAX, |at| at.0));
    if filter.from.is_some() {
        let sql = "select seq from audit_entries where tenant_id = $1 and at < $2 order by at desc, seq desc limit 1";
        if let Some(earlier) = tx.row(sql, args![*tenant, from.saturating_sub(OUT_OF_STEP)]).await? {
            after = after.max(earlier.count(0)?);
        }
    }
    if filter.to.is_some() {
        let sql = "select seq from audit_entries where tenant_id = $1 and at >= $2 order by at, seq limit 1";
        if let Some(later) = tx.row(sql, args![*tenant, to.saturating_add(OUT_OF_STEP)]).await? {
            before = before.min(later.count(0)?);
        }
    }
    let sql = match (filter.run, &filter.actor, newest) {
        (Some(_), _, true) => entries!("and run_id = $4", "desc"),
        (Some(_), _, false) => entries!("and run_id = $4", "asc"),
        (None, Some(_), true) => entries!("and actor = $5", "desc"),
        (None, Some(_), false) => entries!("and actor = $5", "asc"),
        (None, None, true) => entries!("", "desc"),
        (None, None, false) => entries!("", "asc"),
    };
    let action = filter.action.as_deref();
    let args = args![
        *tenant,
        after,
        before,
        filter.run,
        filter.actor.as_deref(),
        action,
        action.map(below).transpose()?,
        filter.target.as_deref(),
        filter.result.map(AuditResult::as_str),
        from,
        to,
        pattern.as_deref(),
        limit + 1
    ];
    let mut items = Vec::new();
    for row in tx.rows(sql, args).await? {
        items.push(SealedEntry { seq: row.count(0)?, hash: row.text(1)?, entry: entry(&row, 2)? });
    }
    Ok(paged(items, *limit))
}

/// Behind every entry.
const MOST: u64 = i64::MAX.cast_unsigned();

/// The pattern of the actions below `action`: `auth` → `auth.%`.
fn below(action: &str) -> StoreResult<String> {
    let anywhere = pattern(Some(&format!("{action}.")))?.unwrap_or_default();
    Ok(anywhere.trim_start_matches('%').to_owned())
}

async fn prune(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    before: Timestamp,
    most: u32,
    id: Uuid,
    now: Timestamp,
) -> StoreResult<Option<Pruned>> {
    let anchor = lock_ends(tx, tenant).await?.anchor;
    // The first that stays, or the first after as many as are deleted at a time.
    let sql = "select min(seq) from audit_entries
               where tenant_id = $1 and seq > $2 and seq <= $3 and at >= $4";
    let limit = anchor.seq.saturating_add(u64::from(most));
    let stays = tx.row(sql, args![tenant, anchor.seq, limit, before]).await?;
    let stays = stays.map(|row| row.opt_int(0)).transpose()?.flatten();
    let last = stays.map_or(limit.cast_signed(), |seq| seq.saturating_sub(1));
    let sql = "select seq, hash from audit_entries where tenant_id = $1 and seq > $2 and seq <= $3
               order by seq desc limit 1";
    let Some(row) = tx.row(sql, args![tenant, anchor.seq, last]).await? else {
        return Ok(None);
    };
    let (last, hash) = (row.count(0)?, row.text(1)?);
    tx.execute("delete from audit_entries where tenant_id = $1 and seq <= $2", args![tenant, last]).await?;
    let sql = "update audit_ends set anchor_seq = $2, anchor_hash = $3 where tenant_id = $1";
    tx.execute(sql, args![tenant, last, hash]).await?;
    let pruned = Pruned { first: anchor.seq + 1, last };
    insert_audit(tx, tenant, &AuditRow::of(&of_pruning(id, now, pruned.first, pruned.last))?).await?;
    Ok(Some(pruned))
}
