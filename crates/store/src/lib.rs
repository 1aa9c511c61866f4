//! Every storage port on SQLite and on PostgreSQL, from one SQL text.
//!
//! * [`Store`] implements all traits of `steward_core::ports` that keep rows. What a method does is
//!   written once, against `Tx`, which runs the same statement on either engine.
//! * SQLite: one writer thread owns the only writing connection and commits whatever has come in
//!   since its last commit as one transaction with one fsync; readers have connections of their
//!   own that cannot write.
//! * PostgreSQL: appends of all runs go in batches over one connection, everything else through a
//!   pool, one transaction a call.
//!
//! Invariants: an acknowledged write was fsynced; a writer whose lease epoch is not the row's
//! cannot append; one caller's failure never fails the others of its batch; a database of a newer
//! program or of another one is left as it was found.

mod append;
mod codec;
mod engine;
mod error;
mod limit_lookup;
mod lock;
mod migrate;
mod ports;
mod store;
mod tx;

pub use migrate::SCHEMA_VERSION;
pub use store::{Place, Store, StoreConfig};
