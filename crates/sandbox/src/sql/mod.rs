//! `SQLite` for statements that nobody has read: a read-only connection, an authorizer that `SQLite` itself asks for
//! every table, column and function, exactly one statement, and limits on time, rows, bytes and statement size.
//! For servers, where there is none to ask, [`postgres`] and [`mysql`] judge the parsed statement.
//! Writes ([`Guard::open_for_writing`], [`remote`]) are recorded row by row ([`change`]), so that they can be shown
//! before, and taken back after.
//! Whether a statement may run is decided by `SQLite`'s own parser, never by its text; its words are only looked at to
//! explain why one does not compile.

mod authorizer;
mod beside;
mod cells;
pub mod change;
mod deadline;
mod error;
mod exact;
mod functions;
mod guard;
mod known;
mod lists;
pub mod mysql;
mod open;
mod parsed;
mod pattern;
mod policy;
pub mod postgres;
mod program;
mod query;
pub mod remote;
mod schema;
mod sensitive;
mod tables;
mod value;
mod write;

pub use error::SqlError;
pub use guard::Guard;
pub use parsed::Checked;
pub use policy::{ColumnRef, Functions, Limits, Policy, Tables};
pub use query::{Rows, Truncated};
pub use sensitive::is_sensitive;
pub use tables::TableText;
