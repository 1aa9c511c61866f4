//! A query over a domain as data, in the forms in which models write it.

mod cursor;
mod dates;
pub mod embed;
pub mod error;
mod formula;
pub mod lower;
mod parse;
pub mod plan;
mod validate;
pub(crate) mod values;

pub use error::{Problem, QueryError};
pub use lower::{Dialect, Lowered, lower};
pub use plan::Checked;
pub use validate::validate;
pub(crate) use validate::validate_for;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::model::FieldKind;

/// The names of the comparisons that a kind of field permits.
pub fn ops_of(kind: FieldKind) -> Vec<&'static str> {
    validate::conditions::ops(kind).iter().map(|op| op.name()).collect()
}

/// Rows if a query does not say how many.
pub const DEFAULT_LIMIT: u32 = 50;
pub const MOST_ROWS: u32 = 1000;
/// Rows of a query that embeds relations: their keys are values of the next statements.
pub const MOST_PARENTS: u32 = 200;
/// Embedded rows for each row.
pub const MOST_EMBEDDED: u32 = 100;
/// Relations that a path may lead over.
pub const MOST_HOPS: usize = 6;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Query {
    pub domain: String,
    /// `name`, or `artist.name` over relations. Empty: the fields of the domain, or nothing besides groups and numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// All of them must hold.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Order>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// One row for each value of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<Group>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aggregate: Vec<Aggregate>,
    /// Relations whose rows are embedded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<With>,
    /// Where the last page ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Query {
    /// Reads a query; the errors say where it is wrong and how it is written.
    pub fn parse(value: &Value) -> Result<Self, Vec<QueryError>> {
        parse::query(value)
    }
}

impl<'de> Deserialize<'de> for Query {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        Self::parse(&value).map_err(|errors| serde::de::Error::custom(error::joined(&errors)))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Condition {
    Compare(Compare),
    /// One of them must hold.
    Any {
        any: Vec<Condition>,
    },
    All {
        all: Vec<Condition>,
    },
    /// Not all of them hold: of conditions on a relation to many, no row of it.
    Not {
        not: Vec<Condition>,
    },
}

impl Condition {
    pub(crate) fn compare(field: impl Into<String>, op: Op, value: Value) -> Self {
        Self::Compare(Compare { field: field.into(), op, value })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compare {
    pub field: String,
    pub op: Op,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub value: Value,
}

/// Comparisons. Text is compared without regard to case.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, strum::IntoStaticStr, strum::EnumString, strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    Between,
    IsNull,
    NotNull,
}

impl Op {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Order {
    /// A field, or the name of a number of `aggregate`.
    pub field: String,
    /// Largest first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    pub field: String,
    /// What of a date counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<DatePart>,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, strum::IntoStaticStr, strum::EnumString, strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DatePart {
    Year,
    Month,
    Day,
}

impl DatePart {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Aggregate {
    #[serde(rename = "fn")]
    pub function: Function,
    /// `None` with `count`: rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether equal values count once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, strum::IntoStaticStr, strum::EnumString, strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Function {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

impl Function {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct With {
    pub relation: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Order>,
    /// For each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}
