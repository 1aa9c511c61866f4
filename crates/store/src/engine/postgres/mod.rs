//! PostgreSQL: appends in batches over one connection, the rest through a pool.

mod append;
mod batch;

use super::job::{OpFn, gone};
use super::lot::Lot;
use super::points;
use crate::error;
use crate::migrate::{self, Migration};
use crate::tx::Tx;
use append::Append;
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
const PATIENCE: Duration = Duration::from_secs(10);
/// Times that a transaction is tried when PostgreSQL asks to.
const ATTEMPTS: u32 = 5;

/// An open database.
pub(crate) struct Postgres {
    /// Where the pool's connections live.
    home: Handle,
    pool: PgPool,
    queue: mpsc::Sender<Append>,
}

impl Postgres {
    /// Connects, checks and migrates.
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
        let first = tokio::time::timeout(PATIENCE, options.connect()).await;
        let mut first =
            first.map_err(|_| error::postgres(&sqlx::Error::PoolTimedOut))?.map_err(|e| error::postgres(&e))?;
        prepare(&mut first, list).await?;
        drop(first);
        let pool = PgPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(PATIENCE)
            .connect_lazy_with(options.clone());
        let (queue, appends) = mpsc::channel(QUEUE);
        // One plan for all batches: planning anew for each array costs as much as running it.
        let options = options.options([("plan_cache_mode", "force_generic_plan")]);
        tokio::spawn(batch::run(options, appends));
        let home = Handle::current();
        Ok(Self { home, pool, queue })
    }

    /// Runs `op` in a transaction.
    pub(crate) async fn write<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        points::disk_full()?;
        let pool = self.pool.clone();
        let trying = Box::pin(async move {
            let mut attempt = 0;
            loop {
                attempt += 1;
                match once(&pool, &args, op).await {
                    Err(StoreError::Backend(text)) if text == error::TRY_AGAIN && attempt < ATTEMPTS => {}
                    done => return done,
                }
            }
        });
        self.at_home(trying).await
    }

    /// Runs `op` outside a transaction.
    pub(crate) async fn read<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let pool = self.pool.clone();
        let reading = Box::pin(async move {
            let mut connection = pool.acquire().await.map_err(|e| error::postgres(&e))?;
            op(&args, &mut Tx::Postgres(&mut connection)).await
        });
        self.at_home(reading).await
    }

    /// A connection lives in the runtime that it was opened in, which must not be one that ends
    /// before the pool.
    async fn at_home<T: Send + 'static>(&self, work: BoxFuture<'static, StoreResult<T>>) -> StoreResult<T> {
        if Handle::try_current().is_ok_and(|here| here.id() == self.home.id()) {
            return work.await;
        }
        let done = AbortOnDropHandle::new(self.home.spawn(work)).await;
        done.unwrap_or_else(|_| Err(gone()))
    }

    /// Appends events that have no rows beside them.
    pub(crate) async fn append(&self, lot: Lot) -> StoreResult<()> {
        let (reply, answer) = oneshot::channel();
        self.queue.send(Append { lot, reply }).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

async fn once<A: Sync, T>(pool: &PgPool, args: &A, op: OpFn<A, T>) -> StoreResult<T> {
    let mut tx = pool.begin().await.map_err(|e| error::postgres(&e))?;
    // Dropping the transaction on an error rolls it back.
    let value = op(args, &mut Tx::Postgres(&mut tx)).await?;
    points::before_commit();
    tx.commit().await.map_err(|e| error::postgres(&e))?;
    points::after_commit();
    Ok(value)
}

async fn prepare(connection: &mut PgConnection, list: &[Migration]) -> StoreResult<()> {
    let mut tx = connection.begin().await.map_err(|e| error::postgres(&e))?;
    migrate::apply(&mut Tx::Postgres(&mut tx), list).await?;
    tx.commit().await.map_err(|e| error::postgres(&e))
}
