//! Connections that cannot write, opened when first needed.

use super::open::add_functions;
use crate::engine::{OpFn, gone, ready};
use crate::error;
use crate::lock::DirLock;
use crate::tx::Tx;
use rusqlite::{Connection, OpenFlags};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::ports::{StoreError, StoreResult};
use tokio::sync::Semaphore;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
    // A connection must not outlive the lock.
    _lock: Arc<DirLock>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, lock: Arc<DirLock>, connections: u32) -> Self {
        Self { path, idle: Mutex::default(), permits: Semaphore::new(connections.max(1) as usize), _lock: lock }
    }

    /// Runs `op` on a thread that may block.
    pub(super) async fn read<A, T>(this: &Arc<Self>, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + 'static,
        T: Send + 'static,
    {
        Self::run(this, move |connection| ready(op(&args, &mut Tx::Sqlite(connection)))).await
    }

    /// The same for work that needs the connection itself.
    pub(super) async fn run<T: Send + 'static>(
        this: &Arc<Self>,
        work: impl FnOnce(&mut Connection) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let permit = this.permits.acquire().await.map_err(|_| gone())?;
        let readers = Arc::clone(this);
        let task = tokio::task::spawn_blocking(move || {
            let mut connection = readers.take()?;
            let result = work(&mut connection);
            readers.give(connection);
            result
        });
        let result = task.await;
        drop(permit);
        result.unwrap_or_else(|e| Err(StoreError::Backend(format!("a read was cut off: {e}"))))
    }

    /// Closes the idle connections and takes no more calls.
    pub(super) fn close(&self) {
        self.permits.close();
        lock(&self.idle).clear();
    }

    fn take(&self) -> StoreResult<Connection> {
        let idle = lock(&self.idle).pop();
        idle.map_or_else(|| self.connect().map_err(|e| error::sqlite(&e)), Ok)
    }

    fn give(&self, connection: Connection) {
        if !self.permits.is_closed() {
            lock(&self.idle).push(connection);
        }
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.set_prepared_statement_cache_capacity(64);
        add_functions(&connection)?;
        Ok(connection)
    }
}
