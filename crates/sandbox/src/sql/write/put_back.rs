use std::collections::BTreeMap;
use std::path::Path;

use futures_util::FutureExt as _;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{OptionalExtension as _, ToSql, params_from_iter};

use super::capture::cell;
use crate::sql::catalog::{quoted, rows};
use crate::sql::change::{Cell, Seen, Snapshot, Store, Table, WriteState, put_back, settle};
use crate::sql::error::SqlError;
use crate::sql::open::OpenMode;
use crate::sql::policy::Policy;
use crate::sql::{Guard, Session};

impl Guard {
    /// All or none; returns how many changes were undone. `policy` must be the write's. [`SqlError::Conflict`] if rows
    /// have changed since, or [`SqlError::NoUndo`]; then nothing was changed.
    pub fn put_back(path: impl AsRef<Path>, policy: Policy, snapshot: &Snapshot) -> Result<u64, SqlError> {
        let guard = Self::open_for(path.as_ref(), policy, OpenMode::PutBack)?;
        guard.session(|session| {
            session.unaltered(snapshot)?;
            let dangling = session.dangling()?;
            let count = at_once(put_back(&mut File { session }, snapshot))?;
            let more = |(row, count): (_, usize)| dangling.get(&row).is_none_or(|old| count > *old);
            if session.dangling()?.into_iter().any(more) {
                return Err(SqlError::NoUndo(
                    "rows that were made since refer to what would go; nothing was changed".to_owned(),
                ));
            }
            session.end(true)?;
            Ok(count)
        })
    }

    /// Undoes what a write of ours left half done when it was cut off.
    pub fn roll_back(path: impl AsRef<Path>, policy: Policy) -> Result<(), SqlError> {
        Self::open_for(path.as_ref(), policy, OpenMode::PutBack)?.session(|_| Ok(()))
    }

    /// Whether the write of `snapshot` is done. `later`: records of later writes to the same file, oldest first.
    pub fn settle(
        path: impl AsRef<Path>,
        policy: Policy,
        snapshot: &Snapshot,
        later: &[Snapshot],
    ) -> Result<WriteState, SqlError> {
        // For writing: what a crash left half written is then rolled back.
        let guard = Self::open_for(path.as_ref(), policy, OpenMode::PutBack)?;
        guard.session(|session| {
            session.unaltered(snapshot)?;
            at_once(settle(&mut File { session }, snapshot, later))
        })
    }
}

/// Nothing in it waits.
fn at_once<T>(work: impl Future<Output = Result<T, SqlError>>) -> Result<T, SqlError> {
    work.now_or_never().ok_or_else(|| SqlError::NoUndo("it was interrupted".to_owned()))?
}

/// The rows after a write as they are stored: a trigger may see `0.0` where the column's type makes it `0`.
pub(super) fn stored(session: &Session<'_>, snapshot: &mut Snapshot) -> Result<(), SqlError> {
    let mut seen = Seen::default();
    for row in snapshot.rows.iter_mut().rev() {
        let Some(table) = snapshot.tables.get(row.table) else { continue };
        let key_of = |cells: &Option<Vec<Cell>>| cells.as_ref().map(|cells| table.key_of(cells));
        let (before, after) = (key_of(&row.before), key_of(&row.after));
        if let Some(key) = after
            && seen.add(row.table, &key)
        {
            let found = at_once(File { session }.current(table, &key))?;
            row.after = found.or(row.after.take());
        }
        if let Some(key) = before {
            seen.add(row.table, &key);
        }
    }
    Ok(())
}

/// How many there are of each: rows of tables without row numbers look alike.
type Dangling = BTreeMap<(String, Option<i64>, String, i64), usize>;

impl Session<'_> {
    fn unaltered(&self, snapshot: &Snapshot) -> Result<(), SqlError> {
        let guard = self.guard;
        let now = super::watched_tables(&guard.conn, &guard.policy).map_err(|e| self.classify(e))?;
        let same = |table: &Table| now.iter().any(|shape| shape.table == *table);
        match snapshot.tables.iter().find(|table| !same(table)) {
            None => Ok(()),
            Some(table) => Err(SqlError::NoUndo(format!("the columns of {} are not what they were", table.shown()))),
        }
    }

    fn dangling(&self) -> Result<Dangling, SqlError> {
        let sql = "SELECT \"table\", rowid, parent, fkid FROM pragma_foreign_key_check";
        let mut found = Dangling::new();
        for row in rows(&self.guard.conn, sql, []).map_err(|e| self.classify(e))? {
            *found.entry(row).or_default() += 1;
        }
        Ok(found)
    }
}

struct File<'s, 'g> {
    session: &'s Session<'g>,
}

impl Store for File<'_, '_> {
    const LOCK: &'static str = "";

    fn quoted(name: &str) -> String {
        quoted(name)
    }

    fn full_name(table: &Table) -> String {
        format!("main.{}", quoted(&table.shown()))
    }

    fn mark(_table: &Table, _column: usize, number: usize) -> String {
        format!("?{number}")
    }

    fn selected(table: &Table) -> String {
        let names = table.columns.iter().map(|column| quoted(&column.name));
        names.collect::<Vec<_>>().join(", ")
    }

    fn key_condition(table: &Table, row: &str, first: usize) -> String {
        let parts = table.key.iter().enumerate().map(|(n, at)| {
            let (column, mark) = (quoted(&table.columns[*at].name), first + n);
            // The first by the index, the second by the exact bytes.
            format!("{row}{column} = ?{mark} AND {row}{column} = ?{mark} COLLATE BINARY")
        });
        parts.collect::<Vec<_>>().join(" AND ")
    }

    async fn fetch(&mut self, sql: String, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError> {
        let read = |row: &rusqlite::Row<'_>| {
            let cells = (0..table.columns.len()).map(|at| row.get_ref(at).map(cell));
            cells.collect::<rusqlite::Result<Vec<Cell>>>()
        };
        let found = self.session.guard.conn.prepare_cached(&sql).and_then(|mut statement| {
            let values = params_from_iter(key.iter().map(Bound::of));
            statement.query_row(values, read).optional()
        });
        found.map_err(|e| self.session.classify(e))
    }

    async fn execute(&mut self, sql: String, values: &[&Cell]) -> Result<u64, SqlError> {
        let values = params_from_iter(values.iter().map(|cell| Bound::of(cell)));
        let done = self.session.guard.conn.prepare_cached(&sql).and_then(|mut statement| statement.execute(values));
        Ok(done.map_err(|e| self.session.classify(e))? as u64)
    }
}

enum Bound {
    Value(SqlValue),
    /// A text that is no UTF-8.
    Raw(Vec<u8>),
}

impl Bound {
    fn of(cell: &Cell) -> Self {
        Self::Value(match cell {
            Cell::Null => SqlValue::Null,
            Cell::Integer(number) => SqlValue::Integer(*number),
            Cell::Real(_) => cell.as_real().map_or(SqlValue::Null, SqlValue::Real),
            Cell::Text(text) => SqlValue::Text(text.clone()),
            Cell::Blob(hex) => SqlValue::Blob(hex::decode(hex).unwrap_or_default()),
            Cell::Raw(hex) => return Self::Raw(hex::decode(hex).unwrap_or_default()),
        })
    }
}

impl ToSql for Bound {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Value(value) => value.into(),
            Self::Raw(bytes) => ValueRef::Text(bytes),
        }))
    }
}
