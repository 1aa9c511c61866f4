//! SQL: a tool for SQLite, CSV, TSV and Parquet files in the workspace, and structured queries.

pub mod databases;
pub(crate) mod file_work;
pub mod joins;
pub mod lower;
pub mod show;
pub(crate) mod source;
pub(crate) mod table_files;
pub(crate) mod target;
mod tool;

#[cfg(test)]
mod tests;

pub use lower::{LowerError, Lowered, lower};
pub use source::Database;
pub use tool::{SqlArgs, SqlTool};
