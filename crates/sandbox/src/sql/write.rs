//! Writes to SQLite files: one statement under the guard, every row that it changes recorded as SQLite changes it.

mod capture;
mod put_back;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

use super::authorizer::ONLY_ROWS;
use super::catalog::{objects, quoted, rows};
use super::change::{Answer, Changes, Column, RowChange, Snapshot, Table, over};
use super::error::{SqlError, denied, limit};
use super::policy::{Policy, is_internal};
use super::query::{bind, fits};
use super::{Guard, Session};
use capture::{Record, Recorder};
use put_back::stored;

impl Guard {
    /// Binds values to `?1`, `?2`…; all of it or nothing. Without `keep` it is rolled back and only reported. Needs a
    /// guard that was opened for writing.
    pub fn change(&self, sql: &str, parameters: &[Value], keep: bool) -> Result<Answer, SqlError> {
        self.change_with(sql, parameters, keep, |_| Ok(()))
    }

    /// Like [`Self::change`]; `before_commit` gets the changes, and its error rolls them back.
    pub fn change_with(
        &self,
        sql: &str,
        parameters: &[Value],
        keep: bool,
        tell: impl FnOnce(&Changes) -> Result<(), SqlError>,
    ) -> Result<Answer, SqlError> {
        let bound = bind(sql, parameters)?;
        self.session(|session| {
            let recorder = session.recorder()?;
            let watched = session.with_triggers()?;
            let names = session.enforce_policy(Some(recorder.prefix.clone()))?;
            let mut statement = session.single(sql)?;
            let mut written = session.check_program(sql, &statement, &names)?;
            fits(statement.parameter_count(), bound.len())?;
            if statement.readonly() {
                return session.collect(&mut statement, bound).map(Answer::Rows);
            }
            let triggers = written.iter().any(|table| watched.iter().any(|name| name.eq_ignore_ascii_case(table)));
            if !triggers {
                // With this, ours also report replaced rows; triggers of the database could set each other off
                // endlessly.
                drop(statement);
                session.lift_policy()?;
                let set = self.conn.pragma_update(None, "recursive_triggers", true);
                set.map_err(|error| session.classify(error))?;
                let names = session.enforce_policy(Some(recorder.prefix.clone()))?;
                statement = session.single(sql)?;
                written = session.check_program(sql, &statement, &names)?;
            }
            if written.is_empty() {
                return Err(denied("a statement that does more than change rows", ONLY_ROWS));
            }
            let before = session.counts(&written, triggers)?;
            let done = statement
                .query(params_from_iter(bound))
                .and_then(rusqlite::fallible_streaming_iterator::FallibleStreamingIterator::count);
            drop(statement);
            if recorder.record().over {
                let most = self.policy.limits.changes.unwrap_or_default();
                return Err(over(None, most));
            }
            done.map_err(|error| session.classify(error))?;
            let after = session.counts(&written, triggers)?;
            session.in_time()?;
            session.lift_policy()?;
            let mut changes = summary(&recorder.record(), &before, &after);
            if let Ok(snapshot) = &mut changes.undo {
                stored(session, snapshot)?;
            }
            recorder.remove(&self.conn).map_err(|error| session.classify(error))?;
            if keep {
                tell(&changes)?;
            }
            session.end(keep)?;
            Ok(Answer::Changed(Box::new(changes)))
        })
    }
}

type Counts = BTreeMap<String, i64>;

impl Session<'_> {
    fn recorder(&self) -> Result<Recorder, SqlError> {
        let guard = self.guard;
        let limits = &guard.policy.limits;
        let shapes = watched_tables(&guard.conn, &guard.policy).map_err(|e| self.classify(e))?;
        if shapes.len() > TABLES {
            return Err(limit(format!("the database has more than {TABLES} tables")));
        }
        Recorder::start(&guard.conn, &shapes, limits.clone()).map_err(|e| self.classify(e))
    }

    fn with_triggers(&self) -> Result<BTreeSet<String>, SqlError> {
        let found = objects(&self.guard.conn).map_err(|e| self.classify(e))?.into_iter();
        Ok(found.filter(|object| object.kind == "trigger").map(|trigger| trigger.table).collect())
    }

    /// Row counts of the written tables, if replaced rows would not be reported.
    fn counts(&self, written: &BTreeSet<String>, triggers: bool) -> Result<Counts, SqlError> {
        let tables = written.iter().filter(|_| triggers);
        let count = |table: &String| {
            let sql = format!("SELECT count(*) FROM main.{}", quoted(table));
            let count = self.guard.conn.query_row(&sql, [], |row| row.get(0));
            Ok((table.clone(), count.map_err(|e| self.classify(e))?))
        };
        tables.map(count).collect()
    }
}

fn summary(record: &Record, before: &Counts, after: &Counts) -> Changes {
    let count = record.counts.iter().sum();
    let mut notes = Vec::new();
    let named: Vec<String> = record
        .shapes
        .iter()
        .zip(&record.counts)
        .filter(|(_, count)| **count > 0)
        .map(|(shape, count)| format!("{} {count}", shape.table.shown()))
        .collect();
    if named.len() > 1 {
        notes.push(format!("with what triggers and foreign keys change: {}", named.join(", ")));
    }
    let undo = match &record.lost {
        Some(why) => Err(why.clone()),
        None if replaced(record, before, after) => {
            Err("rows were replaced while triggers of the database ran, which is not told".to_owned())
        }
        None => Ok(snapshot(record)),
    };
    Changes { count, lines: record.lines.clone(), notes, undo }
}

fn replaced(record: &Record, before: &Counts, after: &Counts) -> bool {
    before.iter().any(|(name, count)| {
        let rows = record.rows.iter().filter(|row| record.shapes[row.table].table.shown() == *name);
        let grown: i64 = rows.map(|row| i64::from(row.after.is_some()) - i64::from(row.before.is_some())).sum();
        after.get(name) != Some(&(count + grown))
    })
}

/// Only with tables that have changed rows.
fn snapshot(record: &Record) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut places = BTreeMap::new();
    for row in &record.rows {
        let place = *places.entry(row.table).or_insert_with(|| {
            snapshot.tables.push(record.shapes[row.table].table.clone());
            snapshot.tables.len() - 1
        });
        snapshot.rows.push(RowChange { table: place, ..row.clone() });
    }
    snapshot
}

/// Most tables that are watched.
const TABLES: usize = 1000;
/// Names of the row number, some of which a table may use for its own columns.
const ROW_NUMBERS: [&str; 3] = ["rowid", "_rowid_", "oid"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchedTable {
    pub table: Table,
    /// It has closed columns, which are not kept.
    pub closed: bool,
}

/// The ordinary tables that the policy leaves open, at most [`TABLES`] and one.
pub(crate) fn watched_tables(conn: &Connection, policy: &Policy) -> rusqlite::Result<Vec<WatchedTable>> {
    let sql = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name";
    rows::<(String, bool)>(conn, sql, [])?
        .into_iter()
        .filter(|(name, _)| !is_internal(name) && policy.allows_table(name))
        .take(TABLES + 1)
        .map(|(name, own_key)| shape(conn, policy, &name, own_key))
        .collect()
}

fn shape(conn: &Connection, policy: &Policy, name: &str, own_key: bool) -> rusqlite::Result<WatchedTable> {
    // Generated columns follow from the others.
    let sql = "SELECT name, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid";
    let all: Vec<(String, i64, i64)> = rows(conn, sql, [name])?;
    let open = |column: &str| policy.allows_column(name, column);
    let closed = all.iter().any(|(column, ..)| !open(column));
    let column = |name: &str| Column { name: name.to_owned(), kind: String::new() };
    let mut columns = Vec::new();
    let mut key = Vec::new();
    let taken = |name: &str| all.iter().any(|(column, ..)| column.eq_ignore_ascii_case(name));
    // A key of one column may be the row number under another name, and closed.
    let hidden_key = all.iter().any(|(column, pk, _)| *pk > 0 && !open(column));
    if !own_key
        && !hidden_key
        && let Some(number) = ROW_NUMBERS.into_iter().find(|name| !taken(name))
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
    Ok(WatchedTable { table: Table { name: vec![name.to_owned()], columns, key }, closed })
}
