//! What the core needs of the machine: the time, ids, live fan-out of events, blobs in files.
//!
//! One node's worth: the bus is inside the process, blobs are files. The same ports over a network
//! come beside these, never instead.

mod blobs;
mod bus;
mod clock;
mod ids;

pub use blobs::FileBlobs;
pub use bus::InProcessBus;
pub use clock::SystemClock;
pub use ids::UuidV7;
