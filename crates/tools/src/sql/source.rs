use super::databases;
use serde_json::Value;
use std::path::Path;
use steward_core::provenance::Consulted;
use steward_core::tables::Schema;
use steward_sandbox::sql::{Guard, Policy};

/// A database or file of rows in a workspace, opened to read what a question says of it.
pub struct Database {
    guard: Guard,
    schema: Schema,
}

impl Database {
    /// `None`: it can't be opened.
    pub fn open(workspace: &Path, path: &str) -> Option<Self> {
        let guard = databases::open(workspace, path, Policy::default(), &Consulted::default()).ok()?;
        let schema = guard.schema().ok()?;
        Some(Self { guard, schema })
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The rows of a statement that only reads; none if it is refused.
    pub fn rows(&self, sql: &str, values: &[Value]) -> Vec<Vec<Value>> {
        self.guard.query_with(sql, values).map(|rows| rows.rows).unwrap_or_default()
    }

    /// Up to so many different values of a column.
    pub fn distinct_values(&self, table: &str, column: &str, most: usize) -> Vec<Value> {
        self.guard.distinct_values(table, column, most).unwrap_or_default()
    }
}
