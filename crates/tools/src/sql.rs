//! SQL: a tool for SQLite, CSV, TSV and Parquet files in the workspace, and structured queries.

pub mod databases;
pub mod joins;
pub mod lower;
mod server_url;
pub mod show;
pub(crate) mod source;
pub(crate) mod table_files;
mod tool;

#[cfg(test)]
mod tests;

pub use lower::{LowerError, Lowered, lower};
pub use server_url::server_url;
pub use tool::{SqlArgs, SqlTool};
