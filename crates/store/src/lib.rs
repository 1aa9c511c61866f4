//! Every storage port on SQLite and on PostgreSQL, from one SQL text over `Tx`, which runs on either engine. SQLite:
//! one writer thread commits whatever has come in with one fsync; readers have connections that can't write.
//! PostgreSQL: appends go in batches over one connection, all else through a pool, one transaction a call. Invariants:
//! an acknowledged write was fsynced; a writer whose lease epoch is not the row's cannot append; one caller's failure
//! never fails the others of its batch; a database of a newer or another program is left as it was found.

mod append;
mod codec;
mod commit_sizes;
mod copy;
mod engine;
mod error;
mod limit_lookup;
mod lock;
mod migrate;
mod names;
mod ports;
mod store;
mod tx;
mod words;

pub use commit_sizes::{CommitSizes, commit_sizes};
pub use copy::{CopyProgress, RemovalPause};
pub use migrate::{SCHEMA_VERSION, SchemaStep, schema_steps};
pub use ports::originals::{FileStep, Kept, Original};
pub use store::{Place, Store, StoreConfig};
