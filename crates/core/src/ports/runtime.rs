//! Clock, ids, event fan-out, blobs.

use crate::event::Event;
use crate::{RunId, Timestamp};
use async_trait::async_trait;
use futures::stream::BoxStream;
use uuid::Uuid;

/// The time. Tests have their own.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    /// Minutes east of UTC at `at`, where the program runs.
    fn utc_offset_minutes(&self, at: Timestamp) -> i32;
}

/// New ids, time-ordered.
pub trait Ids: Send + Sync {
    /// A UUID of version 7.
    fn next(&self) -> Uuid;
}

/// Events as they come. Ends when the subscriber lags too far or the bus closes; the log has
/// everything, so a reader that ends early reads on from there.
pub type EventStream = BoxStream<'static, Event>;

/// Live fan-out of events that are already committed. Lossy by contract.
pub trait EventBus: Send + Sync {
    /// Tells the subscribers of the event's run, and those of all runs.
    fn publish(&self, event: &Event);
    /// Events of one run from now on.
    fn subscribe(&self, run: RunId) -> EventStream;
    /// Events of every run from now on.
    fn subscribe_all(&self) -> EventStream;
}

/// Why a blob could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// Nothing of that hash is there.
    #[error("no blob {0}; the data directory is incomplete: restore it from a backup")]
    Missing(String),
    /// Its content no longer has its hash.
    #[error("blob {0} is damaged; restore it from a backup")]
    Damaged(String),
    #[error("cannot keep a blob: {0}")]
    Io(#[from] std::io::Error),
}

/// Bodies over 64 KB, by the SHA-256 of their content.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Keeps `bytes` durably and returns their hash. Twice is the same as once.
    async fn put(&self, bytes: Vec<u8>) -> Result<String, BlobError>;
    /// The bytes of `hash`, verified.
    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError>;
}
