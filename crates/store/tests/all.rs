//! One behaviour on SQLite and PostgreSQL.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod audit_speed;
mod conformance;
#[cfg(feature = "failpoints")]
mod failpoints;
mod migration;
mod postgres;
mod sqlite;
