//! Databases: their schema, and queries as data, which a small model can fill in and which proposals are made of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// A text that occurs as a value of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub table: String,
    pub column: String,
    /// As stored.
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ask {
    /// The columns of a table, or `*` for all tables.
    Schema {
        schema: String,
    },
    /// One statement of free SQL that only reads.
    Sql {
        sql: String,
    },
    Query(Query),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub from: String,
    /// Empty for all columns of `from`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<Select>,
    /// Further tables, joined by their keys. Tables named elsewhere in the query need not be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub join: Vec<String>,
    /// All of them must hold.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// One row per value of these columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<QueryColumn>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_by: Option<Order>,
    /// Whether equal rows are shown once; with `count`, whether different values are counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryColumn {
    pub column: String,
    /// `None`: the table of the query that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// `None` or `*` with `count` means rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Aggregate {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

impl Aggregate {
    pub fn function(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub column: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    pub op: Op,
    /// Not needed by `is_null`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
}

/// Comparisons. Text is compared case-insensitively.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    Contains,
    Starts,
    In,
    IsNull,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// `None` with `count` means rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Orders by this number of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
    /// Largest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
}
