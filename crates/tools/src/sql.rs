//! SQL: a tool for SQLite, CSV, TSV and Parquet files in the workspace.

pub mod databases;
pub(crate) mod file_work;
pub mod show;
pub(crate) mod source;
pub(crate) mod table_files;
pub(crate) mod target;
mod tool;

pub use source::Database;
pub use tool::{SqlArgs, SqlTool};
