//! A temporary PostgreSQL server.
//!
//! The programs come from the cache folder (`STEWARD_CACHE`, by default `~/.cache/steward`), where the set-up script
//! puts them. An initialised cluster is kept in the system's folder for temporary files and copied for each server, so
//! that a start takes well under a second. The server is durable (fsync on), as the tests of a store need it.

mod install;
mod server;

pub use server::TestPostgres;
