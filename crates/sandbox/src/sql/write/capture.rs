//! Records changes by temporary triggers, which also see what the database's own triggers and foreign keys do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use steward_core::locks::lock;

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;

use super::WatchedTable;
use crate::sql::catalog::{quoted, rows};
use crate::sql::change::{Cell, RowChange, SHOWN, line};
use crate::sql::policy::Limits;

/// Takes a row. No statement can call it: it is on no list.
const FUNCTION: &str = "steward_record";
/// Most changes in progress at a time, one within another.
const BEGUN: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Record {
    pub shapes: Vec<WatchedTable>,
    pub rows: Vec<RowChange>,
    pub counts: Vec<u64>,
    pub lines: Vec<String>,
    /// Why the rows are not kept, if they are not.
    pub lost: Option<String>,
    /// More rows than may be changed.
    pub over: bool,
    bytes: usize,
    begun: VecDeque<(usize, Vec<Cell>)>,
    limits: Limits,
}

/// Triggers that record, until [`Recorder::remove`] or the rollback of the transaction.
pub(super) struct Recorder {
    record: Arc<Mutex<Record>>,
    /// The triggers' names begin with it; no name in the database does.
    pub prefix: String,
    triggers: Vec<String>,
}

impl Recorder {
    pub fn start(conn: &Connection, shapes: &[WatchedTable], limits: Limits) -> rusqlite::Result<Self> {
        let mut this = Self {
            prefix: free_prefix(conn)?,
            triggers: Vec::new(),
            record: Arc::new(Mutex::new(Record {
                counts: vec![0; shapes.len()],
                limits,
                shapes: shapes.to_vec(),
                ..Record::default()
            })),
        };
        let record = Arc::clone(&this.record);
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
        conn.create_scalar_function(FUNCTION, -1, flags, move |context| {
            let mut record = lock(&record);
            record.take(context)?;
            Ok(0)
        })?;
        // Ours take each column twice.
        let usual = conn.set_limit(Limit::SQLITE_LIMIT_FUNCTION_ARG, 1000)?;
        let made = shapes.iter().enumerate().try_for_each(|(at, shape)| this.watch(conn, at, shape));
        conn.set_limit(Limit::SQLITE_LIMIT_FUNCTION_ARG, usual)?;
        made.map(|()| this)
    }

    fn watch(&mut self, conn: &Connection, at: usize, shape: &WatchedTable) -> rusqlite::Result<()> {
        let table = quoted(&shape.table.shown());
        let values = |row: &str| -> String {
            let columns = shape.table.columns.iter();
            let values = columns.map(|column| format!(", {row}.{}", quoted(&column.name)));
            values.collect()
        };
        let (old, new) = (values("OLD"), values("NEW"));
        for (time, event, values) in [
            // Foreign keys that are checked in between may turn a 3.0 of the old row into a 3.
            ("BEFORE", "UPDATE", old.clone()),
            ("BEFORE", "DELETE", old.clone()),
            ("AFTER", "INSERT", new.clone()),
            ("AFTER", "UPDATE", format!("{old}{new}")),
            ("AFTER", "DELETE", old.clone()),
        ] {
            let name = format!("{}{at}_{time}_{event}", self.prefix);
            conn.execute_batch(&format!(
                "CREATE TEMP TRIGGER {name} {time} {event} ON main.{table} BEGIN \
                 SELECT {FUNCTION}({at}, '{time} {event}'{values}); END"
            ))?;
            self.triggers.push(name);
        }
        Ok(())
    }

    pub fn record(&self) -> MutexGuard<'_, Record> {
        lock(&self.record)
    }

    pub fn remove(&self, conn: &Connection) -> rusqlite::Result<()> {
        self.triggers.iter().try_for_each(|name| conn.execute_batch(&format!("DROP TRIGGER temp.{name}")))
    }
}

impl Record {
    fn take(&mut self, context: &Context<'_>) -> rusqlite::Result<()> {
        let table = usize::try_from(context.get::<i64>(0)?).unwrap_or(usize::MAX);
        let event: String = context.get(1)?;
        let Some(shape) = self.shapes.get(table) else {
            return Ok(());
        };
        let cells: Vec<Cell> = (2..context.len()).map(|at| cell(context.get_raw(at))).collect();
        if event.starts_with("BEFORE") {
            // Rows that are left out after all leave theirs behind.
            if self.begun.len() >= BEGUN {
                self.begun.pop_front();
            }
            self.begun.push_back((table, cells));
            return Ok(());
        }
        self.counts[table] += 1;
        let count: u64 = self.counts.iter().sum();
        if self.limits.changes.is_some_and(|most| count > most) {
            self.over = true;
            return Err(rusqlite::Error::UserFunctionError("more rows than may be changed".into()));
        }
        let (mut before, after) = match event.as_str() {
            "AFTER INSERT" => (None, Some(cells)),
            "AFTER DELETE" => (Some(cells), None),
            _ => {
                let mut old = cells;
                let new = old.split_off(shape.table.columns.len().min(old.len()));
                (Some(old), Some(new))
            }
        };
        if let Some(old) = &mut before {
            let key = shape.table.key_of(old);
            let same = |(one, cells): &(usize, Vec<Cell>)| *one == table && shape.table.key_of(cells) == key;
            if let Some(at) = self.begun.iter().rposition(same)
                && let Some((_, exact)) = self.begun.drain(at..).next()
            {
                *old = exact;
            }
        }
        let row = RowChange { table, before, after };
        if self.lines.len() < SHOWN {
            self.lines.push(line(&shape.table, &row));
        }
        if shape.table.key.is_empty() {
            self.lose(format!("{} has nothing that names its rows", shape.table.shown()));
        } else if shape.closed && row.after.is_none() {
            self.lose(format!("{} has columns that are closed to skills", shape.table.shown()));
        }
        self.bytes = self.bytes.saturating_add(row.size());
        if let Some(why) = self.limits.undo_refusal(self.rows.len() + 1, self.bytes) {
            self.lose(why);
        }
        if self.lost.is_none() {
            self.rows.push(row);
        }
        Ok(())
    }

    fn lose(&mut self, why: String) {
        self.rows = Vec::new();
        self.lost.get_or_insert(why);
    }
}

pub(super) fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::real(number),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Cell::Text(text.to_owned()),
            _ => Cell::Raw(hex::encode(bytes)),
        },
        ValueRef::Blob(bytes) => Cell::Blob(hex::encode(bytes)),
    }
}

/// So that no trigger of the database is taken for ours.
fn free_prefix(conn: &Connection) -> rusqlite::Result<String> {
    let names: Vec<(String,)> = rows(conn, "SELECT lower(name) FROM main.sqlite_schema", [])?;
    let mut number = 0u64;
    loop {
        let prefix = format!("steward_{number}_");
        if !names.iter().any(|(name,)| name.starts_with(&prefix)) {
            return Ok(prefix);
        }
        number += 1;
    }
}
