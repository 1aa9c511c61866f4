//! Restores rows in reverse order, checked before and after; also finds out whether an interrupted write was done.

use std::collections::{HashMap, HashSet};

use super::{Cell, Snapshot, Table, label};
use crate::sql::error::SqlError;

const NAMED: usize = 5;

/// A database in an open transaction, and how its SQL is written. After an error the caller rolls back.
pub(crate) trait Store {
    /// Ends the SELECT of a row, to lock it.
    const LOCK: &'static str = " FOR UPDATE";
    /// Follows the columns of an INSERT.
    const OVERRIDE: &'static str = "";

    fn quoted(name: &str) -> String;
    /// A placeholder for a value of the column, the `number`-th of the statement.
    fn mark(table: &Table, column: usize, number: usize) -> String;
    /// What is selected, so that [`Store::fetch`] can read the row.
    fn selected(table: &Table) -> String;
    async fn fetch(&mut self, sql: String, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError>;
    async fn execute(&mut self, sql: String, values: &[&Cell]) -> Result<u64, SqlError>;

    fn full_name(table: &Table) -> String {
        table.name.iter().map(|part| Self::quoted(part)).collect::<Vec<_>>().join(".")
    }

    /// The condition for a key whose values are bound from `first` on. `row` names the table, with a dot, or is empty.
    fn key_condition(table: &Table, row: &str, first: usize) -> String {
        let parts = table.key.iter().enumerate().map(|(n, at)| {
            let column = Self::quoted(&table.columns[*at].name);
            format!("{row}{column} = {}", Self::mark(table, *at, first + n))
        });
        parts.collect::<Vec<_>>().join(" AND ")
    }

    /// The columns that an update of the row `now` to `row` sets.
    fn columns_to_set(table: &Table, _now: &[Cell], _row: &[Cell]) -> Vec<usize> {
        (0..table.columns.len()).collect()
    }

    async fn current(&mut self, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError> {
        let (selected, name) = (Self::selected(table), Self::full_name(table));
        let sql = format!("SELECT {selected} FROM {name} WHERE {}{}", Self::key_condition(table, "", 1), Self::LOCK);
        self.fetch(sql, table, key).await.map_err(nothing_changed)
    }

    async fn insert(&mut self, table: &Table, row: &[Cell]) -> Result<(), SqlError> {
        let columns: Vec<String> = table.columns.iter().map(|column| Self::quoted(&column.name)).collect();
        let marks: Vec<String> = (0..table.columns.len()).map(|at| Self::mark(table, at, at + 1)).collect();
        let sql = format!(
            "INSERT INTO {} ({}){} VALUES ({})",
            Self::full_name(table),
            columns.join(", "),
            Self::OVERRIDE,
            marks.join(", ")
        );
        self.change_one(sql, &row.iter().collect::<Vec<_>>()).await
    }

    async fn update(&mut self, table: &Table, now: &[Cell], row: &[Cell]) -> Result<(), SqlError> {
        let columns = Self::columns_to_set(table, now, row);
        if columns.is_empty() {
            return Ok(());
        }
        let set = columns.iter().enumerate().map(|(n, at)| {
            let column = Self::quoted(&table.columns[*at].name);
            format!("{column} = {}", Self::mark(table, *at, n + 1))
        });
        let set = set.collect::<Vec<_>>().join(", ");
        let condition = Self::key_condition(table, "", columns.len() + 1);
        let sql = format!("UPDATE {} SET {set} WHERE {condition}", Self::full_name(table));
        let key = table.key_of(now);
        let values: Vec<&Cell> = columns.iter().map(|at| &row[*at]).chain(&key).collect();
        self.change_one(sql, &values).await
    }

    async fn delete(&mut self, table: &Table, key: &[Cell]) -> Result<(), SqlError> {
        let sql = format!("DELETE FROM {} WHERE {}", Self::full_name(table), Self::key_condition(table, "", 1));
        self.change_one(sql, &key.iter().collect::<Vec<_>>()).await
    }

    async fn change_one(&mut self, sql: String, values: &[&Cell]) -> Result<(), SqlError> {
        match self.execute(sql, values).await.map_err(nothing_changed)? {
            1 => Ok(()),
            _ => Err(SqlError::NoUndo("a row is not there".to_owned())),
        }
    }
}

fn nothing_changed(error: SqlError) -> SqlError {
    match error {
        SqlError::Server(message) => SqlError::NoUndo(format!("{message}; nothing was changed")),
        SqlError::Sqlite(error) => SqlError::NoUndo(format!("{error}; nothing was changed")),
        other => other,
    }
}

/// Returns how many changes were undone; [`SqlError::Conflict`] or [`SqlError::NoUndo`] if that is not possible.
pub(crate) async fn put_back<S: Store>(store: &mut S, snapshot: &Snapshot) -> Result<u64, SqlError> {
    snapshot.check()?;
    if let Err(error) = untouched(store, snapshot).await {
        // After another error the transaction accepts nothing more.
        if !matches!(error, SqlError::Conflict { .. }) {
            return Err(error);
        }
        // Maybe an earlier undo was done and its end was not recorded.
        return match settle(store, snapshot, &[]).await? {
            WriteState::NotDone => Ok(0),
            _ => Err(error),
        };
    }
    for row in snapshot.rows.iter().rev() {
        let table = &snapshot.tables[row.table];
        match (&row.before, &row.after) {
            (Some(before), Some(after)) => store.update(table, after, before).await?,
            (Some(before), None) => store.insert(table, before).await?,
            (None, Some(after)) => store.delete(table, &table.key_of(after)).await?,
            (None, None) => {}
        }
    }
    restored(store, snapshot).await?;
    Ok(u64::try_from(snapshot.rows.len()).unwrap_or(u64::MAX))
}

/// Keys of rows.
#[derive(Default)]
pub(crate) struct Seen(HashSet<String>);

impl Seen {
    /// `false` if it was there.
    pub fn add(&mut self, table: usize, key: &[Cell]) -> bool {
        self.0.insert(format!("{table} {key:?}"))
    }
}

async fn untouched<S: Store>(store: &mut S, snapshot: &Snapshot) -> Result<(), SqlError> {
    let rows = snapshot.rows.iter().rev().map(|row| (row.table, row.after.as_ref(), row.before.as_ref()));
    let mut others = others(store, snapshot, rows).await?;
    if others.is_empty() {
        return Ok(());
    }
    let more = others.len().saturating_sub(NAMED);
    others.truncate(NAMED);
    let mut rows = others.join(", ");
    if more > 0 {
        rows = format!("{rows} and {more} more");
    }
    Err(SqlError::Conflict { rows })
}

async fn restored<S: Store>(store: &mut S, snapshot: &Snapshot) -> Result<(), SqlError> {
    let rows = snapshot.rows.iter().map(|row| (row.table, row.before.as_ref(), row.after.as_ref()));
    match others(store, snapshot, rows).await?.first() {
        None => Ok(()),
        Some(row) => Err(SqlError::NoUndo(format!("{row} would not come back exactly as it was; nothing was changed"))),
    }
}

/// The rows that are not as expected. For each change: its table, the row that must be there, and the other side, whose
/// key must be free if it is another one.
async fn others<'r, S: Store>(
    store: &mut S,
    snapshot: &Snapshot,
    expected: impl Iterator<Item = (usize, Row<'r>, Row<'r>)>,
) -> Result<Vec<String>, SqlError> {
    let mut seen = Seen::default();
    let mut others = Vec::new();
    for (at, there, other) in expected {
        let table = &snapshot.tables[at];
        for (cells, expected) in there.map(|cells| (cells, there)).into_iter().chain(other.map(|cells| (cells, None))) {
            let key = table.key_of(cells);
            if seen.add(at, &key) && store.current(table, &key).await?.as_ref() != expected {
                others.push(label(table, cells));
            }
        }
    }
    Ok(others)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteState {
    /// Each row is as the write leaves it.
    Done,
    /// Each row is as it was before.
    NotDone,
    /// Somebody else has changed some rows since.
    Mixed,
}

type Row<'s> = Option<&'s Vec<Cell>>;

struct Change<'s> {
    table: &'s Table,
    key: Vec<Cell>,
    before: Row<'s>,
    after: Row<'s>,
}

impl Change<'_> {
    fn name(&self) -> String {
        format!("{:?} {:?}", self.table.name, self.key)
    }
}

fn changes(snapshot: &Snapshot) -> Vec<Change<'_>> {
    let mut all: Vec<Change<'_>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in &snapshot.rows {
        let Some(table) = snapshot.tables.get(row.table) else { continue };
        let (before, after) = (row.before.as_ref(), row.after.as_ref());
        let (from, to) = (before.map(|row| table.key_of(row)), after.map(|row| table.key_of(row)));
        let parts =
            if from == to { vec![(from, before, after)] } else { vec![(from, before, None), (to, None, after)] };
        for (key, before, after) in parts {
            let Some(key) = key else { continue };
            let change = Change { table, key, before, after };
            let place = *places.entry(change.name()).or_insert(all.len());
            match all.get_mut(place) {
                Some(known) => known.after = change.after,
                None => all.push(change),
            }
        }
    }
    all
}

/// A later write of ours started from what this one left, so its record is read in place of the row.
pub(crate) async fn settle<S: Store>(
    store: &mut S,
    snapshot: &Snapshot,
    later: &[Snapshot],
) -> Result<WriteState, SqlError> {
    snapshot.check()?;
    let mut since: HashMap<String, Row<'_>> = HashMap::new();
    for change in later.iter().flat_map(changes) {
        since.entry(change.name()).or_insert(change.before);
    }
    let (mut done, mut not_done) = (true, true);
    for change in changes(snapshot) {
        let current;
        let then = if let Some(found) = since.get(&change.name()) {
            *found
        } else {
            current = store.current(change.table, &change.key).await?;
            current.as_ref()
        };
        done &= then == change.after;
        not_done &= then == change.before;
    }
    Ok(match (done, not_done) {
        (true, _) => WriteState::Done,
        (false, true) => WriteState::NotDone,
        (false, false) => WriteState::Mixed,
    })
}
