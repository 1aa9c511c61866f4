//! Lowers a structured query to SQL; pure. Names are checked against the schema and quoted, values are bound.

use super::joins::{self, Edge, Step};
use serde_json::Value;
use std::fmt::Write as _;
use steward_core::tables::{Aggregate, Condition, Op, Query, Schema, Table};

/// Rows returned if a query has no limit.
pub(super) const DEFAULT_LIMIT: u32 = 100;
const MOST_ROWS: u32 = 1000;

#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    pub sql: String,
    pub values: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    #[error("there is no table `{name}`; the tables are {known}")]
    Table { name: String, known: String },
    #[error("there is no column `{name}` in {tables}; the columns are {known}")]
    Column { name: String, tables: String, known: String },
    #[error("`{from}` and `{to}` cannot be joined: no foreign key leads from one to the other; ask them one by one")]
    Apart { from: String, to: String },
    /// A comparison without a value, or with one that can't be compared.
    #[error("the condition on `{column}` needs a value; give a text or a number")]
    Value { column: String },
    #[error("`{function}` needs a column")]
    Aggregate { function: &'static str },
}

struct Lowering<'s> {
    schema: &'s Schema,
    edges: Vec<Edge>,
    /// The tables in the FROM clause; the first one is `from`.
    tables: Vec<String>,
    steps: Vec<Step>,
    values: Vec<Value>,
}

pub fn lower(query: &Query, schema: &Schema) -> Result<Lowered, LowerError> {
    let from = table(schema, &query.from)?.name.clone();
    let (edges, tables) = (joins::edges(schema), vec![from.clone()]);
    let mut work = Lowering { schema, edges, tables, steps: Vec::new(), values: Vec::new() };
    let named = query
        .join
        .iter()
        .chain(query.select.iter().filter_map(|s| s.table.as_ref()))
        .chain(query.conditions.iter().filter_map(|c| c.table.as_ref()))
        .chain(query.group_by.iter().filter_map(|g| g.table.as_ref()))
        .chain(query.order_by.iter().filter_map(|o| o.table.as_ref()));
    for name in named {
        work.reach(name)?;
    }
    let columns = work.columns(query)?;
    let mut sql = String::from("SELECT ");
    let plain = query.select.iter().all(|select| select.aggregate.is_none());
    if plain && query.group_by.is_empty() && (query.distinct || work.multiplies()) {
        sql.push_str("DISTINCT ");
    }
    let _ = write!(sql, "{columns} FROM {}", quote(&from));
    for step in &work.steps {
        let on: Vec<String> = step
            .on
            .iter()
            .map(|(here, there)| {
                format!("{}.{} = {}.{}", quote(&step.table), quote(here), quote(&step.to), quote(there))
            })
            .collect();
        let _ = write!(sql, " JOIN {} ON {}", quote(&step.table), on.join(" AND "));
    }
    if !query.conditions.is_empty() {
        let conditions = query.conditions.iter().map(|condition| work.condition(condition));
        let _ = write!(sql, " WHERE {}", conditions.collect::<Result<Vec<_>, _>>()?.join(" AND "));
    }
    if !query.group_by.is_empty() {
        let keys = query.group_by.iter().map(|group| work.column(&group.column, group.table.as_deref()));
        let _ = write!(sql, " GROUP BY {}", keys.collect::<Result<Vec<_>, _>>()?.join(", "));
    }
    if let Some(order) = &query.order_by {
        let by = work.value_of(order.column.as_deref(), order.table.as_deref(), order.aggregate, false)?;
        let _ = write!(sql, " ORDER BY {by} {}", if order.desc { "DESC" } else { "ASC" });
    }
    let _ = write!(sql, " LIMIT {}", query.limit.unwrap_or(DEFAULT_LIMIT).min(MOST_ROWS));
    Ok(Lowered { sql, values: work.values })
}

impl Lowering<'_> {
    fn reach(&mut self, name: &str) -> Result<(), LowerError> {
        let wanted = table(self.schema, name)?.name.clone();
        let steps = joins::path(&self.edges, &self.tables, &wanted)
            .ok_or_else(|| LowerError::Apart { from: self.tables[0].clone(), to: wanted.clone() })?;
        for step in steps {
            self.tables.push(step.table.clone());
            self.steps.push(step);
        }
        Ok(())
    }

    /// Whether a row of the first table may come several times.
    fn multiplies(&self) -> bool {
        self.steps.iter().any(|step| step.many)
    }

    fn columns(&self, query: &Query) -> Result<String, LowerError> {
        let mut shown = Vec::new();
        for column in &query.group_by {
            let named =
                query.select.iter().any(|s| s.aggregate.is_none() && s.column.as_deref() == Some(&column.column));
            if !named {
                shown.push(self.column(&column.column, column.table.as_deref())?);
            }
        }
        for select in &query.select {
            let column = select.column.as_deref();
            let expression = self.value_of(column, select.table.as_deref(), select.aggregate, query.distinct)?;
            let label = match (select.aggregate, column) {
                (Some(aggregate), None | Some("*")) => Some(aggregate.function().to_owned()),
                (Some(aggregate), Some(column)) => Some(format!("{}_{column}", aggregate.function())),
                _ => None,
            };
            shown.push(match label {
                Some(label) => format!("{expression} AS {}", quote(&label)),
                None => expression,
            });
        }
        if shown.is_empty() {
            return Ok(format!("{}.*", quote(&self.tables[0])));
        }
        Ok(shown.join(", "))
    }

    fn value_of(
        &self,
        column: Option<&str>,
        of: Option<&str>,
        aggregate: Option<Aggregate>,
        distinct: bool,
    ) -> Result<String, LowerError> {
        let from = of.unwrap_or(&self.tables[0]);
        let column = column.filter(|name| *name != "*");
        match (aggregate, column) {
            (None, None) => Ok(format!("{}.*", quote(from))),
            (None, Some(name)) => self.column(name, of),
            (Some(Aggregate::Count), None) => {
                // A row of `from` that matches many others still counts once.
                let counted = table(self.schema, from)?;
                let key = joins::primary(counted).filter(|_| self.multiplies());
                Ok(key.map_or_else(
                    || "count(*)".to_owned(),
                    |key| format!("count(DISTINCT {}.{})", quote(&counted.name), quote(&key)),
                ))
            }
            (Some(Aggregate::Count), Some(name)) => {
                let column = self.column(name, of)?;
                Ok(if distinct { format!("count(DISTINCT {column})") } else { format!("count({column})") })
            }
            (Some(aggregate), Some(name)) => Ok(format!("{}({})", aggregate.function(), self.column(name, of)?)),
            (Some(aggregate), None) => Err(LowerError::Aggregate { function: aggregate.function() }),
        }
    }

    /// A column as SQL; without a table, the joined ones are searched in order.
    fn column(&self, name: &str, of: Option<&str>) -> Result<String, LowerError> {
        let within: Vec<&Table> = match of {
            Some(of) => vec![table(self.schema, of)?],
            None => self.tables.iter().map(|name| table(self.schema, name)).collect::<Result<_, _>>()?,
        };
        let found = within.iter().find_map(|table| {
            let column = table.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))?;
            Some(format!("{}.{}", quote(&table.name), quote(&column.name)))
        });
        found.ok_or_else(|| LowerError::Column {
            name: name.to_owned(),
            tables: within.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", "),
            known: within.iter().flat_map(|t| &t.columns).map(|c| c.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    fn condition(&mut self, condition: &Condition) -> Result<String, LowerError> {
        let column = self.column(&condition.column, condition.table.as_deref())?;
        let value = &condition.value;
        let bad = || LowerError::Value { column: condition.column.clone() };
        let nocase = if value.is_string() { " COLLATE NOCASE" } else { "" };
        let pattern = || escape_like(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let (value, operator, tail) = match condition.op {
            Op::IsNull => return Ok(format!("({column} IS NULL OR {column} = '')")),
            Op::In => {
                let list = value.as_array().filter(|list| !list.is_empty()).ok_or_else(bad)?;
                let holes: Vec<String> = list.iter().map(|value| self.bind(value.clone())).collect();
                return Ok(format!("{column} COLLATE NOCASE IN ({})", holes.join(", ")));
            }
            _ if value.is_null() || value.is_array() || value.is_object() => return Err(bad()),
            Op::Eq => (value.clone(), "=", nocase),
            Op::Ne => (value.clone(), "<>", nocase),
            Op::Gt => (value.clone(), ">", ""),
            Op::Gte => (value.clone(), ">=", ""),
            Op::Lt => (value.clone(), "<", ""),
            Op::Lte => (value.clone(), "<=", ""),
            Op::Contains => (Value::from(format!("%{}%", pattern())), "LIKE", " ESCAPE '\\'"),
            Op::Starts => (Value::from(format!("{}%", pattern())), "LIKE", " ESCAPE '\\'"),
        };
        Ok(format!("{column} {operator} {}{tail}", self.bind(value)))
    }

    /// The placeholder of a value.
    fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }
}

/// Escapes `%`, `_` and the escape character.
pub(super) fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn table<'s>(schema: &'s Schema, name: &str) -> Result<&'s Table, LowerError> {
    schema.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name)).ok_or_else(|| LowerError::Table {
        name: name.to_owned(),
        known: schema.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}
