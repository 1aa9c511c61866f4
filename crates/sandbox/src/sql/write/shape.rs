//! Tables whose rows can be recorded.

use rusqlite::Connection;

use crate::sql::change::{Column, Table};
use crate::sql::policy::{Policy, is_internal};

/// Most tables that are watched.
pub(super) const TABLES: usize = 1000;
/// Names of the row number, of which a table may take some for columns of its own.
const ROW_NUMBERS: [&str; 3] = ["rowid", "_rowid_", "oid"];

/// A table, and why its rows can't be put back, if they can't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub table: Table,
    /// It has columns that are closed, and so not kept.
    pub closed: bool,
}

/// The ordinary tables of the database that the policy leaves open, but no more than [`TABLES`] and one.
pub(super) fn of(conn: &Connection, policy: &Policy) -> rusqlite::Result<Vec<Shape>> {
    let sql = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name";
    let mut tables = conn.prepare_cached(sql)?;
    let found: Vec<(String, bool)> =
        tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    found
        .into_iter()
        .filter(|(name, _)| !is_internal(name) && policy.allows_table(name))
        .take(TABLES + 1)
        .map(|(name, own_key)| shape(conn, policy, &name, own_key))
        .collect()
}

fn shape(conn: &Connection, policy: &Policy, name: &str, own_key: bool) -> rusqlite::Result<Shape> {
    // Generated columns follow from the others.
    let sql = "SELECT name, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid";
    let mut statement = conn.prepare_cached(sql)?;
    let all: Vec<(String, i64, i64)> = statement
        .query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let open = |column: &str| policy.allows_column(name, column);
    let closed = all.iter().any(|(column, ..)| !open(column));
    let column = |name: &str| Column { name: name.to_owned(), kind: String::new() };
    let mut columns = Vec::new();
    let mut key = Vec::new();
    let taken = |name: &&&str| {
        let same = |(column, ..): &(String, i64, i64)| column.eq_ignore_ascii_case(name);
        all.iter().any(same)
    };
    // A key of one column may be the row number under another name, and closed.
    let hidden_key = all.iter().any(|(column, pk, _)| *pk > 0 && !open(column));
    if !own_key
        && !hidden_key
        && let Some(number) = ROW_NUMBERS.iter().find(|name| !taken(name))
    {
        key.push(0);
        columns.push(column(number));
    }
    let mut parts = Vec::new();
    for (name, pk, hidden) in &all {
        if *hidden != 0 || !open(name) {
            continue;
        }
        if own_key && *pk > 0 {
            parts.push((*pk, columns.len()));
        }
        columns.push(column(name));
    }
    parts.sort_unstable();
    if !hidden_key {
        key.extend(parts.into_iter().map(|(_, at)| at));
    }
    Ok(Shape { table: Table { name: vec![name.to_owned()], columns, key }, closed })
}

/// An identifier as SQL text.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
