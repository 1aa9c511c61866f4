//! A query whose every name was found and every value fits: what is left to do is to write it.

use serde_json::Value;

use super::{DatePart, Function};
use crate::model::FieldKind;

/// A table in the statement, known as `t` and its number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    pub id: usize,
    pub table: String,
    /// The source that it is joined to, and pairs of a column there and one here.
    pub joined: Option<(usize, Vec<(String, String)>)>,
    /// Whether rows of the other source stay that have none here.
    pub outer: bool,
    /// A grouped query in place of a table.
    pub summary: Option<Box<Summary>>,
    /// The relations that lead here.
    pub path: String,
}

/// Numbers over the rows of a relation to many, one row for each that they belong to. Joined as such, rows of two
/// relations don't multiply each other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    pub sources: Vec<Source>,
    pub tests: Vec<Test>,
    /// Columns `m1`, `m2`…
    pub measures: Vec<Measure>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measure {
    pub function: Function,
    /// `None`: rows.
    pub of: Option<Operand>,
}

/// What a function is applied to in each row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Column(Column),
    Number(Value),
    Calculated(Box<Operand>, Calculation, Box<Operand>),
}

impl Operand {
    /// Whether all that it is made of are whole numbers, and stay so.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Column(column) => column.kind == FieldKind::Int,
            Self::Number(number) => number.is_i64(),
            Self::Calculated(left, calculation, right) => {
                *calculation != Calculation::Divide && left.is_whole() && right.is_whole()
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calculation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Calculation {
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub source: usize,
    pub name: String,
    pub kind: FieldKind,
    /// Never null.
    pub required: bool,
    /// What its domain says of who writes it.
    pub trusted: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Column(Column),
    Part(Column, DatePart),
    /// `None`: rows.
    Aggregate {
        function: Function,
        of: Option<Operand>,
        distinct: bool,
        /// The columns that are the same in all rows that repeat a value; empty: no row repeats one.
        once: Vec<Column>,
    },
    /// Over the measures of a summary, by their places; the second is the count that an average needs.
    Summed {
        source: usize,
        function: Function,
        measure: usize,
        count: usize,
        kind: FieldKind,
        once: Vec<Column>,
    },
}

impl Expr {
    /// The column whose values it shows as they are.
    pub fn shown_column(&self) -> Option<&Column> {
        match self {
            Self::Column(column) | Self::Aggregate { of: Some(Operand::Column(column)), .. } => Some(column),
            Self::Part(..) | Self::Aggregate { .. } | Self::Summed { .. } => None,
        }
    }

    /// The columns that tell apart the rows over which a number is computed, where the statement repeats them.
    pub fn once(&self) -> &[Column] {
        match self {
            Self::Aggregate { once, .. } | Self::Summed { once, .. } => once,
            Self::Column(_) | Self::Part(..) => &[],
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// Equal, not equal or an order, by the sign of SQL.
    Compare {
        expr: Expr,
        kind: FieldKind,
        sign: &'static str,
        with: Compared,
    },
    Like {
        expr: Expr,
        pattern: String,
    },
    In {
        expr: Expr,
        kind: FieldKind,
        values: Vec<Value>,
    },
    Null {
        expr: Expr,
        negated: bool,
    },
    All(Vec<Test>),
    Any(Vec<Test>),
    /// What can't be told, such as whether nothing is more than five, does not hold: its negation does.
    Not(Vec<Test>),
    /// Whether there are rows of a relation to many that pass.
    Exists {
        sources: Vec<Source>,
        tests: Vec<Test>,
        negated: bool,
    },
}

/// What an expression is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Compared {
    /// It fits the kind.
    Value(Value),
    /// Another column of the row.
    Column(Expr),
}

/// A column of the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Output {
    pub name: String,
    pub expr: Expr,
    pub kind: FieldKind,
    pub role: Role,
}

/// What a column of a result is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Field,
    Group,
    /// A group by a part of a date.
    Time(DatePart),
    Number(Function),
    /// Not asked for: a key, or what the next page begins after.
    Hidden,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sort {
    pub expr: Expr,
    pub kind: FieldKind,
    pub desc: bool,
    pub nullable: bool,
    /// Whether texts that differ by case only are apart, as in a key.
    pub exact: bool,
    /// The output with the same value.
    pub output: usize,
}

/// A relation whose rows are embedded, by a statement of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Nested {
    pub name: String,
    pub many: bool,
    /// Outputs of the query that hold the keys.
    pub parents: Vec<usize>,
    /// Outputs of `rows` with the same keys.
    pub children: Vec<usize>,
    pub rows: Rows,
}

/// What is read from where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub sources: Vec<Source>,
    pub outputs: Vec<Output>,
    pub tests: Vec<Test>,
    pub order: Vec<Sort>,
    pub limit: u32,
}

/// The result of [`validate`](super::validate()).
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub(crate) domain: String,
    pub(crate) datasource: String,
    pub(crate) rows: Rows,
    pub(crate) grouped: bool,
    /// The outputs that groups are made by.
    pub(crate) groups: Vec<usize>,
    /// Conditions on groups.
    pub(crate) having: Vec<Test>,
    /// Values of the order in the last row of the page before.
    pub(crate) after: Option<Vec<Value>>,
    /// Whether another page can begin after a row of this one.
    pub(crate) pages: bool,
    pub(crate) nested: Vec<Nested>,
    /// Cursors of other queries are refused by it.
    pub(crate) mark: String,
}

impl Checked {
    pub fn domain(&self) -> &str {
        &self.domain
    }

    pub fn datasource(&self) -> &str {
        &self.datasource
    }

    pub fn limit(&self) -> u32 {
        self.rows.limit
    }
}
