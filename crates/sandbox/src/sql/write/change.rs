use std::collections::BTreeMap;
use std::collections::BTreeSet;

use rusqlite::params_from_iter;
use serde_json::Value;

use super::capture::{Record, Recorder};
use super::put_back::stored;
use super::shape;
use crate::sql::change::{Answer, Changes, Snapshot, over};
use crate::sql::error::SqlError;
use crate::sql::guard::{Guard, Session};
use crate::sql::query::{bind, fits};

impl Guard {
    /// Runs one statement that reads or changes rows, with values bound to `?1`, `?2`…; all of it or nothing. Without
    /// `keep` everything is rolled back, and only told. For a guard that was opened for writing.
    ///
    /// # Errors
    /// [`SqlError`]; nothing was changed then.
    pub fn change(&self, sql: &str, parameters: &[Value], keep: bool) -> Result<Answer, SqlError> {
        self.change_told(sql, parameters, keep, |_| Ok(()))
    }

    /// The same; `tell` is told of the changes that stay right before they are committed.
    ///
    /// # Errors
    /// [`SqlError`], also that of `tell`; nothing was changed then.
    pub fn change_told(
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
            let names = session.confine_with(Some(recorder.prefix.clone()))?;
            let mut statement = session.single(sql)?;
            let mut written = session.check_program(sql, &statement, &names)?;
            fits(&statement, &bound)?;
            if statement.readonly() {
                return session.collect(&mut statement, bound).map(Answer::Rows);
            }
            let triggers = written.iter().any(|table| watched.iter().any(|name| name.eq_ignore_ascii_case(table)));
            if !triggers {
                // Ours are told of replaced rows too then; those of the database could set each other off without end.
                drop(statement);
                session.lift()?;
                let set = self.conn.pragma_update(None, "recursive_triggers", true);
                set.map_err(|error| session.classify(error))?;
                let names = session.confine_with(Some(recorder.prefix.clone()))?;
                statement = session.single(sql)?;
                written = session.check_program(sql, &statement, &names)?;
            }
            if written.is_empty() {
                return Err(SqlError::Denied {
                    what: "a statement that does more than change rows".to_owned(),
                    hint: "Only a single SELECT, INSERT, UPDATE or DELETE is run.".to_owned(),
                });
            }
            let before = session.counts(&written, triggers)?;
            let done = statement.query(params_from_iter(bound)).and_then(|mut rows| {
                while rows.next()?.is_some() {}
                Ok(())
            });
            drop(statement);
            if recorder.record().over {
                let most = self.policy.limits.changes.unwrap_or_default();
                return Err(over(None, most));
            }
            done.map_err(|error| session.classify(error))?;
            let after = session.counts(&written, triggers)?;
            session.in_time()?;
            session.lift()?;
            let mut changes = told(&recorder.record(), &before, &after);
            if let Ok(snapshot) = &mut changes.undo {
                stored(session, snapshot)?;
            }
            let end = if keep { "COMMIT" } else { "ROLLBACK" };
            let failed = |error| session.classify(error);
            recorder.remove(&self.conn).map_err(failed)?;
            if keep {
                tell(&changes)?;
            }
            self.conn.execute_batch(end).map_err(failed)?;
            Ok(Answer::Changed(Box::new(changes)))
        })
    }
}

type Counts = BTreeMap<String, i64>;

impl Session<'_> {
    fn recorder(&self) -> Result<Recorder, SqlError> {
        let guard = self.guard;
        let limits = &guard.policy.limits;
        let shapes = shape::of(&guard.conn, &guard.policy).map_err(|e| self.classify(e))?;
        if shapes.len() > shape::TABLES {
            return Err(SqlError::Limit { what: format!("the database has more than {} tables", shape::TABLES) });
        }
        Recorder::start(&guard.conn, &shapes, limits.clone()).map_err(|e| self.classify(e))
    }

    /// Tables on which the database has triggers of its own.
    fn with_triggers(&self) -> Result<BTreeSet<String>, SqlError> {
        let run = || {
            let sql = "SELECT DISTINCT tbl_name FROM main.sqlite_schema WHERE type = 'trigger'";
            let mut statement = self.guard.conn.prepare(sql)?;
            let names = statement.query_map([], |row| row.get(0))?;
            names.collect::<rusqlite::Result<BTreeSet<String>>>()
        };
        run().map_err(|e| self.classify(e))
    }

    /// Rows of the tables that are written, where replaced rows would not be told of.
    fn counts(&self, written: &BTreeSet<String>, triggers: bool) -> Result<Counts, SqlError> {
        let tables = written.iter().filter(|_| triggers);
        let count = |table: &String| {
            let sql = format!("SELECT count(*) FROM main.{}", shape::quoted(table));
            let count = self.guard.conn.query_row(&sql, [], |row| row.get(0));
            Ok((table.clone(), count.map_err(|e| self.classify(e))?))
        };
        tables.map(count).collect()
    }
}

fn told(record: &Record, before: &Counts, after: &Counts) -> Changes {
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

/// Whether a table lost rows that were not recorded.
fn replaced(record: &Record, before: &Counts, after: &Counts) -> bool {
    before.iter().any(|(name, count)| {
        let of_table = |table: usize| {
            let shape = record.shapes.get(table);
            shape.is_some_and(|shape| shape.table.shown() == *name)
        };
        let rows = record.rows.iter().filter(|row| of_table(row.table));
        let grown: i64 = rows.map(|row| i64::from(row.after.is_some()) - i64::from(row.before.is_some())).sum();
        after.get(name) != Some(&(count + grown))
    })
}

/// Only the tables that have changed rows.
fn snapshot(record: &Record) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut places = BTreeMap::new();
    for row in &record.rows {
        let place = *places.entry(row.table).or_insert_with(|| {
            snapshot.tables.push(record.shapes[row.table].table.clone());
            snapshot.tables.len() - 1
        });
        let mut row = row.clone();
        row.table = place;
        snapshot.rows.push(row);
    }
    snapshot
}
