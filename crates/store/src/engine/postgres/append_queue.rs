//! The task that appends: what has come in since its last statement is its next one.

use crate::append::{AppendBatch, append_batches};
use crate::commit_sizes::committed;
use crate::engine::failpoints;
use crate::error;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};
use steward_core::RunId;
use steward_core::ports::{StoreError, StoreResult};
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;

/// Most appends in one statement.
const MAX_BATCHES: usize = 512;
/// Longest wait for callers of the batch before.
const MAX_GATHER_WAIT: Duration = Duration::from_micros(300);

pub(super) struct QueuedAppend {
    pub batch: AppendBatch,
    pub reply: oneshot::Sender<StoreResult<()>>,
}

/// Works until the last sender is gone.
pub(super) async fn run(options: PgConnectOptions, mut queue: Receiver<QueuedAppend>) {
    let mut connection = None;
    let mut waiting = VecDeque::new();
    let mut expected = 1;
    loop {
        if waiting.is_empty() {
            match queue.recv().await {
                Some(first) => waiting.push_back(first),
                None => return,
            }
        }
        gather(&mut queue, &mut waiting, expected).await;
        expected = waiting.len();
        let batch = take(&mut waiting);
        serve(&options, &mut connection, batch).await;
    }
}

/// Lets the callers of the batch before come back first, so that they share the next commit.
async fn gather(queue: &mut Receiver<QueuedAppend>, waiting: &mut VecDeque<QueuedAppend>, expected: usize) {
    let mut until = None;
    while waiting.len() < MAX_BATCHES {
        if let Ok(next) = queue.try_recv() {
            waiting.push_back(next);
            continue;
        }
        let until = *until.get_or_insert_with(|| Instant::now() + MAX_GATHER_WAIT);
        if waiting.len() >= expected || Instant::now() >= until {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The appends of one statement: at most one a run, later ones of the same run stay in the queue.
fn take(waiting: &mut VecDeque<QueuedAppend>) -> Vec<QueuedAppend> {
    let mut runs: HashSet<RunId> = HashSet::with_capacity(waiting.len());
    let (batch, later): (Vec<_>, Vec<_>) = waiting.drain(..).partition(|next| runs.insert(next.batch.run));
    waiting.extend(later);
    batch
}
async fn serve(options: &PgConnectOptions, connection: &mut Option<PgConnection>, appends: Vec<QueuedAppend>) {
    let done = write(options, connection, &appends).await;
    match done {
        Ok(written) => answer(appends, &written),
        // One batch may be what PostgreSQL refuses. With the connection gone it isn't known what was written.
        Err(_) if appends.len() > 1 && connection.is_some() => {
            for append in appends {
                let alone = vec![append];
                match write(options, connection, &alone).await {
                    Ok(written) => answer(alone, &written),
                    Err(failure) => fail(alone, &failure),
                }
            }
        }
        Err(failure) => {
            tracing::error!(error = %failure, batches = appends.len(), "a batch was not written");
            fail(appends, &failure);
        }
    }
}

async fn write(
    options: &PgConnectOptions,
    connection: &mut Option<PgConnection>,
    appends: &[QueuedAppend],
) -> StoreResult<HashSet<RunId>> {
    failpoints::disk_full()?;
    let mut open = match connection.take() {
        Some(open) => open,
        None => options.connect().await.map_err(|e| error::postgres(&e))?,
    };
    failpoints::before_commit();
    // One statement outside a transaction block: it commits by itself.
    let done = append_batches(&mut open, appends.iter().map(|next| &next.batch)).await;
    if done.is_ok() {
        failpoints::after_commit();
        committed(appends.len());
        *connection = Some(open);
    } else if open.ping().await.is_ok() {
        *connection = Some(open);
    }
    done
}

fn answer(appends: Vec<QueuedAppend>, written: &HashSet<RunId>) {
    for QueuedAppend { batch, reply } in appends {
        let outcome = if written.contains(&batch.run) { Ok(()) } else { Err(batch.fenced()) };
        // The caller may have stopped waiting; what is written is written.
        drop(reply.send(outcome));
    }
}

fn fail(appends: Vec<QueuedAppend>, failure: &StoreError) {
    for next in appends {
        drop(next.reply.send(Err(failure.clone())));
    }
}
