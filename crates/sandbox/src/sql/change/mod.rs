//! What a write changes, row by row: shown to people, kept for an undo, and put back.

mod restore;
mod settle;
mod show;
mod snapshot;

pub(super) use restore::{Store, put_back};
pub use settle::Found;
pub(super) use settle::settle;
pub(super) use show::{SHOWN, bytes, hex, line, lines, now};
pub use snapshot::{Cell, Column, RowChange, Snapshot, Table};

use super::error::SqlError;
use super::policy::Limits;
use super::query::Rows;

/// What a statement did, or would do.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A query's rows.
    Rows(Rows),
    /// What a write changed.
    Changed(Box<Changes>),
}

/// What a write changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// How many rows. On `SQLite` with those that triggers and foreign keys changed; on servers those of the
    /// statement's own table.
    pub count: u64,
    /// The first few, one line each: `orders id=7: total 10.0 → 12.5`.
    pub lines: Vec<String>,
    /// What else a person should know.
    pub notes: Vec<String>,
    /// What puts the rows back, or why nothing does.
    pub undo: Result<Snapshot, String>,
}

impl Changes {
    /// Itself, unless there are more than may be changed.
    pub(super) fn within(self, limits: &Limits) -> Result<Self, SqlError> {
        match limits.changes {
            Some(most) if self.count > most => Err(over(Some(self.count), most)),
            _ => Ok(self),
        }
    }
}

/// More rows than may be changed; `count` where it is known.
pub(super) fn over(count: Option<u64>, most: u64) -> SqlError {
    let count = count.map_or_else(|| "more".to_owned(), |count| count.to_string());
    SqlError::Limit { what: format!("it would change {count} rows, at most {most} may change; nothing was changed") }
}
