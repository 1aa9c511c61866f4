use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use futures_util::FutureExt as _;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{OptionalExtension as _, ToSql, params_from_iter};

use super::capture::cell;
use super::shape::{self, quoted};
use crate::sql::change::{Cell, Found, Snapshot, Store, Table, bytes, put_back, settle};
use crate::sql::error::SqlError;
use crate::sql::guard::{Guard, Session};
use crate::sql::open::Use;
use crate::sql::policy::Policy;

impl Guard {
    /// Puts rows back as they were before the write that left `snapshot`, all or none; how many changes were undone.
    /// `policy` must be the one of the write.
    ///
    /// # Errors
    /// [`SqlError::Conflict`] where rows have changed since, [`SqlError::NoUndo`]; nothing was changed then.
    pub fn put_back(path: impl AsRef<Path>, policy: Policy, snapshot: &Snapshot) -> Result<u64, SqlError> {
        let guard = Self::open_for(path.as_ref(), policy, Use::PutBack)?;
        guard.session(|session| {
            session.unaltered(snapshot)?;
            let dangling = session.dangling()?;
            let mut store = File { session };
            // Nothing of it waits.
            let done = put_back(&mut store, snapshot).now_or_never();
            let count = done.ok_or_else(|| SqlError::NoUndo("it was interrupted".to_owned()))??;
            let more = |(row, count): (_, usize)| dangling.get(&row).is_none_or(|old| count > *old);
            if session.dangling()?.into_iter().any(more) {
                return Err(SqlError::NoUndo(
                    "rows that were made since refer to what would go; nothing was changed".to_owned(),
                ));
            }
            guard.conn.execute_batch("COMMIT").map_err(|error| session.classify(error))?;
            Ok(count)
        })
    }
}

impl Guard {
    /// Takes back what a write of ours left half done when it was cut off.
    ///
    /// # Errors
    /// [`SqlError`].
    pub fn roll_back(path: impl AsRef<Path>, policy: Policy) -> Result<(), SqlError> {
        Self::open_for(path.as_ref(), policy, Use::PutBack)?.session(|_| Ok(()))
    }

    /// Whether the write that `snapshot` was recorded of is done. `later`: what was recorded of writes to the same file
    /// since, oldest first.
    ///
    /// # Errors
    /// [`SqlError`].
    pub fn settle(
        path: impl AsRef<Path>,
        policy: Policy,
        snapshot: &Snapshot,
        later: &[Snapshot],
    ) -> Result<Found, SqlError> {
        // For writing: what a crash left half written is rolled back then.
        let guard = Self::open_for(path.as_ref(), policy, Use::PutBack)?;
        guard.session(|session| {
            session.unaltered(snapshot)?;
            let mut store = File { session };
            let done = settle(&mut store, snapshot, later).now_or_never();
            done.ok_or_else(|| SqlError::NoUndo("it was interrupted".to_owned()))?
        })
    }
}

/// The rows after a write as they are stored: a trigger may be told `0.0` where the column's type makes it `0`.
pub(super) fn stored(session: &Session<'_>, snapshot: &mut Snapshot) -> Result<(), SqlError> {
    let mut store = File { session };
    let mut seen = HashSet::new();
    for row in snapshot.rows.iter_mut().rev() {
        let Some(table) = snapshot.tables.get(row.table) else {
            continue;
        };
        let key_of = |cells: &Option<Vec<Cell>>| cells.as_ref().map(|cells| table.key_of(cells));
        let (before, after) = (key_of(&row.before), key_of(&row.after));
        if let Some(key) = after
            && seen.insert((row.table, format!("{key:?}")))
        {
            let found = store.current(table, &key).now_or_never().transpose()?;
            row.after = found.flatten().or(row.after.take());
        }
        if let Some(key) = before {
            seen.insert((row.table, format!("{key:?}")));
        }
    }
    Ok(())
}

/// How many there are of each: rows of tables without row numbers look alike.
type Dangling = BTreeMap<(String, Option<i64>, String, i64), usize>;

impl Session<'_> {
    fn unaltered(&self, snapshot: &Snapshot) -> Result<(), SqlError> {
        let guard = self.guard;
        let now = shape::of(&guard.conn, &guard.policy).map_err(|e| self.classify(e))?;
        let same = |table: &Table| now.iter().any(|shape| shape.table == *table);
        match snapshot.tables.iter().find(|table| !same(table)) {
            None => Ok(()),
            Some(table) => Err(SqlError::NoUndo(format!("the columns of {} are not what they were", table.shown()))),
        }
    }

    /// Rows that refer to rows that are not there.
    fn dangling(&self) -> Result<Dangling, SqlError> {
        let sql = "SELECT \"table\", rowid, parent, fkid FROM pragma_foreign_key_check";
        let run = || {
            let mut statement = self.guard.conn.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut found = Dangling::new();
            while let Some(row) = rows.next()? {
                let row = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                *found.entry(row).or_default() += 1;
            }
            Ok(found)
        };
        run().map_err(|e| self.classify(e))
    }
}

/// The file in an open transaction.
struct File<'s, 'g> {
    session: &'s Session<'g>,
}

impl File<'_, '_> {
    fn execute(&self, sql: &str, cells: &[&Cell]) -> Result<(), SqlError> {
        let values = cells.iter().map(|cell| Bound::of(cell));
        let conn = &self.session.guard.conn;
        let done = conn.prepare_cached(sql).and_then(|mut statement| statement.execute(params_from_iter(values)));
        match done.map_err(|e| self.refused(e))? {
            1 => Ok(()),
            _ => Err(SqlError::NoUndo("a row is not there".to_owned())),
        }
    }

    fn refused(&self, error: rusqlite::Error) -> SqlError {
        match self.session.classify(error) {
            SqlError::Sqlite(error) => SqlError::NoUndo(format!("{error}; nothing was changed")),
            other => other,
        }
    }
}

impl Store for File<'_, '_> {
    async fn current(&mut self, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError> {
        let (columns, name) = (names(table), quoted(&table.shown()));
        let sql = format!("SELECT {columns} FROM main.{name} WHERE {}", named(table, 1));
        let width = table.columns.len();
        let conn = &self.session.guard.conn;
        let read = |row: &rusqlite::Row<'_>| {
            let cells = (0..width).map(|at| row.get_ref(at).map(cell));
            cells.collect::<rusqlite::Result<Vec<Cell>>>()
        };
        let found = conn.prepare_cached(&sql).and_then(|mut statement| {
            let values = params_from_iter(key.iter().map(Bound::of));
            statement.query_row(values, read).optional()
        });
        found.map_err(|e| self.refused(e))
    }

    async fn insert(&mut self, table: &Table, row: &[Cell]) -> Result<(), SqlError> {
        let (columns, name) = (names(table), quoted(&table.shown()));
        let marks = (1..=table.columns.len()).map(|at| format!("?{at}"));
        let marks = marks.collect::<Vec<_>>().join(", ");
        let sql = format!("INSERT INTO main.{name} ({columns}) VALUES ({marks})");
        self.execute(&sql, &row.iter().collect::<Vec<_>>())
    }

    async fn update(&mut self, table: &Table, now: &[Cell], row: &[Cell]) -> Result<(), SqlError> {
        let key = table.key_of(now);
        let name = quoted(&table.shown());
        let set = table.columns.iter().enumerate();
        let set = set.map(|(at, column)| format!("{} = ?{}", quoted(&column.name), at + 1));
        let set = set.collect::<Vec<_>>().join(", ");
        let which = named(table, table.columns.len() + 1);
        let sql = format!("UPDATE main.{name} SET {set} WHERE {which}");
        self.execute(&sql, &row.iter().chain(&key).collect::<Vec<_>>())
    }

    async fn delete(&mut self, table: &Table, key: &[Cell]) -> Result<(), SqlError> {
        let name = quoted(&table.shown());
        let sql = format!("DELETE FROM main.{name} WHERE {}", named(table, 1));
        self.execute(&sql, &key.iter().collect::<Vec<_>>())
    }
}

fn names(table: &Table) -> String {
    let names = table.columns.iter().map(|column| quoted(&column.name));
    names.collect::<Vec<_>>().join(", ")
}

/// The condition for a key whose values are bound from `first` on.
fn named(table: &Table, first: usize) -> String {
    let parts = table.key.iter().enumerate();
    let parts = parts.map(|(n, at)| {
        let (column, mark) = (quoted(&table.columns[*at].name), first + n);
        // The first by the index, the second by the very bytes.
        format!("{column} = ?{mark} AND {column} = ?{mark} COLLATE BINARY")
    });
    parts.collect::<Vec<_>>().join(" AND ")
}

/// A kept value as a parameter.
enum Bound {
    Value(SqlValue),
    /// A text that is none in UTF-8.
    Raw(Vec<u8>),
}

impl Bound {
    fn of(cell: &Cell) -> Self {
        Self::Value(match cell {
            Cell::Null => SqlValue::Null,
            Cell::Integer(number) => SqlValue::Integer(*number),
            Cell::Real(_) => cell.as_real().map_or(SqlValue::Null, SqlValue::Real),
            Cell::Text(text) => SqlValue::Text(text.clone()),
            Cell::Blob(hex) => SqlValue::Blob(bytes(hex)),
            Cell::Raw(hex) => return Self::Raw(bytes(hex)),
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
