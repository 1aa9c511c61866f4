//! Whether a write that was cut off before it could be told is done, by its rows.

use std::collections::HashMap;

use super::restore::Store;
use super::snapshot::{Cell, Snapshot, Table};
use crate::sql::error::SqlError;

/// What the rows of a write say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Each row is as the write leaves it.
    Done,
    /// Each row is as it was before.
    NotDone,
    /// Neither: somebody else has changed some since.
    Mixed,
}

type Row<'s> = Option<&'s Vec<Cell>>;

/// A row that a write changes, once: as it finds it, and as it leaves it.
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

/// The rows of a snapshot, each once, in order.
fn changes(snapshot: &Snapshot) -> Vec<Change<'_>> {
    let mut all: Vec<Change<'_>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in &snapshot.rows {
        let Some(table) = snapshot.tables.get(row.table) else {
            continue;
        };
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

/// Compares the rows of a write with the database. What writes of ours have found since is what this one left: they
/// had the database for themselves from there to their end.
pub(in crate::sql) async fn settle<S: Store>(
    store: &mut S,
    snapshot: &Snapshot,
    later: &[Snapshot],
) -> Result<Found, SqlError> {
    if !snapshot.is_sound() {
        return Err(SqlError::NoUndo("the snapshot can't be read".to_owned()));
    }
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
        (true, _) => Found::Done,
        (false, true) => Found::NotDone,
        (false, false) => Found::Mixed,
    })
}
