//! Appending events: the only place that inserts them, and the check that the lease still holds. PostgreSQL takes the
//! batches of many runs in one statement, which includes that check.

use crate::codec::to_json;
use crate::error::{self, DbError};
use crate::tx::{Tx, args, locking};
use sqlx::{PgConnection, Row as _};
use std::collections::HashSet;
use steward_core::audit::AuditEntry;
use steward_core::ports::{SideWrite, StoreError, StoreResult};
use steward_core::{RunId, TenantId, Timestamp};
use uuid::Uuid;
#[derive(Debug, Clone)]
pub(crate) struct EventRow {
    pub kind: &'static str,
    /// JSON text; `None` where `blob` holds it.
    pub body: Option<String>,
    pub blob: Option<String>,
    /// The blobs that a body in `blob` names.
    pub blob_names: Option<String>,
}

/// Events of one run and rows beside them, ready to be written together under a lease.
#[derive(Debug)]
pub(crate) struct AppendBatch {
    pub tenant: TenantId,
    pub run: RunId,
    pub epoch: u64,
    /// Sequence number that the log must end with before.
    pub after: u64,
    pub at: Timestamp,
    pub rows: Vec<EventRow>,
    pub side: Vec<SideWrite>,
    pub audit: Vec<AuditRow>,
}

/// An entry of the audit trail that waits for its place in the chain.
#[derive(Debug, Clone)]
pub(crate) struct AuditRow {
    pub id: Uuid,
    /// JSON text.
    pub body: String,
}

impl AuditRow {
    pub(crate) fn of(entry: &AuditEntry) -> StoreResult<Self> {
        Ok(Self { id: entry.id, body: to_json(entry)? })
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct LogHead {
    pub epoch: u64,
    pub last_seq: u64,
}

impl LogHead {
    /// Reads a head and locks it until the transaction ends.
    pub(crate) async fn lock(tx: &mut Tx<'_>, tenant: TenantId, run: RunId) -> StoreResult<Self> {
        let sql = locking!(tx, "select epoch from runs where tenant_id = $1 and id = $2", "for update");
        let found = tx.row(sql, args![tenant, run]).await?;
        let epoch = found.ok_or_else(|| StoreError::NotFound(format!("run {run}")))?.count(0)?;
        // A statement of its own: it must see what was appended before we had the lock.
        Ok(Self { epoch, last_seq: last_seq(tx, tenant, run).await? })
    }

    /// Whether `batch` may be appended here: its lease holds, and nothing was appended meanwhile.
    pub(crate) fn check(self, batch: &AppendBatch) -> StoreResult<()> {
        if self.epoch == batch.epoch && self.last_seq == batch.after { Ok(()) } else { Err(batch.fenced()) }
    }
}

impl AppendBatch {
    pub(crate) fn fenced(&self) -> StoreError {
        StoreError::Fenced { run: self.run, epoch: self.epoch }
    }

    /// Which of its events are blobs.
    pub(crate) fn blobs(&self) -> Vec<(usize, String)> {
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(at, row)| Some((at, row.blob.clone()?))).collect()
    }
}

/// The number of a log's last event; 0 if there is none.
pub(crate) async fn last_seq(tx: &mut Tx<'_>, tenant: TenantId, run: RunId) -> StoreResult<u64> {
    let sql = "select coalesce(max(seq), 0) from events where tenant_id = $1 and run_id = $2";
    tx.count(sql, args![tenant, run]).await
}

/// Inserts the events of a batch that [`LogHead::check`] let through, or that begins a run, and their audit entries.
pub(crate) async fn insert_events(tx: &mut Tx<'_>, batch: &AppendBatch) -> StoreResult<()> {
    for (seq, row) in (batch.after + 1..).zip(&batch.rows) {
        let done = tx
            .execute(
                "insert into events (tenant_id, run_id, seq, epoch, at, kind, body, blob, blob_names)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                args![
                    batch.tenant,
                    batch.run,
                    seq,
                    batch.epoch,
                    batch.at,
                    row.kind,
                    row.body.as_deref(),
                    row.blob.as_deref(),
                    row.blob_names.as_deref()
                ],
            )
            .await;
        match done {
            Ok(_) => {}
            // Only another appender could have taken the number.
            Err(DbError::Duplicate) => return Err(batch.fenced()),
            Err(error) => return Err(error.into()),
        }
    }
    for row in &batch.audit {
        insert_audit(tx, batch.tenant, row).await?;
    }
    Ok(())
}

pub(crate) async fn insert_audit(tx: &mut Tx<'_>, tenant: TenantId, row: &AuditRow) -> StoreResult<()> {
    let sql = "insert into audit_pending (tenant_id, id, body) values ($1, $2, $3)";
    tx.run(sql, args![tenant, row.id, &row.body]).await
}

/// Appends to many runs on PostgreSQL, each under its lease. Each batch is all or nothing:
/// * the row lock makes a claim wait for us, or us see its epoch;
/// * the log must end at `after`; should another writer of the same epoch be quicker than this
///   statement's snapshot, the primary key refuses `after + 1`. Logs have no gaps, so if that one
///   is free the rest of the batch is. Were it not, the division by zero takes the whole statement back.
///
/// `max(seq)` as a scalar is one probe of the index for each batch under any plan; an `exists` was
/// planned as a hash of the whole table.
const APPEND_BATCHES: &str = "
with batches as materialized (
    select l.tenant_id, l.run_id, l.epoch, l.events
    from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $11::bigint[])
         as l (tenant_id, run_id, epoch, after_seq, events)
    join runs r on r.tenant_id = l.tenant_id and r.id = l.run_id and r.epoch = l.epoch
    where l.after_seq = coalesce((
        select max(e.seq) from events e
        where e.tenant_id = l.tenant_id and e.run_id = l.run_id), 0)
    for share of r
), written as (
    insert into events (tenant_id, run_id, seq, epoch, at, kind, body, blob, blob_names)
    select l.tenant_id, n.run_id, n.seq, l.epoch, n.at, n.kind, n.body, n.blob, n.blob_names
    from unnest($5::uuid[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[], $15::text[])
         as n (run_id, seq, at, kind, body, blob, blob_names)
    join batches l on l.run_id = n.run_id
    on conflict do nothing
    returning run_id
), audited as (
    insert into audit_pending (tenant_id, id, body)
    select l.tenant_id, a.id, a.body
    from unnest($12::uuid[], $13::uuid[], $14::text[]) as a (run_id, id, body)
    join batches l on l.run_id = a.run_id
    where a.run_id in (select run_id from written)
)
select w.run_id, 1 / case when count(*) = max(l.events) then 1 else 0 end
from written w join batches l on l.run_id = w.run_id group by w.run_id";

#[derive(Default)]
struct Columns<'a> {
    tenants: Vec<Uuid>,
    runs: Vec<Uuid>,
    epochs: Vec<i64>,
    afters: Vec<i64>,
    row_runs: Vec<Uuid>,
    seqs: Vec<i64>,
    ats: Vec<i64>,
    kinds: Vec<&'a str>,
    bodies: Vec<Option<&'a str>>,
    blobs: Vec<Option<&'a str>>,
    blob_names: Vec<Option<&'a str>>,
    events: Vec<i64>,
    audit_runs: Vec<Uuid>,
    audit_ids: Vec<Uuid>,
    audit_bodies: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, batch: &'a AppendBatch) {
        self.tenants.push(batch.tenant.0);
        self.runs.push(batch.run.0);
        self.epochs.push(batch.epoch.cast_signed());
        self.afters.push(batch.after.cast_signed());
        self.events.push((batch.rows.len() as u64).cast_signed());
        for (seq, row) in (batch.after + 1..).zip(&batch.rows) {
            self.row_runs.push(batch.run.0);
            self.seqs.push(seq.cast_signed());
            self.ats.push(batch.at.0);
            self.kinds.push(row.kind);
            self.bodies.push(row.body.as_deref());
            self.blobs.push(row.blob.as_deref());
            self.blob_names.push(row.blob_names.as_deref());
        }
        for row in &batch.audit {
            self.audit_runs.push(batch.run.0);
            self.audit_ids.push(row.id);
            self.audit_bodies.push(&row.body);
        }
    }
}

/// Commits by itself; returns the runs whose batch was written. No two batches may be of the same run.
pub(crate) async fn append_batches(
    connection: &mut PgConnection,
    batches: impl Iterator<Item = &AppendBatch>,
) -> StoreResult<HashSet<RunId>> {
    let mut columns = Columns::default();
    for batch in batches {
        columns.push(batch);
    }
    let rows = sqlx::query(APPEND_BATCHES)
        .bind(columns.tenants)
        .bind(columns.runs)
        .bind(columns.epochs)
        .bind(columns.afters)
        .bind(columns.row_runs)
        .bind(columns.seqs)
        .bind(columns.ats)
        .bind(columns.kinds)
        .bind(columns.bodies)
        .bind(columns.blobs)
        .bind(columns.events)
        .bind(columns.audit_runs)
        .bind(columns.audit_ids)
        .bind(columns.audit_bodies)
        .bind(columns.blob_names)
        .fetch_all(connection)
        .await
        .map_err(|e| error::postgres(&e))?;
    rows.iter()
        .map(|row| row.try_get::<Uuid, _>(0).map(RunId))
        .collect::<Result<_, _>>()
        .map_err(|e| error::postgres(&e))
}
