//! Programs, files and databases, and attempts to get out of their guards.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod escapes;
mod files;
mod gate;
mod mariadb_support;
mod python_attempts;
mod python_pool;
mod python_support;
mod sandbox;
mod sandbox_limits;
mod sandbox_support;
mod sql_attempts;
mod sql_careful;
mod sql_domains;
mod sql_journals;
mod sql_json;
mod sql_more;
mod sql_parquet;
mod sql_private_database;
mod sql_servers;
mod sql_servers_powers;
mod sql_servers_values;
mod sql_tables;
mod sql_undo_mariadb;
mod sql_undo_postgres;
mod sql_write;
mod undo_support;
