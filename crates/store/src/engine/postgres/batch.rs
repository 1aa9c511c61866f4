//! The task that appends: what has come in since its last statement is its next one.

use super::append::{Append, append};
use crate::engine::points;
use crate::error;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};
use steward_core::RunId;
use steward_core::ports::{StoreError, StoreResult};
use tokio::sync::mpsc::Receiver;

/// Most lots in one statement.
const MOST_LOTS: usize = 512;
/// Longest wait for callers of the batch before.
const GATHER: Duration = Duration::from_micros(300);

/// Works until the last sender is gone.
pub(super) async fn run(options: PgConnectOptions, mut queue: Receiver<Append>) {
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

/// Takes what is queued, and lets the callers of the batch before come back first, so that they
/// share the next commit rather than wait for the one after it.
async fn gather(queue: &mut Receiver<Append>, waiting: &mut VecDeque<Append>, expected: usize) {
    let mut until = None;
    while waiting.len() < MOST_LOTS {
        if let Ok(next) = queue.try_recv() {
            waiting.push_back(next);
            continue;
        }
        let until = *until.get_or_insert_with(|| Instant::now() + GATHER);
        if waiting.len() >= expected || Instant::now() >= until {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The lots of a statement: at most one a run, later ones of the same run stay in the queue.
fn take(waiting: &mut VecDeque<Append>) -> Vec<Append> {
    let mut runs: HashSet<RunId> = HashSet::with_capacity(waiting.len());
    let (batch, rest): (Vec<_>, VecDeque<_>) = {
        let (first, later): (Vec<_>, Vec<_>) = waiting.drain(..).partition(|next| runs.insert(next.lot.run));
        (first, later.into())
    };
    *waiting = rest;
    batch
}

/// Writes a batch and answers its callers.
async fn serve(options: &PgConnectOptions, connection: &mut Option<PgConnection>, batch: Vec<Append>) {
    let done = write(options, connection, &batch).await;
    match done {
        Ok(written) => settle(batch, &written),
        // One lot may be what PostgreSQL refuses: each gets a statement of its own, unless the
        // connection itself is gone, when it isn't known what was written.
        Err(_) if batch.len() > 1 && connection.is_some() => {
            for lot in batch {
                let alone = vec![lot];
                match write(options, connection, &alone).await {
                    Ok(written) => settle(alone, &written),
                    Err(failure) => fail(alone, &failure),
                }
            }
        }
        Err(failure) => {
            tracing::error!(error = %failure, lots = batch.len(), "a batch was not written");
            fail(batch, &failure);
        }
    }
}

async fn write(
    options: &PgConnectOptions,
    connection: &mut Option<PgConnection>,
    batch: &[Append],
) -> StoreResult<HashSet<RunId>> {
    points::disk_full()?;
    let mut open = match connection.take() {
        Some(open) => open,
        None => options.connect().await.map_err(|e| error::postgres(&e))?,
    };
    points::before_commit();
    // One statement outside a transaction block: it commits by itself.
    let done = append(&mut open, batch.iter().map(|next| &next.lot)).await;
    if done.is_ok() {
        points::after_commit();
        *connection = Some(open);
    } else if open.ping().await.is_ok() {
        *connection = Some(open);
    }
    done
}

fn settle(batch: Vec<Append>, written: &HashSet<RunId>) {
    for Append { lot, reply } in batch {
        let answer = if written.contains(&lot.run) {
            Ok(())
        } else {
            Err(StoreError::Fenced { run: lot.run, epoch: lot.epoch })
        };
        // The caller may have stopped waiting; what is written is written.
        drop(reply.send(answer));
    }
}

fn fail(batch: Vec<Append>, failure: &StoreError) {
    for next in batch {
        drop(next.reply.send(Err(error::again(failure))));
    }
}
