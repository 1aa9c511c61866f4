use crate::event::Event;
use crate::{RunId, Timestamp};
use async_trait::async_trait;
use futures::stream::BoxStream;
use uuid::Uuid;

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    /// Minutes east of UTC at `at`, in the time zone of the program.
    fn utc_offset_minutes(&self, at: Timestamp) -> i32;
    /// IANA name of the time zone of the program; `None`: it has none, or isn't known.
    fn zone_name(&self) -> Option<String> {
        None
    }
}

pub trait Ids: Send + Sync {
    /// A UUID of version 7.
    fn next(&self) -> Uuid;
}

/// Live events. Ends when the subscriber lags too far behind or the bus closes; read on from the log then.
pub type EventStream = BoxStream<'static, Event>;

/// Live fan-out of events that are already committed. It may lose events.
pub trait EventBus: Send + Sync {
    /// Notifies the subscribers of the event's run and those of all runs.
    fn publish(&self, event: &Event);
    fn subscribe(&self, run: RunId) -> EventStream;
    fn subscribe_all(&self) -> EventStream;
}

#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("no blob {0}; the data directory is incomplete: restore it from a backup")]
    Missing(String),
    #[error("blob {0} is damaged; restore it from a backup")]
    Damaged(String),
    #[error("cannot keep a blob: {0}")]
    Io(#[from] std::io::Error),
}

/// Bodies over 64 KB, by the SHA-256 of their content.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores `bytes` durably and returns their hash; storing them again changes nothing.
    async fn put(&self, bytes: Vec<u8>) -> Result<String, BlobError>;
    /// The bytes of `hash`, verified.
    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError>;
    /// Whether there is one, damaged or not.
    async fn has(&self, hash: &str) -> Result<bool, BlobError> {
        match self.get(hash).await {
            Ok(_) | Err(BlobError::Damaged(_)) => Ok(true),
            Err(BlobError::Missing(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
    /// Deletes what nobody refers to any more; one that is gone is no error.
    async fn remove(&self, hash: &str) -> Result<(), BlobError> {
        Err(BlobError::Missing(hash.to_owned()))
    }
    /// The first half of [`Self::remove`]: whoever puts the same now, puts it anew. What a crash leaves aside comes back with
    /// the next [`Self::get`].
    async fn set_aside(&self, _hash: &str) -> Result<(), BlobError> {
        Ok(())
    }
    /// Takes [`Self::set_aside`] back.
    async fn put_back(&self, _hash: &str) -> Result<(), BlobError> {
        Ok(())
    }
    /// The second half: deletes what was set aside, and nothing that was put since.
    async fn remove_aside(&self, hash: &str) -> Result<(), BlobError> {
        self.remove(hash).await
    }
}
