//! What is appended to one run together.

use steward_core::ports::SideWrite;
use steward_core::{RunId, TenantId, Timestamp};

/// One event as a row.
#[derive(Debug, Clone)]
pub(crate) struct EventRow {
    pub kind: &'static str,
    /// JSON text; `None` where `blob` holds it.
    pub body: Option<String>,
    /// Hash in the blob store.
    pub blob: Option<String>,
}

/// Events and rows beside them, ready to be written under a lease.
#[derive(Debug)]
pub(crate) struct Lot {
    pub tenant: TenantId,
    pub run: RunId,
    pub epoch: u64,
    pub after: u64,
    pub at: Timestamp,
    pub rows: Vec<EventRow>,
    pub side: Vec<SideWrite>,
}
