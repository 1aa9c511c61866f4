//! JSON as models write it: incremental scanning, completion and careful repair.

mod loose;
mod rebuild;
mod scan;
mod unescape;

pub(crate) use loose::Loose;
pub(crate) use rebuild::strip_fence;
pub use rebuild::{Repaired, complete, repair};
pub(crate) use scan::{Scanner, Token};
pub(crate) use unescape::{unescape, unescape_part};
