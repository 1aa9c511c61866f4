mod put_back;

pub use put_back::WriteState;
pub(super) use put_back::{Seen, Store, put_back, settle};

use serde::{Deserialize, Serialize};

use super::error::{SqlError, limit};
use super::policy::Limits;
use super::query::Rows;

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Rows(Rows),
    Changed(Box<Changes>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Rows; on SQLite with those that triggers and foreign keys changed, on servers of the statement's own table only.
    pub count: u64,
    /// The first few, one line each: `orders id=7: total 10.0 → 12.5`.
    pub lines: Vec<String>,
    pub notes: Vec<String>,
    /// What restores the rows, or why nothing does.
    pub undo: Result<Snapshot, String>,
}

impl Changes {
    pub(super) fn unrecorded(count: u64, why: &str) -> Self {
        Self { count, lines: Vec::new(), notes: Vec::new(), undo: Err(why.to_owned()) }
    }

    /// An error if more rows changed than allowed.
    pub(super) fn within(self, limits: &Limits) -> Result<Self, SqlError> {
        match limits.changes {
            Some(most) if self.count > most => Err(over(Some(self.count), most)),
            _ => Ok(self),
        }
    }
}

/// `count` if it is known.
pub(super) fn over(count: Option<u64>, most: u64) -> SqlError {
    let count = count.map_or_else(|| "more".to_owned(), |count| count.to_string());
    limit(format!("it would change {count} rows, at most {most} may change; nothing was changed"))
}

/// Rows before and after a write, in the order in which they were changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    pub tables: Vec<Table>,
    /// On SQLite a row may occur more than once.
    pub rows: Vec<RowChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Schema and name; on SQLite the name alone.
    pub name: Vec<String>,
    /// Without generated columns, which follow from the others.
    pub columns: Vec<Column>,
    /// Columns that identify a row; empty if none do.
    pub key: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// Its type in the server's words, and how its values are kept; empty on SQLite.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowChange {
    /// Index into [`Snapshot::tables`].
    pub table: usize,
    /// `None` if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<Cell>>,
    /// `None` if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<Cell>>,
}

/// A value, kept so that it is restored bit for bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Cell {
    #[serde(rename = "n")]
    Null,
    /// On servers also numbers, times and whatever else has an exact text.
    #[serde(rename = "t")]
    Text(String),
    #[serde(rename = "i")]
    Integer(i64),
    /// The bits of a floating point number, in hexadecimal.
    #[serde(rename = "r")]
    Real(String),
    /// In hexadecimal.
    #[serde(rename = "b")]
    Blob(String),
    /// The bytes of a text in hexadecimal: in another character set, with a NUL, or broken.
    #[serde(rename = "u")]
    Raw(String),
}

impl Cell {
    pub fn real(value: f64) -> Self {
        Self::Real(format!("{:016x}", value.to_bits()))
    }

    pub fn as_real(&self) -> Option<f64> {
        match self {
            Self::Real(bits) => u64::from_str_radix(bits, 16).ok().map(f64::from_bits),
            _ => None,
        }
    }

    /// Size in a record, bytes.
    pub(crate) fn size(&self) -> usize {
        8 + match self {
            Self::Null => 0,
            Self::Integer(_) => 8,
            Self::Text(text) | Self::Real(text) | Self::Blob(text) | Self::Raw(text) => text.len(),
        }
    }
}

/// Zero is zero: a column of mixed numbers may return -0.0 as 0.0.
impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Text(a), Self::Text(b)) | (Self::Blob(a), Self::Blob(b)) | (Self::Raw(a), Self::Raw(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Real(a), Self::Real(b)) => a == b || (self.as_real() == Some(0.0) && other.as_real() == Some(0.0)),
            _ => false,
        }
    }
}

impl Eq for Cell {}

impl Table {
    pub fn shown(&self) -> String {
        self.name.last().cloned().unwrap_or_default()
    }

    pub(crate) fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        self.key.iter().filter_map(|at| row.get(*at)).cloned().collect()
    }
}

impl Snapshot {
    fn check(&self) -> Result<(), SqlError> {
        let keys = |table: &Table| !table.key.is_empty() && table.key.iter().all(|at| *at < table.columns.len());
        let fits = |row: &RowChange| {
            let Some(table) = self.tables.get(row.table) else { return false };
            let long = |cells: &Vec<Cell>| cells.len() == table.columns.len();
            (row.before.is_some() || row.after.is_some()) && row.before.iter().chain(&row.after).all(long)
        };
        if self.tables.iter().all(keys) && self.rows.iter().all(fits) {
            return Ok(());
        }
        Err(SqlError::NoUndo("the snapshot can't be read".to_owned()))
    }
}

impl RowChange {
    /// Size in a record, bytes.
    pub(crate) fn size(&self) -> usize {
        self.before.iter().chain(&self.after).flatten().map(Cell::size).sum()
    }
}

pub(crate) const SHOWN: usize = 5;
/// Characters of a value that are shown.
const VALUE: usize = 40;
/// Values of a row that are shown.
const VALUES: usize = 8;

pub(crate) fn lines(snapshot: &Snapshot) -> Vec<String> {
    let rows = snapshot.rows.iter().take(SHOWN);
    rows.filter_map(|row| Some(line(snapshot.tables.get(row.table)?, row))).collect()
}

/// One row: `orders id=7: total 10.0 → 12.5`.
pub(crate) fn line(table: &Table, row: &RowChange) -> String {
    match (&row.before, &row.after) {
        (Some(before), Some(after)) => {
            let pairs = table.columns.iter().zip(before.iter().zip(after));
            let changed = pairs.filter(|(_, (old, new))| old != new);
            let parts = changed.map(|(column, (old, new))| format!("{} {} → {}", column.name, value(old), value(new)));
            format!("{}: {}", label(table, before), joined(parts, "stays as it is"))
        }
        (Some(cells), None) => format!("{} goes: {}", label(table, cells), all(table, cells)),
        (None, Some(cells)) => format!("{} comes: {}", label(table, cells), all(table, cells)),
        (None, None) => table.shown(),
    }
}

/// A row as it is: `orders id=7 is: total=10.0`.
pub(crate) fn now(table: &Table, cells: &[Cell]) -> String {
    format!("{} is: {}", label(table, cells), all(table, cells))
}

fn label(table: &Table, cells: &[Cell]) -> String {
    let named = table.key.iter().filter_map(|at| {
        let (column, cell) = (table.columns.get(*at)?, cells.get(*at)?);
        Some(format!(" {}={}", column.name, value(cell)))
    });
    format!("{}{}", table.shown(), named.collect::<String>())
}

fn all(table: &Table, cells: &[Cell]) -> String {
    let pairs = table.columns.iter().zip(cells);
    joined(pairs.map(|(column, cell)| format!("{}={}", column.name, value(cell))), "nothing that may be shown")
}

fn joined(mut parts: impl Iterator<Item = String>, none: &str) -> String {
    let shown: Vec<String> = parts.by_ref().take(VALUES).collect();
    let more = parts.count();
    match (shown.is_empty(), more) {
        (true, _) => none.to_owned(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

fn value(cell: &Cell) -> String {
    match cell {
        Cell::Null => "NULL".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(_) => cell.as_real().map_or_else(String::new, |real| format!("{real:?}")),
        Cell::Text(text) => shorten(text),
        Cell::Raw(hex) => shorten(&String::from_utf8_lossy(&hex::decode(hex).unwrap_or_default())),
        Cell::Blob(hex) => format!("{} bytes x'{}'", hex.len() / 2, shorten(hex)),
    }
}

fn shorten(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = text.chars().take(VALUE).map(plain).collect();
    if text.chars().nth(VALUE).is_some() {
        shown.push('…');
    }
    shown
}
