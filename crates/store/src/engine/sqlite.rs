mod log_head_cache;
mod look;
mod open;
mod readers;
mod reserve;
mod writer;

use super::{Call, OpFn, gone};
use crate::append::AppendBatch;
use crate::migrate::Migration;
use readers::Readers;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use steward_core::ports::{StoreError, StoreResult};
use tokio::sync::oneshot;
use writer::{Append, ChangeCounts, QueuedWrite, Writer};

pub(crate) struct Sqlite {
    queue: Option<Sender<QueuedWrite>>,
    thread: Option<JoinHandle<()>>,
    readers: Arc<Readers>,
    counts: Arc<ChangeCounts>,
}

impl Sqlite {
    /// Opens, checks and migrates. Blocks.
    pub(crate) fn open(
        data_dir: &Path,
        connections: u32,
        max_pages: Option<u32>,
        list: &[Migration],
    ) -> StoreResult<Self> {
        let opened = open::open(data_dir, max_pages, list)?;
        let database = opened.path.clone();
        let readers = Arc::new(Readers::new(opened.path, Arc::clone(&opened.lock), connections));
        let (queue, jobs) = channel();
        let counts = Arc::<ChangeCounts>::default();
        let writer = Writer::new(opened.connection, database, opened.lock, Arc::clone(&counts))?;
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.run(&jobs))
            .map_err(|e| StoreError::Backend(format!("cannot start a thread: {e}")))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), readers, counts })
    }

    /// Runs `op` in the writer's next transaction. `content`: it is refused while only the reserve of the disk is left.
    pub(crate) async fn write<A, T>(&self, args: A, op: OpFn<A, T>, content: bool) -> StoreResult<T>
    where
        A: Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let call = Box::new(Call { args, op, outcome: None, reply });
        self.send(if content { QueuedWrite::Content(call) } else { QueuedWrite::Call(call) })?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    pub(crate) async fn append(&self, batch: AppendBatch) -> StoreResult<()> {
        let (reply, answer) = oneshot::channel();
        self.send(QueuedWrite::Append(Append { batch, outcome: None, reply }))?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Runs `op` on a connection that cannot write.
    pub(crate) async fn read<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + 'static,
        T: Send + 'static,
    {
        Readers::read(&self.readers, args, op).await
    }

    /// Runs `work` on a connection that cannot write, for as long as it takes.
    pub(crate) async fn on_reader<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        Readers::run(&self.readers, work).await
    }

    /// How often changes of users or keys have been committed.
    pub(crate) fn identities(&self) -> u64 {
        self.counts.identities.load(Ordering::SeqCst)
    }

    /// How often changes of datasources or texts of domains have been committed.
    pub(crate) fn domain_changes(&self) -> u64 {
        self.counts.domains.load(Ordering::SeqCst)
    }

    fn send(&self, work: QueuedWrite) -> StoreResult<()> {
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(work).map_err(|_| gone())
    }
}

impl Drop for Sqlite {
    /// Waits for what is queued, so that the directory's lock is free when this returns.
    fn drop(&mut self) {
        self.readers.close();
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer panicked");
        }
    }
}
