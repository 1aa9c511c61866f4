//! The thread that writes: everything that came in since its last commit is one transaction, so
//! one fsync serves many callers.

use super::heads::Heads;
use crate::engine::job::Job;
use crate::engine::lot::Lot;
use crate::engine::points;
use crate::error;
use crate::lock::DirLock;
use crate::tx::Tx;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use steward_core::ports::{StoreError, StoreResult};
use tokio::sync::oneshot;

/// Most calls in one transaction.
const MOST_CALLS: usize = 512;
/// Longest wait for callers of the batch before to come back, so that they share the next commit.
const GATHER: Duration = Duration::from_micros(150);

/// A call in the queue.
pub(super) enum Work {
    /// Events only: the way that nearly all calls take.
    Append(Append),
    /// Anything else.
    Job(Box<dyn Job>),
}

/// Events for one run.
pub(super) struct Append {
    pub lot: Lot,
    pub outcome: Option<StoreError>,
    pub reply: oneshot::Sender<StoreResult<()>>,
}

/// What was changed that is remembered elsewhere. SQLite itself tells it, so that no statement can forget to.
#[derive(Debug, Default)]
struct Changed {
    logs: AtomicBool,
    identities: AtomicBool,
}

impl Changed {
    fn watch(connection: &Connection) -> StoreResult<Arc<Self>> {
        let changed = Arc::new(Self::default());
        let told = Arc::clone(&changed);
        connection
            .update_hook(Some(move |_, _: &str, table: &str, _| match table {
                "runs" | "events" => told.logs.store(true, Ordering::Relaxed),
                "users" | "virtual_keys" => told.identities.store(true, Ordering::Relaxed),
                _ => {}
            }))
            .map_err(|e| error::sqlite(&e))?;
        Ok(changed)
    }
}

/// The writer's state.
pub(super) struct Writer {
    connection: Connection,
    heads: Heads,
    changed: Arc<Changed>,
    /// Goes up with each commit that changes users or keys.
    identities: Arc<AtomicU64>,
    // Dropped after the connection.
    _lock: Arc<DirLock>,
}

impl Writer {
    pub(super) fn new(connection: Connection, lock: Arc<DirLock>, identities: Arc<AtomicU64>) -> StoreResult<Self> {
        let changed = Changed::watch(&connection)?;
        Ok(Self { connection, heads: Heads::default(), changed, identities, _lock: lock })
    }

    /// Works until the last sender is gone.
    pub(super) fn run(mut self, queue: &Receiver<Work>) {
        let mut batch = Vec::new();
        let mut expected = 1;
        while let Ok(first) = queue.recv() {
            batch.push(first);
            gather(queue, &mut batch, expected);
            expected = batch.len();
            self.serve(&mut batch);
        }
    }

    /// Writes a batch and answers its callers.
    fn serve(&mut self, batch: &mut Vec<Work>) {
        match self.transact(batch) {
            // One call may be what does not fit: each gets a transaction of its own.
            Err(StoreError::Full(_)) if batch.len() > 1 => {
                for work in batch.drain(..) {
                    let mut alone = [work];
                    let failure = self.transact(&mut alone).err();
                    let [work] = alone;
                    settle(work, failure.as_ref());
                }
            }
            done => {
                let failure = done.err();
                if let Some(error) = &failure {
                    tracing::error!(%error, calls = batch.len(), "a batch was not written");
                }
                for work in batch.drain(..) {
                    settle(work, failure.as_ref());
                }
            }
        }
    }

    fn transact(&mut self, batch: &mut [Work]) -> StoreResult<()> {
        if !self.connection.is_autocommit() {
            // A rollback failed before; nothing of that transaction was acknowledged.
            self.plain("rollback")?;
        }
        let done = points::disk_full()
            .and_then(|()| self.plain("begin immediate"))
            .and_then(|()| self.fill(batch))
            .and_then(|()| {
                points::before_commit();
                self.plain("commit")
            });
        let identities = self.changed.identities.swap(false, Ordering::Relaxed);
        if done.is_err() {
            self.heads.clear();
            if !self.connection.is_autocommit() {
                self.plain("rollback")?;
            }
        } else {
            points::after_commit();
            // Before the callers hear of it.
            if identities {
                self.identities.fetch_add(1, Ordering::SeqCst);
            }
        }
        done
    }

    fn fill(&mut self, batch: &mut [Work]) -> StoreResult<()> {
        for work in batch {
            match work {
                Work::Append(append) => {
                    append.outcome = None;
                    let appended = self.append(&append.lot);
                    // Its head goes along with it.
                    self.changed.logs.store(false, Ordering::Relaxed);
                    match appended {
                        Ok(()) => {}
                        Err(refused @ (StoreError::Fenced { .. } | StoreError::NotFound(_))) => {
                            append.outcome = Some(refused);
                        }
                        Err(failed) => return Err(failed),
                    }
                }
                Work::Job(job) => {
                    self.plain("savepoint call")?;
                    let worked = job.attempt(&mut Tx::Sqlite(&mut self.connection));
                    if self.changed.logs.swap(false, Ordering::Relaxed) {
                        self.heads.clear();
                    }
                    if self.connection.is_autocommit() {
                        // SQLite gave the whole transaction up.
                        return Err(StoreError::Full("the transaction was rolled back".to_owned()));
                    }
                    if !worked {
                        self.plain("rollback to call")?;
                    }
                    self.plain("release call")?;
                }
            }
        }
        Ok(())
    }

    fn append(&mut self, lot: &Lot) -> StoreResult<()> {
        let head = self.heads.of(&self.connection, lot.tenant, lot.run)?;
        if head.epoch != lot.epoch || head.last != lot.after {
            return Err(StoreError::Fenced { run: lot.run, epoch: lot.epoch });
        }
        head.last += lot.rows.len() as u64;
        insert(&self.connection, lot).map_err(|e| error::sqlite(&e))
    }

    fn plain(&self, sql: &str) -> StoreResult<()> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.raw_execute())
            .map(drop)
            .map_err(|e| error::sqlite(&e))
    }
}

/// Takes what is queued, and waits a little if the batch before was larger.
fn gather(queue: &Receiver<Work>, batch: &mut Vec<Work>, expected: usize) {
    let mut until = None;
    while batch.len() < MOST_CALLS {
        if let Ok(work) = queue.try_recv() {
            batch.push(work);
            continue;
        }
        if batch.len() >= expected {
            return;
        }
        let until = *until.get_or_insert_with(|| Instant::now() + GATHER);
        match queue.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(work) => batch.push(work),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn insert(connection: &Connection, lot: &Lot) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "insert into events (tenant_id, run_id, seq, epoch, at, kind, body, blob)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (seq, row) in (lot.after + 1..).zip(&lot.rows) {
        statement.execute((
            lot.tenant.0.as_bytes(),
            lot.run.0.as_bytes(),
            seq.cast_signed(),
            lot.epoch.cast_signed(),
            lot.at.0,
            row.kind,
            &row.body,
            &row.blob,
        ))?;
    }
    Ok(())
}

fn settle(work: Work, failure: Option<&StoreError>) {
    match work {
        Work::Append(append) => {
            let answer = match (append.outcome, failure) {
                (Some(refused), _) => Err(refused),
                (None, Some(failure)) => Err(error::again(failure)),
                (None, None) => Ok(()),
            };
            // The caller may have stopped waiting; what is written is written.
            drop(append.reply.send(answer));
        }
        Work::Job(job) => job.settle(failure),
    }
}
