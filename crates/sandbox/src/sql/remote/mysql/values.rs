//! Values so that they come back bit for bit: each type as a text that the server reads as the same value.

use std::collections::HashMap;
use std::sync::OnceLock;

use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, MySql, Row as _};

use super::shape::quoted;
use crate::sql::change::{Cell, Table, bytes, hex};
use crate::sql::parsed::NameSet;

/// How values of a type are kept; none: not exactly.
pub(super) fn way(data_type: &str, charset: &str) -> Option<&'static str> {
    static WAYS: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    static CHARSETS: OnceLock<NameSet> = OnceLock::new();
    let ways = WAYS.get_or_init(|| {
        let lines = include_str!("../../../../data/mysql-column-types.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| line.split_once(' '))
            .flat_map(|(way, types)| types.split_whitespace().map(move |kind| (kind, way)))
            .collect()
    });
    let charsets = CHARSETS.get_or_init(|| NameSet::read(include_str!("../../../../data/mysql-charsets.txt")));
    let way = ways.get(data_type).copied();
    way.filter(|_| charset.is_empty() || charsets.has(charset))
}

fn is(table: &Table, column: usize, way: &str) -> bool {
    let kind = table.columns.get(column).map_or("", |column| &column.kind);
    kind.split(' ').next() == Some(way)
}

/// A column as the text that is kept; `row` names its table, with a dot, or is empty.
pub(super) fn reading(table: &Table, column: usize, row: &str) -> String {
    let name = format!("{row}{}", quoted(&table.columns[column].name));
    if is(table, column, "blob") {
        format!("HEX({name})")
    } else if is(table, column, "double") {
        format!("CAST(CAST({name} AS DOUBLE) AS CHAR CHARACTER SET utf8mb4)")
    } else if is(table, column, "bits") {
        format!("CAST({name} + 0 AS CHAR CHARACTER SET utf8mb4)")
    } else {
        format!("CAST({name} AS CHAR CHARACTER SET utf8mb4)")
    }
}

/// All columns.
pub(super) fn readings(table: &Table, row: &str) -> String {
    let all = (0..table.columns.len()).map(|at| reading(table, at, row));
    all.collect::<Vec<_>>().join(", ")
}

/// A placeholder that makes the value of it again.
pub(super) fn mark(table: &Table, column: usize) -> &'static str {
    if is(table, column, "blob") {
        "UNHEX(?)"
    } else if is(table, column, "bits") {
        "CAST(? AS UNSIGNED)"
    } else {
        "?"
    }
}

/// The condition for a key.
pub(super) fn named(table: &Table, row: &str) -> String {
    let parts = table.key.iter().map(|at| {
        let column = quoted(&table.columns[*at].name);
        format!("{row}{column} = {}", mark(table, *at))
    });
    parts.collect::<Vec<_>>().join(" AND ")
}

/// A row of [`readings`].
pub(super) fn cells(table: &Table, row: &MySqlRow) -> Result<Vec<Cell>, sqlx::Error> {
    (0..table.columns.len()).map(|at| Ok(cell(table, at, row.try_get_unchecked(at)?))).collect()
}

/// A text of [`reading`].
pub(super) fn cell(table: &Table, column: usize, text: Option<String>) -> Cell {
    match text {
        None => Cell::Null,
        Some(hex) if is(table, column, "blob") => Cell::Blob(hex.to_lowercase()),
        Some(text) if text.contains('\0') => Cell::Raw(hex(text.as_bytes())),
        Some(text) => Cell::Text(text),
    }
}

/// A statement of ours with its values.
pub(super) fn bound<'q>(sql: String, cells: &[&Cell]) -> Query<'q, MySql, MySqlArguments> {
    let query = sqlx::query(AssertSqlSafe(sql));
    cells.iter().fold(query, |query, cell| match cell {
        Cell::Text(text) | Cell::Blob(text) => query.bind(Some(text.clone())),
        Cell::Raw(hex) => query.bind(Some(String::from_utf8_lossy(&bytes(hex)).into_owned())),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) => query.bind(None::<String>),
    })
}
