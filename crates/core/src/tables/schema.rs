//! What is known of a database before it is asked.

use serde::Serialize;

/// What a policy shows of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    /// Tables and views by name, without the denied ones.
    pub tables: Vec<Table>,
}

/// A table or view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Whether it is a view.
    pub view: bool,
    /// Its columns in order, without the denied ones.
    pub columns: Vec<Column>,
    /// Its foreign keys to tables that are shown.
    pub foreign_keys: Vec<ForeignKey>,
    /// Rows, from the statistics or counted up to 100,000; `None` for a view or when counting took too long.
    pub row_estimate: Option<u64>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The declared type as written, possibly empty.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it belongs to the primary key.
    pub pk: bool,
    /// Whether it may not be null.
    pub not_null: bool,
}

/// One column of a foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    /// The column here.
    pub column: String,
    /// The table referred to.
    pub table: String,
    /// The column referred to; empty for its primary key.
    pub references: String,
}

impl Column {
    /// Whether its declared type holds text; no type at all may.
    pub fn is_text(&self) -> bool {
        let kind = self.kind.to_uppercase();
        kind.is_empty() || ["CHAR", "TEXT", "CLOB", "STRING"].iter().any(|word| kind.contains(word))
    }

    /// Whether its declared type holds numbers.
    pub fn is_number(&self) -> bool {
        let kind = self.kind.to_uppercase();
        ["INT", "REAL", "FLOA", "DOUB", "NUM", "DEC", "MONEY"].iter().any(|word| kind.contains(word))
    }
}

/// A text that is a value of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub table: String,
    pub column: String,
    /// As stored.
    pub value: String,
}
