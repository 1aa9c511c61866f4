//! PostgreSQL: appends in batches over one connection, the rest through a pool.

mod append_queue;

use super::failpoints;
use super::{OpFn, gone};
use crate::append::AppendBatch;
use crate::error;
use crate::migrate::{self, Migration};
use crate::tx::Tx;
use append_queue::QueuedAppend;
use futures::future::BoxFuture;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};
use std::str::FromStr;
use std::time::Duration;
use steward_core::ports::{StoreError, StoreResult};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

/// Appends that may wait for the batcher before callers wait to queue.
const QUEUE: usize = 4096;
/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Times that a transaction is tried when PostgreSQL asks to.
const ATTEMPTS: u32 = 5;

pub(crate) struct Postgres {
    /// Where the pool's connections live.
    runtime: Handle,
    pool: PgPool,
    queue: mpsc::Sender<QueuedAppend>,
}

impl Postgres {
    pub(crate) async fn open(url: &str, connections: u32, list: &[Migration]) -> StoreResult<Self> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|e| {
                StoreError::Backend(format!(
                    "the database URL is not valid ({e}); write it as \
                     postgres://user:password@host:port/database"
                ))
            })?
            .application_name("steward")
            // A server may default to answering before it has written; our answers mean "kept".
            .options([
                ("synchronous_commit", "on"),
                // A node that stands still in mid-transaction holds rows that another needs to take its runs over.
                ("idle_in_transaction_session_timeout", "5s"),
            ]);
        // Not from the pool, which would knock at a closed door until its time is up.
        let first = tokio::time::timeout(CONNECT_TIMEOUT, options.connect()).await;
        let mut first =
            first.map_err(|_| error::postgres(&sqlx::Error::PoolTimedOut))?.map_err(|e| error::postgres(&e))?;
        prepare(&mut first, list).await?;
        drop(first);
        let pool = PgPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(CONNECT_TIMEOUT)
            .connect_lazy_with(options.clone());
        let (queue, appends) = mpsc::channel(QUEUE);
        // One plan for all batches: planning anew for each array costs as much as running it.
        let options = options.options([("plan_cache_mode", "force_generic_plan")]);
        tokio::spawn(append_queue::run(options, appends));
        let runtime = Handle::current();
        Ok(Self { runtime, pool, queue })
    }

    pub(crate) async fn write<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        failpoints::disk_full()?;
        let pool = self.pool.clone();
        let trying = Box::pin(async move {
            let mut attempt = 0;
            loop {
                attempt += 1;
                match attempt_once(&pool, &args, op).await {
                    Ok(value) => return Ok(value),
                    Err(AttemptError::Retry(_)) if attempt < ATTEMPTS => {}
                    Err(AttemptError::Retry(error) | AttemptError::Final(error)) => return Err(error),
                }
            }
        });
        self.in_pool_runtime(trying).await
    }

    /// Outside a transaction.
    pub(crate) async fn read<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let pool = self.pool.clone();
        let reading = Box::pin(async move {
            let mut connection = pool.acquire().await.map_err(|e| error::postgres(&e))?;
            op(&args, &mut Tx::postgres(&mut connection)).await
        });
        self.in_pool_runtime(reading).await
    }

    /// A connection lives in the runtime that opened it, which must not end before the pool.
    async fn in_pool_runtime<T: Send + 'static>(&self, work: BoxFuture<'static, StoreResult<T>>) -> StoreResult<T> {
        if Handle::try_current().is_ok_and(|here| here.id() == self.runtime.id()) {
            return work.await;
        }
        let done = AbortOnDropHandle::new(self.runtime.spawn(work)).await;
        done.unwrap_or_else(|_| Err(gone()))
    }

    /// Appends events that have no rows beside them.
    pub(crate) async fn append(&self, batch: AppendBatch) -> StoreResult<()> {
        let (reply, answer) = oneshot::channel();
        self.queue.send(QueuedAppend { batch, reply }).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

enum AttemptError {
    /// It clashed with another one, and PostgreSQL wants it tried again.
    Retry(StoreError),
    Final(StoreError),
}

impl From<&sqlx::Error> for AttemptError {
    fn from(error: &sqlx::Error) -> Self {
        let wrap = if error::is_retryable(error) { Self::Retry } else { Self::Final };
        wrap(error::postgres(error))
    }
}

async fn attempt_once<A: Sync, T>(pool: &PgPool, args: &A, op: OpFn<A, T>) -> Result<T, AttemptError> {
    let mut transaction = pool.begin().await.map_err(|e| AttemptError::from(&e))?;
    let mut tx = Tx::postgres(&mut transaction);
    // Dropping the transaction on an error rolls it back.
    let value = match op(args, &mut tx).await {
        Ok(value) => value,
        Err(error) if tx.wants_retry() => return Err(AttemptError::Retry(error)),
        Err(error) => return Err(AttemptError::Final(error)),
    };
    failpoints::before_commit();
    transaction.commit().await.map_err(|e| AttemptError::from(&e))?;
    failpoints::after_commit();
    Ok(value)
}

async fn prepare(connection: &mut PgConnection, list: &[Migration]) -> StoreResult<()> {
    let mut tx = connection.begin().await.map_err(|e| error::postgres(&e))?;
    migrate::apply(&mut Tx::postgres(&mut tx), list).await?;
    tx.commit().await.map_err(|e| error::postgres(&e))
}
