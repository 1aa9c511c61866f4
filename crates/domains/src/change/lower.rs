//! The statements of a change.

use serde_json::{Map, Value};

use super::{Cell, ChangeError, CheckedChange, Verb};
use crate::model::FieldKind;
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
fn as_text(sql: &mut Sql, dialect: Dialect, name: &str) {
    sql.push("CAST(");
    sql.name(name);
    sql.push(&format!(" AS {})", dialect.text()));
}

pub(super) fn read(change: &CheckedChange, dialect: Dialect) -> Option<Read> {
    if change.verb == Verb::Insert {
        return None;
    }
    let locked = locked(change);
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    sql.list(&change.fields, |sql, (name, _)| sql.name(name));
    for (at, name) in locked.iter().enumerate() {
        sql.push(", ");
        as_text(&mut sql, dialect, name);
        sql.push(&format!(" AS l{}", at + 1));
    }
    sql.push(" FROM ");
    sql.table(&change.table);
    key(&mut sql, dialect, &change.key);
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
        sql.push(" (");
        sql.list(&change.set, |sql, cell| sql.name(&cell.name));
        sql.push(") VALUES (");
        sql.list(&change.set, |sql, cell| value(sql, dialect, cell));
        sql.push(")");
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
            value(sql, dialect, cell);
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
    key(&mut sql, dialect, &change.key);
    for (name, was) in &current.locks {
        sql.push(" AND ");
        let bytes = dialect == Dialect::MySql;
        // Its texts are equal if only their case differs; bytes are not.
        sql.push(if bytes { "CAST(" } else { "" });
        as_text(&mut sql, dialect, name);
        sql.push(match dialect {
            Dialect::Sqlite => " IS ",
            Dialect::Postgres => " IS NOT DISTINCT FROM ",
            Dialect::MySql => " AS BINARY) <=> CAST(",
        });
        sql.bind(was.clone());
        sql.push(if bytes { " AS BINARY)" } else { "" });
    }
    Ok(sql.done())
}

fn key(sql: &mut Sql, dialect: Dialect, key: &[Cell]) {
    let mut word = " WHERE ";
    for cell in key {
        sql.push(word);
        word = " AND ";
        let text = matches!(cell.kind, FieldKind::String | FieldKind::Text);
        if text && dialect == Dialect::Postgres {
            // Keys can be of types that are compared with their own only.
            if OWN_TYPES.contains(&cell.native.as_str()) {
                sql.name(&cell.name);
                sql.push(" = ");
                value(sql, dialect, cell);
                continue;
            }
            as_text(sql, dialect, &cell.name);
        } else {
            sql.name(&cell.name);
        }
        sql.push(" = ");
        sql.value(cell.kind, cell.value.clone());
    }
}

/// A placeholder for a value that is stored in its column.
fn value(sql: &mut Sql, dialect: Dialect, cell: &Cell) {
    if cell.value.is_null() {
        sql.push("NULL");
        return;
    }
    let text = matches!(cell.kind, FieldKind::String | FieldKind::Text);
    match OWN_TYPES.iter().find(|own| **own == cell.native).filter(|_| text && dialect == Dialect::Postgres) {
        Some(own) => {
            sql.push("CAST(");
            sql.bind(cell.value.clone());
            sql.push(&format!(" AS {})", own.to_uppercase()));
        }
        None => sql.value(cell.kind, cell.value.clone()),
    }
}
