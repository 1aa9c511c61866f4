//! Readers of the log: as it is written, and again by the present program.

pub(crate) mod replay;
pub(crate) mod watch;
