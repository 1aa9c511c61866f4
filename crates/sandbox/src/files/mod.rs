//! File access that cannot leave a workspace: every path is resolved by the kernel beneath an open folder
//! (`openat2` with `RESOLVE_BENEATH`), or component by component without following links where the kernel lacks
//! that. Writes are atomic and report what was there before, so that they can be undone.

mod beneath;
mod error;
mod list;
mod near;
mod path;
mod read;
mod tree;
mod workspace;
mod write;

pub use error::FilesError;
pub use list::{Entry, EntryKind};
pub use near::near_matches;
pub use path::RelPath;
pub use tree::{Node, Present, PutBack, Tree};
pub use workspace::{FileLimits, Workspace};
pub use write::{Before, Staged, Written};
