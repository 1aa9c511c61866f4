//! Rows put back: checked against what the write left, restored in the reverse order, and checked again.

use std::collections::HashSet;

use super::settle::{Found, settle};
use super::show::label;
use super::snapshot::{Cell, Snapshot, Table};
use crate::sql::error::SqlError;

/// Rows that a refusal names.
const NAMED: usize = 5;

/// A database in an open transaction. An error means that the caller rolls back.
pub(in crate::sql) trait Store {
    /// The row of this key as it is now, locked against others.
    async fn current(&mut self, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError>;
    /// Adds a row.
    async fn insert(&mut self, table: &Table, row: &[Cell]) -> Result<(), SqlError>;
    /// Makes the row that is `now` into `row`.
    async fn update(&mut self, table: &Table, now: &[Cell], row: &[Cell]) -> Result<(), SqlError>;
    /// Removes the row of this key.
    async fn delete(&mut self, table: &Table, key: &[Cell]) -> Result<(), SqlError>;
}

/// Restores every row; how many were changed.
///
/// # Errors
/// [`SqlError::Conflict`] where a row is not as the write left it, [`SqlError::NoUndo`] where it does not come back
/// as it was.
pub(in crate::sql) async fn put_back<S: Store>(store: &mut S, snapshot: &Snapshot) -> Result<u64, SqlError> {
    if !snapshot.is_sound() {
        return Err(SqlError::NoUndo("the snapshot can't be read".to_owned()));
    }
    if let Err(error) = untouched(store, snapshot).await {
        // After any other error the transaction answers nothing more.
        if !matches!(error, SqlError::Conflict { .. }) {
            return Err(error);
        }
        // An undo that was cut off before it could be told.
        return match settle(store, snapshot, &[]).await? {
            Found::NotDone => Ok(0),
            _ => Err(error),
        };
    }
    for row in snapshot.rows.iter().rev() {
        let table = &snapshot.tables[row.table];
        match (&row.before, &row.after) {
            (Some(before), Some(after)) => {
                store.update(table, after, before).await?;
            }
            (Some(before), None) => store.insert(table, before).await?,
            (None, Some(after)) => store.delete(table, &table.key_of(after)).await?,
            (None, None) => {}
        }
    }
    restored(store, snapshot).await?;
    Ok(u64::try_from(snapshot.rows.len()).unwrap_or(u64::MAX))
}

/// Which rows have been looked at: by table and key.
#[derive(Default)]
struct Seen(HashSet<String>);

impl Seen {
    /// Whether it is new.
    fn add(&mut self, table: usize, key: &[Cell]) -> bool {
        self.0.insert(format!("{table} {key:?}"))
    }
}

/// Every row is as the write left it.
async fn untouched<S: Store>(store: &mut S, snapshot: &Snapshot) -> Result<(), SqlError> {
    let mut seen = Seen::default();
    let mut others = Vec::new();
    for row in snapshot.rows.iter().rev() {
        let table = &snapshot.tables[row.table];
        for (cells, expected) in sides(row.after.as_ref(), row.before.as_ref()) {
            let key = table.key_of(cells);
            if seen.add(row.table, &key) && store.current(table, &key).await?.as_ref() != expected {
                others.push(label(table, cells));
            }
        }
    }
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

/// Every row is as it was before.
async fn restored<S: Store>(store: &mut S, snapshot: &Snapshot) -> Result<(), SqlError> {
    let mut seen = Seen::default();
    for row in &snapshot.rows {
        let table = &snapshot.tables[row.table];
        for (cells, expected) in sides(row.before.as_ref(), row.after.as_ref()) {
            let key = table.key_of(cells);
            if seen.add(row.table, &key) && store.current(table, &key).await?.as_ref() != expected {
                let row = label(table, cells);
                return Err(SqlError::NoUndo(format!(
                    "{row} would not come back exactly as it was; nothing was changed"
                )));
            }
        }
    }
    Ok(())
}

/// The keys of a change: the row that is expected to be there, and the other, which is expected to be absent where
/// its key is another one.
fn sides<'r>(
    there: Option<&'r Vec<Cell>>,
    other: Option<&'r Vec<Cell>>,
) -> impl Iterator<Item = (&'r Vec<Cell>, Option<&'r Vec<Cell>>)> {
    let there = there.map(|cells| (cells, Some(cells)));
    there.into_iter().chain(other.map(|cells| (cells, None)))
}
