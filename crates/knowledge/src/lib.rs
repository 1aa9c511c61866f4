//! Documents: what a file says, its chunks, and the indexes that find them.
//!
//! Files are read by [`extract`], which is run in a process of its own; what it found is an [`Extracted`]. Indexes can be
//! built anew from the rows of the store at any time.

pub mod extract;

pub use steward_core::extracted::{Area, Block, BlockKind, Extracted, Page};
