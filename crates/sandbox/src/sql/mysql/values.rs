//! How values are kept, as texts that the server reads back bit for bit, and how results become JSON.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Value, json};
use sqlx::mysql::{MySqlArguments, MySqlRow, MySqlTypeInfo};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, MySql, Row as _, Type, TypeInfo as _, ValueRef as _};

use super::table::quoted;
use crate::data_lines;
use crate::sql::change::{Cell, Table};
use crate::sql::policy::NameSet;

/// How values of a type are kept; `None`: they can't be kept exactly.
pub(crate) fn kept_as(data_type: &str, charset: &str) -> Option<&'static str> {
    static WAYS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        data_lines(include_str!("../../../data/mysql-column-types.txt"))
            .filter_map(|line| line.split_once(' '))
            .flat_map(|(way, types)| types.split_whitespace().map(move |kind| (kind, way)))
            .collect()
    });
    static CHARSETS: LazyLock<NameSet> =
        LazyLock::new(|| NameSet::read(include_str!("../../../data/mysql-charsets.txt")));
    let way = WAYS.get(data_type).copied();
    way.filter(|_| charset.is_empty() || CHARSETS.has(charset))
}

fn is(table: &Table, column: usize, way: &str) -> bool {
    let kind = table.columns.get(column).map_or("", |column| &column.kind);
    kind.split(' ').next() == Some(way)
}

pub(crate) fn reading(table: &Table, column: usize, row: &str) -> String {
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

pub(crate) fn readings(table: &Table, row: &str) -> String {
    let all = (0..table.columns.len()).map(|at| reading(table, at, row));
    all.collect::<Vec<_>>().join(", ")
}

/// A placeholder that turns the kept text into the value.
pub(crate) fn mark(table: &Table, column: usize) -> &'static str {
    if is(table, column, "blob") {
        "UNHEX(?)"
    } else if is(table, column, "bits") {
        "CAST(? AS UNSIGNED)"
    } else {
        "?"
    }
}

pub(crate) fn cells(table: &Table, row: &MySqlRow) -> Result<Vec<Cell>, sqlx::Error> {
    (0..table.columns.len()).map(|at| Ok(cell(table, at, row.try_get_unchecked(at)?))).collect()
}

pub(crate) fn cell(table: &Table, column: usize, text: Option<String>) -> Cell {
    match text {
        None => Cell::Null,
        Some(hex) if is(table, column, "blob") => Cell::Blob(hex.to_lowercase()),
        Some(text) if text.contains('\0') => Cell::Raw(hex::encode(text)),
        Some(text) => Cell::Text(text),
    }
}

pub(crate) fn bound<'q, 'c>(
    sql: String,
    cells: impl IntoIterator<Item = &'c Cell>,
) -> Query<'q, MySql, MySqlArguments> {
    let query = sqlx::query(AssertSqlSafe(sql));
    cells.into_iter().fold(query, |query, cell| match cell {
        Cell::Text(text) | Cell::Blob(text) => query.bind(Some(text.clone())),
        Cell::Raw(hex) => query.bind(Some(String::from_utf8_lossy(&hex::decode(hex).unwrap_or_default()).into_owned())),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) => query.bind(None::<String>),
    })
}

pub(crate) fn values(row: &MySqlRow) -> Result<(Vec<Value>, usize), sqlx::Error> {
    let mut bytes = 0;
    let mut values = Vec::with_capacity(row.len());
    for at in 0..row.len() {
        let raw = row.try_get_raw(at)?;
        let info = raw.type_info().into_owned();
        // For sqlx a time of zeros is null; for the server it is not.
        let zeros = is_moment(info.name()) && row.try_get_unchecked::<&[u8], _>(at).is_ok();
        let value = if raw.is_null() && !zeros { Value::Null } else { value(row, at, &info)? };
        bytes += match &value {
            Value::Null => 4,
            Value::String(text) => text.len(),
            _ => 8,
        };
        values.push(value);
    }
    Ok((values, bytes))
}

fn is_moment(kind: &str) -> bool {
    matches!(kind, "DATE" | "DATETIME" | "TIMESTAMP")
}

fn value(row: &MySqlRow, at: usize, info: &MySqlTypeInfo) -> Result<Value, sqlx::Error> {
    let bytes = || row.try_get_unchecked::<&[u8], _>(at);
    if <u64 as Type<MySql>>::compatible(info) {
        return Ok(json!(row.try_get_unchecked::<u64, _>(at)?));
    }
    Ok(match info.name() {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
            json!(row.try_get_unchecked::<i64, _>(at)?)
        }
        "YEAR" | "BIT" => json!(row.try_get_unchecked::<u64, _>(at)?),
        "FLOAT" => single(row.try_get_unchecked(at)?),
        "DOUBLE" => number(row.try_get_unchecked::<f64, _>(at)?),
        kind if is_moment(kind) => json!(moment(bytes()?, kind == "DATE")),
        "TIME" => json!(span(bytes()?)),
        // These types' names only say that values compare bytewise, as some texts do. Texts have a character set.
        "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" | "GEOMETRY"
            if !<str as Type<MySql>>::compatible(info) =>
        {
            crate::sql::query::blob(bytes()?)
        }
        _ => json!(String::from_utf8_lossy(bytes()?)),
    })
}

/// The shortest decimal that is the same `f32`.
fn single(value: f32) -> Value {
    number(value.to_string().parse().unwrap_or(f64::from(value)))
}

fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| json!(value.to_string()), Value::Number)
}

/// Reads a time of the binary protocol: a length, then year (2 bytes), month, day, hour, minute, second, microseconds
/// (4 bytes); trailing zeros are left out.
fn moment(bytes: &[u8], date_only: bool) -> String {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let year = u16::from_le_bytes([at(1), at(2)]);
    let date = format!("{year:04}-{:02}-{:02}", at(3), at(4));
    if date_only {
        return date;
    }
    let micros = u32::from_le_bytes([at(8), at(9), at(10), at(11)]);
    format!("{date}T{:02}:{:02}:{:02}{}", at(5), at(6), at(7), part(micros))
}

fn part(micros: u32) -> String {
    if micros == 0 { String::new() } else { format!(".{micros:06}") }
}

/// Reads a duration: a length, a sign, days (4 bytes), hours, minutes, seconds, microseconds (4 bytes).
fn span(bytes: &[u8]) -> String {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let days = u32::from_le_bytes([at(2), at(3), at(4), at(5)]);
    let hours = u64::from(days) * 24 + u64::from(at(6));
    let sign = if at(1) == 1 { "-" } else { "" };
    let micros = u32::from_le_bytes([at(9), at(10), at(11), at(12)]);
    format!("{sign}{hours:02}:{:02}:{:02}{}", at(7), at(8), part(micros))
}
