//! The thread that writes: what came in since its last commit is one transaction, so one fsync serves many callers.

use super::log_head_cache::LogHeadCache;
use super::reserve::Reserve;
use crate::append::{AppendBatch, insert_events};
use crate::commit_sizes::committed;
use crate::engine::failpoints;
use crate::engine::{QueuedCall, ready};
use crate::error;
use crate::lock::DirLock;
use crate::tx::Tx;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use steward_core::ports::{StoreError, StoreResult};
use tokio::sync::oneshot;

/// Most calls in one transaction.
const MAX_CALLS: usize = 512;
/// Longest wait for callers of the batch before to come back, so that they share the next commit.
const MAX_GATHER_WAIT: Duration = Duration::from_micros(150);
pub(super) enum QueuedWrite {
    /// Events only: the way that nearly all calls take.
    Append(Append),
    Call(Box<dyn QueuedCall>),
    /// What runs and documents hold, with rows beside it.
    Content(Box<dyn QueuedCall>),
}

pub(super) struct Append {
    pub batch: AppendBatch,
    pub outcome: Option<StoreError>,
    pub reply: oneshot::Sender<StoreResult<()>>,
}

/// How often what is cached elsewhere was changed.
#[derive(Debug, Default)]
pub(super) struct ChangeCounts {
    /// Commits that changed users, keys, groups, grants or agents.
    pub identities: AtomicU64,
    /// Commits that changed datasources or texts of domains.
    pub domains: AtomicU64,
}

/// Which tables that are cached elsewhere were changed. SQLite's update hook reports it, so that no statement can forget to.
#[derive(Debug, Default)]
struct ChangedTables {
    logs: AtomicBool,
    identities: AtomicBool,
    domains: AtomicBool,
}

impl ChangedTables {
    fn watch(connection: &Connection) -> StoreResult<Arc<Self>> {
        let changed = Arc::new(Self::default());
        let seen = Arc::clone(&changed);
        connection
            .update_hook(Some(move |_, _: &str, table: &str, _| match table {
                "runs" | "events" => seen.logs.store(true, Ordering::Relaxed),
                "users"
                | "agents"
                | "virtual_keys"
                | "user_groups"
                | "group_members"
                | "resource_grants"
                | "restricted_resources" => {
                    seen.identities.store(true, Ordering::Relaxed);
                }
                "datasources" | "domain_text_versions" => seen.domains.store(true, Ordering::Relaxed),
                _ => {}
            }))
            .map_err(|e| error::sqlite(&e))?;
        Ok(changed)
    }
}

pub(super) struct Writer {
    connection: Connection,
    heads: LogHeadCache,
    changed: Arc<ChangedTables>,
    counts: Arc<ChangeCounts>,
    reserve: Reserve,
    // Dropped after the connection.
    _lock: Arc<DirLock>,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        database: PathBuf,
        lock: Arc<DirLock>,
        counts: Arc<ChangeCounts>,
    ) -> StoreResult<Self> {
        let reserve = Reserve::new(&connection, database);
        let changed = ChangedTables::watch(&connection)?;
        Ok(Self { connection, heads: LogHeadCache::default(), changed, counts, reserve, _lock: lock })
    }

    /// Works until the last sender is gone.
    pub(super) fn run(mut self, queue: &Receiver<QueuedWrite>) {
        let mut batch = Vec::new();
        let mut expected = 1;
        while let Ok(first) = queue.recv() {
            batch.push(first);
            gather(queue, &mut batch, expected);
            expected = batch.len();
            self.write_batch(&mut batch);
        }
    }

    fn write_batch(&mut self, batch: &mut Vec<QueuedWrite>) {
        self.reserve.look(&self.connection);
        if self.reserve.is_for_people() {
            let refusal = StoreError::Full("only the room that is kept for logins and deletions is left".to_owned());
            let (people, content): (Vec<_>, Vec<_>) =
                batch.drain(..).partition(|work| matches!(work, QueuedWrite::Call(_)));
            *batch = people;
            for work in content {
                answer(work, Some(&refusal));
            }
        }
        if !batch.is_empty() {
            self.write_what_fits(batch);
        }
        if self.reserve.is_low() {
            self.empty_log();
        }
    }

    fn write_what_fits(&mut self, batch: &mut Vec<QueuedWrite>) {
        let mut done = self.transact(batch);
        if matches!(done, Err(StoreError::Full(_))) && self.empty_log() {
            done = self.transact(batch);
        }
        match done {
            // One call may be what does not fit: each gets a transaction of its own.
            Err(StoreError::Full(_)) => {
                for work in batch.drain(..) {
                    self.write_alone(work);
                }
            }
            done => {
                let failure = done.err();
                if let Some(error) = &failure {
                    tracing::error!(%error, calls = batch.len(), "a batch was not written");
                }
                for work in batch.drain(..) {
                    answer(work, failure.as_ref());
                }
            }
        }
    }

    fn write_alone(&mut self, work: QueuedWrite) {
        let mut alone = [work];
        let mut failure = self.transact(&mut alone).err();
        let [work] = &alone;
        if matches!((&failure, work), (Some(StoreError::Full(_)), QueuedWrite::Call(_)))
            && self.reserve.give(&self.connection)
        {
            failure = self.transact(&mut alone).err();
        }
        if let Some(error) = &failure {
            tracing::error!(%error, "a call was not written");
        }
        let [work] = alone;
        answer(work, failure.as_ref());
    }

    fn transact(&mut self, batch: &mut [QueuedWrite]) -> StoreResult<()> {
        if !self.connection.is_autocommit() {
            // A rollback failed before; nothing of that transaction was acknowledged.
            self.run_statement("rollback")?;
        }
        let done = failpoints::disk_full()
            .and_then(|()| self.run_statement("begin immediate"))
            .and_then(|()| self.fill(batch))
            .and_then(|()| {
                failpoints::before_commit();
                self.run_statement("commit")
            });
        let identities = self.changed.identities.swap(false, Ordering::Relaxed);
        let domains = self.changed.domains.swap(false, Ordering::Relaxed);
        if done.is_err() {
            self.heads.clear();
            if !self.connection.is_autocommit() {
                self.run_statement("rollback")?;
            }
        } else {
            failpoints::after_commit();
            committed(batch.len());
            // Before the callers hear of it.
            self.counts.identities.fetch_add(identities.into(), Ordering::SeqCst);
            self.counts.domains.fetch_add(domains.into(), Ordering::SeqCst);
        }
        done
    }

    /// Brings the log into the database, so that its room on the disk is used again; `false`: not all of it.
    fn empty_log(&self) -> bool {
        let sql = "pragma wal_checkpoint(passive)";
        let counts = self.connection.query_row(sql, [], |row| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)));
        counts.is_ok_and(|(pages, brought)| pages >= 0 && pages == brought)
    }

    fn fill(&mut self, batch: &mut [QueuedWrite]) -> StoreResult<()> {
        for work in batch {
            match work {
                QueuedWrite::Append(append) => {
                    append.outcome = None;
                    let appended = self.append(&append.batch);
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
                QueuedWrite::Call(call) | QueuedWrite::Content(call) => {
                    self.run_statement("savepoint call")?;
                    let worked = call.attempt(&mut Tx::Sqlite(&mut self.connection));
                    if self.changed.logs.swap(false, Ordering::Relaxed) {
                        self.heads.clear();
                    }
                    if self.connection.is_autocommit() {
                        // SQLite gave the whole transaction up.
                        return Err(StoreError::Full("the transaction was rolled back".to_owned()));
                    }
                    if !worked {
                        self.run_statement("rollback to call")?;
                    }
                    self.run_statement("release call")?;
                }
            }
        }
        Ok(())
    }

    fn append(&mut self, batch: &AppendBatch) -> StoreResult<()> {
        let head = self.heads.get(&mut self.connection, batch.tenant, batch.run)?;
        head.check(batch)?;
        ready(Box::pin(insert_events(&mut Tx::Sqlite(&mut self.connection), batch)))?;
        head.last_seq += batch.rows.len() as u64;
        Ok(())
    }

    fn run_statement(&self, sql: &str) -> StoreResult<()> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.raw_execute())
            .map(drop)
            .map_err(|e| error::sqlite(&e))
    }
}

/// Takes what is queued, and waits a little if the batch before was larger.
fn gather(queue: &Receiver<QueuedWrite>, batch: &mut Vec<QueuedWrite>, expected: usize) {
    let mut until = None;
    while batch.len() < MAX_CALLS {
        if let Ok(work) = queue.try_recv() {
            batch.push(work);
            continue;
        }
        if batch.len() >= expected {
            return;
        }
        let until = *until.get_or_insert_with(|| Instant::now() + MAX_GATHER_WAIT);
        match queue.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(work) => batch.push(work),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn answer(work: QueuedWrite, failure: Option<&StoreError>) {
    match work {
        QueuedWrite::Append(append) => {
            let outcome = match (append.outcome, failure) {
                (Some(refused), _) => Err(refused),
                (None, Some(failure)) => Err(failure.clone()),
                (None, None) => Ok(()),
            };
            // The caller may have stopped waiting; what is written is written.
            drop(append.reply.send(outcome));
        }
        QueuedWrite::Call(call) | QueuedWrite::Content(call) => call.settle(failure),
    }
}
