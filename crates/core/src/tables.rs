//! Databases: their schema, and what is asked of them.

use serde::{Deserialize, Serialize};

/// The part of a schema that a policy shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    /// Tables and views by name, without the denied ones.
    pub tables: Vec<Table>,
}

/// A table or view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    pub name: String,
    pub view: bool,
    /// In order, without the denied ones.
    pub columns: Vec<Column>,
    /// Foreign keys to tables that are shown.
    pub foreign_keys: Vec<ForeignKey>,
    /// Number of rows, from the statistics or counted up to 100,000; `None` for a view or if counting took too long.
    pub row_estimate: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    pub name: String,
    /// Declared type as written; may be empty.
    #[serde(rename = "type")]
    pub kind: String,
    pub pk: bool,
    pub not_null: bool,
}

/// One column of a foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    pub column: String,
    pub table: String,
    /// The referenced column; empty for the primary key.
    pub references: String,
}

impl Column {
    /// Whether its declared type holds text; a column without a type may.
    pub fn is_text(&self) -> bool {
        let kind = self.kind.to_uppercase();
        kind.is_empty() || ["CHAR", "TEXT", "CLOB", "STRING"].iter().any(|word| kind.contains(word))
    }

    pub fn is_number(&self) -> bool {
        let kind = self.kind.to_uppercase();
        ["INT", "REAL", "FLOA", "DOUB", "NUM", "DEC", "MONEY"].iter().any(|word| kind.contains(word))
    }
}

/// What the tool `sql` is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ask {
    /// The columns of a table, or `*` for all tables.
    Schema { schema: String },
    /// One statement that only reads.
    Sql { sql: String },
}
