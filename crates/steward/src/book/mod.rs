//! The book of connections: saved and found ones, what exams found out about them, and the router that
//! is told of every change.

mod check;
mod connections;
mod examiner;
mod merge;
mod stale;
mod tongue;

pub use connections::{BookParts, ConnectionBook, Known};
pub use stale::watch;
pub use tongue::Parsers;
