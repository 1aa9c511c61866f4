//! SQL: a tool for SQLite, CSV and TSV files in the workspace, structured queries, and proposals from requests
//! in people's words.

pub mod databases;
pub mod joins;
pub mod link;
pub mod lower;
pub mod propose;
pub mod query;
mod read;
pub mod show;
mod source;
mod table_files;
mod tool;
mod words;

#[cfg(test)]
mod tests;

pub use lower::{LowerError, Lowered, lower};
pub use query::{Ask, Query, parameters};
pub use tool::{SqlArgs, SqlTool};
