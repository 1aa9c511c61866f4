//! One statement that appends to many runs, each under its lease.

use crate::engine::lot::Lot;
use crate::error;
use sqlx::{PgConnection, Row};
use std::collections::HashSet;
use steward_core::RunId;
use steward_core::ports::StoreResult;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Events for one run, and who waits for them.
pub(super) struct Append {
    pub lot: Lot,
    pub reply: oneshot::Sender<StoreResult<()>>,
}

/// Each lot is all or nothing:
/// * the row lock makes a claim wait for us, or us see its epoch;
/// * the log must end at `after`; should another writer of the same epoch be quicker than this
///   statement's snapshot, the primary key refuses `after + 1`. Logs have no gaps, so if that one
///   is free the rest of the lot is. Were it not, the division by zero takes the whole statement back.
///
/// `max(seq)` as a scalar is one probe of the index for each lot under any plan; an `exists` was
/// planned as a hash of the whole table.
const APPEND: &str = "
with lots as materialized (
    select l.tenant_id, l.run_id, l.epoch, l.events
    from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $11::bigint[])
         as l (tenant_id, run_id, epoch, after_seq, events)
    join runs r on r.tenant_id = l.tenant_id and r.id = l.run_id and r.epoch = l.epoch
    where l.after_seq = coalesce((
        select max(e.seq) from events e
        where e.tenant_id = l.tenant_id and e.run_id = l.run_id), 0)
    for share of r
), written as (
    insert into events (tenant_id, run_id, seq, epoch, at, kind, body, blob)
    select l.tenant_id, n.run_id, n.seq, l.epoch, n.at, n.kind, n.body, n.blob
    from unnest($5::uuid[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[])
         as n (run_id, seq, at, kind, body, blob)
    join lots l on l.run_id = n.run_id
    on conflict do nothing
    returning run_id
)
select w.run_id, 1 / case when count(*) = max(l.events) then 1 else 0 end
from written w join lots l on l.run_id = w.run_id group by w.run_id";

/// Columns of a batch.
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
    events: Vec<i64>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, lot: &'a Lot) {
        self.tenants.push(lot.tenant.0);
        self.runs.push(lot.run.0);
        self.epochs.push(lot.epoch.cast_signed());
        self.afters.push(lot.after.cast_signed());
        self.events.push((lot.rows.len() as u64).cast_signed());
        for (seq, row) in (lot.after + 1..).zip(&lot.rows) {
            self.row_runs.push(lot.run.0);
            self.seqs.push(seq.cast_signed());
            self.ats.push(lot.at.0);
            self.kinds.push(row.kind);
            self.bodies.push(row.body.as_deref());
            self.blobs.push(row.blob.as_deref());
        }
    }
}

/// Appends; returns the runs whose lot was written. Lots of a batch are of different runs.
pub(super) async fn append(
    connection: &mut PgConnection,
    lots: impl Iterator<Item = &Lot>,
) -> StoreResult<HashSet<RunId>> {
    let mut columns = Columns::default();
    for lot in lots {
        columns.push(lot);
    }
    let rows = sqlx::query(APPEND)
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
        .fetch_all(connection)
        .await
        .map_err(|e| error::postgres(&e))?;
    rows.iter()
        .map(|row| row.try_get::<Uuid, _>(0).map(RunId))
        .collect::<Result<_, _>>()
        .map_err(|e| error::postgres(&e))
}
