//! A query as data: what a small model can fill in, and what proposals are made of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is asked of a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ask {
    /// The columns of a table, or `*` for all tables.
    Schema {
        /// Name of the table, or `*`.
        schema: String,
    },
    /// Free SQL, one statement that only reads.
    Sql {
        /// The statement.
        sql: String,
    },
    /// A structured query.
    Query(Query),
}

/// A query over one table and those it is joined with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// The table that rows are of.
    pub from: String,
    /// Columns; empty: all of `from`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<Select>,
    /// Further tables, found by their keys. Tables named elsewhere need not be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub join: Vec<String>,
    /// Conditions, all of which hold.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// One row per value of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<QueryColumn>,
    /// Order of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_by: Option<Order>,
    /// Whether equal rows are shown once; with `count`, whether different values are counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    /// Most rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryColumn {
    /// Its name.
    pub column: String,
    /// Its table; `None`: the one of the query that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// What is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// The column; `None` or `*` with `count`: rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// What of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
}

/// One number of many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregate {
    /// How many.
    Count,
    /// All together.
    Sum,
    /// The mean.
    Avg,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Aggregate {
    /// Its SQL function.
    pub fn function(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// Its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// How it is compared.
    pub op: Op,
    /// With what; not needed by `is_null`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
}

/// Comparisons. Text is compared without regard to case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Contains the text.
    Contains,
    /// Begins with the text.
    Starts,
    /// Equals one of a list.
    In,
    /// Has no value.
    IsNull,
}

/// An order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The column; `None` with `count`: rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// By one number of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
    /// Largest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
}
