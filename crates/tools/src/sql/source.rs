use super::databases;
use super::lower::{escape_like, quote};
use serde_json::Value;
use std::path::Path;
use std::slice;
use steward_core::ports::TableReader;
use steward_core::provenance::Consulted;
use steward_core::tables::{Found, Schema, Table};
use steward_sandbox::sql::{Guard, Policy};

/// Tables with more rows are not searched for values of a request.
const SEARCHED_ROWS: u64 = 300_000;
const SEARCHED_COLUMNS: usize = 150;

pub struct Database {
    guard: Guard,
    schema: Schema,
}

impl Database {
    pub fn new(guard: Guard) -> Option<Self> {
        let schema = guard.schema().ok()?;
        Some(Self { guard, schema })
    }

    /// A database or file of rows in a workspace; `None`: it can't be opened.
    pub fn open(workspace: &Path, path: &str) -> Option<Self> {
        Self::new(databases::open(workspace, path, Policy::default(), &Consulted::default()).ok()?)
    }

    /// The rows of a statement that only reads; none if it is refused.
    pub fn rows(&self, sql: &str, values: &[Value]) -> Vec<Vec<Value>> {
        self.guard.query_with(sql, values).map(|rows| rows.rows).unwrap_or_default()
    }

    /// Up to so many different values of a column.
    pub fn distinct_values(&self, table: &str, column: &str, most: usize) -> Vec<Value> {
        self.guard.distinct_values(table, column, most).unwrap_or_default()
    }

    /// Text columns that are searched.
    fn columns(&self) -> impl Iterator<Item = (&Table, &str)> {
        self.schema
            .tables
            .iter()
            .filter(|table| !table.view && table.row_estimate.is_none_or(|rows| rows <= SEARCHED_ROWS))
            .flat_map(|table| {
                table.columns.iter().filter(|column| column.is_text()).map(move |column| (table, column.name.as_str()))
            })
            .take(SEARCHED_COLUMNS)
    }
}

impl TableReader for Database {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn whole(&self, texts: &[String]) -> Vec<Found> {
        if texts.is_empty() {
            return Vec::new();
        }
        let holes: Vec<String> = (1..=texts.len()).map(|n| format!("?{n}")).collect();
        let values: Vec<Value> = texts.iter().map(|text| Value::from(text.as_str())).collect();
        let mut found = Vec::new();
        for (table, column) in self.columns() {
            let (t, c) = (quote(&table.name), quote(column));
            let sql = format!("SELECT DISTINCT {c} FROM {t} WHERE lower({c}) IN ({}) LIMIT 20", holes.join(","));
            let Ok(rows) = self.guard.query_with(&sql, &values) else { continue };
            found.extend(rows.rows.iter().filter_map(|row| row.first()?.as_str()).map(|value| Found {
                table: table.name.clone(),
                column: column.to_owned(),
                value: value.to_owned(),
            }));
        }
        found
    }

    fn at_most(&self, place: &Found, count: usize) -> bool {
        let (t, c) = (quote(&place.table), quote(&place.column));
        let sql = format!("SELECT DISTINCT {c} FROM {t} LIMIT {}", count + 1);
        self.guard.query(&sql).is_ok_and(|rows| rows.rows.len() <= count)
    }

    fn dates(&self) -> Vec<(String, String)> {
        let begins = |text: &str| {
            let mut parts = text.split('-');
            let mut digits = |count| {
                parts.next().is_some_and(|p| p.len() >= count && p.bytes().take(count).all(|b| b.is_ascii_digit()))
            };
            digits(4) && digits(2)
        };
        let of = |(table, column): (&Table, &str)| {
            let (t, c) = (quote(&table.name), quote(column));
            let sql = format!("SELECT {c} FROM {t} WHERE {c} <> '' LIMIT 1");
            let rows = self.guard.query(&sql).ok()?;
            let text = rows.rows.first()?.first()?.as_str()?;
            begins(text).then(|| (table.name.clone(), column.to_owned()))
        };
        let tables = self.schema.tables.iter().filter(|table| !table.view);
        let all = tables.flat_map(|table| table.columns.iter().map(move |column| (table, column)));
        let may = all.filter(|(_, column)| !column.is_number()).take(SEARCHED_COLUMNS);
        may.filter_map(|(table, column)| of((table, &column.name))).collect()
    }

    fn part(&self, text: &str) -> Vec<(String, String)> {
        let pattern = Value::from(format!("%{}%", escape_like(text)));
        self.columns()
            .filter(|(table, column)| {
                let (t, c) = (quote(&table.name), quote(column));
                let sql = format!("SELECT 1 FROM {t} WHERE {c} LIKE ?1 ESCAPE '\\' LIMIT 1");
                self.guard.query_with(&sql, slice::from_ref(&pattern)).is_ok_and(|rows| !rows.rows.is_empty())
            })
            .map(|(table, column)| (table.name.clone(), column.to_owned()))
            .collect()
    }
}
