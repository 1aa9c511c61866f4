//! The statements of a change.

use serde_json::{Map, Value};

use super::{Cell, ChangeError, CheckedChange, Verb};
use crate::query::Dialect;
use crate::query::lower::Sql;

/// Types of PostgreSQL that a text does not become by itself.
const OWN_TYPES: &[&str] = &["uuid", "json", "jsonb", "inet", "cidr", "macaddr", "interval", "time"];

/// A statement that returns one row at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    pub sql: String,
    pub values: Vec<Value>,
    fields: Vec<String>,
    locked: Vec<String>,
}

/// A row when it was shown.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CurrentRow {
    pub values: Map<String, Value>,
    /// The fields whose change is noticed, as the database writes them as text: exact for every type.
    locks: Vec<(String, Value)>,
}

impl Read {
    /// The row that the statement has returned.
    pub fn row(&self, row: &[Value]) -> CurrentRow {
        let values = self.fields.iter().cloned().zip(row.iter().cloned()).collect();
        let locks = row.iter().skip(self.fields.len()).cloned();
        CurrentRow { values, locks: self.locked.iter().cloned().zip(locks).collect() }
    }
}

/// The fields that must be as they were: the version, or what changes.
fn locked(change: &CheckedChange) -> Vec<String> {
    if let Some(version) = &change.version {
        return vec![version.clone()];
    }
    match change.verb {
        Verb::Update => change.set.iter().map(|cell| cell.name.clone()).collect(),
        _ => change.fields.iter().map(|(name, _)| name.clone()).collect(),
    }
}

/// A column as the text that the database makes of it.
fn as_text(sql: &mut Sql, name: &str) {
    sql.cast(sql.dialect.text(), |sql| sql.name(name));
}

pub(super) fn read(change: &CheckedChange, dialect: Dialect) -> Option<Read> {
    if change.verb == Verb::Insert {
        return None;
    }
    let locked = locked(change);
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    sql.list(&change.fields, |sql, (name, _)| sql.name(name));
    for (number, name) in (1..).zip(&locked) {
        sql.push(", ");
        as_text(&mut sql, name);
        sql.push(&format!(" AS l{number}"));
    }
    sql.push(" FROM ");
    sql.table(&change.table);
    key(&mut sql, &change.key);
    let (sql, values) = sql.done();
    let fields = change.fields.iter().map(|(name, _)| name.clone()).collect();
    Some(Read { sql, values, fields, locked })
}

pub(super) fn write(
    change: &CheckedChange,
    current: Option<&CurrentRow>,
    dialect: Dialect,
) -> Result<(String, Vec<Value>), ChangeError> {
    let mut sql = Sql::new(dialect);
    if change.verb == Verb::Insert {
        sql.push("INSERT INTO ");
        sql.table(&change.table);
        sql.within(" (", |sql| sql.list(&change.set, |sql, cell| sql.name(&cell.name)));
        sql.within(" VALUES (", |sql| sql.list(&change.set, value));
        return Ok(sql.done());
    }
    let current = current.ok_or(ChangeError::NoCurrentRow)?;
    if current.locks.iter().map(|(name, _)| name).ne(locked(change).iter()) {
        return Err(ChangeError::OtherRow);
    }
    if change.verb == Verb::Update {
        sql.push("UPDATE ");
        sql.table(&change.table);
        sql.push(" SET ");
        sql.list(&change.set, |sql, cell| {
            sql.name(&cell.name);
            sql.push(" = ");
            value(sql, cell);
        });
        if let Some(version) = &change.version {
            sql.push(", ");
            sql.name(version);
            sql.push(" = ");
            sql.name(version);
            sql.push(" + 1");
        }
    } else {
        sql.push("DELETE FROM ");
        sql.table(&change.table);
    }
    key(&mut sql, &change.key);
    for (name, was) in &current.locks {
        sql.push(" AND ");
        match dialect {
            // Its texts are equal if only their case differs; bytes are not.
            Dialect::MySql => {
                sql.cast("BINARY", |sql| as_text(sql, name));
                sql.push(" <=> ");
                sql.cast("BINARY", |sql| sql.bind(was.clone()));
            }
            Dialect::Sqlite | Dialect::Postgres => {
                as_text(&mut sql, name);
                sql.push(if dialect == Dialect::Sqlite { " IS " } else { " IS NOT DISTINCT FROM " });
                sql.bind(was.clone());
            }
        }
    }
    Ok(sql.done())
}

fn key(sql: &mut Sql, key: &[Cell]) {
    if !key.is_empty() {
        sql.push(" WHERE ");
    }
    sql.joined(" AND ", key, |sql, cell| {
        // Keys of PostgreSQL can be of types that are compared with their own only.
        if cell.kind.is_text() && sql.dialect == Dialect::Postgres && !is_of_own_type(cell) {
            as_text(sql, &cell.name);
        } else {
            sql.name(&cell.name);
        }
        sql.push(" = ");
        value(sql, cell);
    });
}

fn is_of_own_type(cell: &Cell) -> bool {
    OWN_TYPES.contains(&cell.native.as_str())
}

/// A placeholder for a value that is stored in its column.
fn value(sql: &mut Sql, cell: &Cell) {
    if cell.value.is_null() {
        sql.push("NULL");
    } else if cell.kind.is_text() && sql.dialect == Dialect::Postgres && is_of_own_type(cell) {
        sql.cast(&cell.native.to_uppercase(), |sql| sql.bind(cell.value.clone()));
    } else {
        sql.value(cell.kind, cell.value.clone());
    }
}
