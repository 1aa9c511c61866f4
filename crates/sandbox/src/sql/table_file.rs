//! A file of rows (CSV, TSV, JSON, Parquet) that becomes a table, and what its readers share.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::{Connection, Statement};

use super::catalog;
use super::error::{SqlError, limit};

/// Most rows of all tables together.
const ROWS: usize = 2_000_000;
/// How long reading all of them may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Digits that a binary fraction holds whatever they are.
const DIGITS: usize = 15;

#[derive(Debug, Clone)]
pub struct TableFile<'t> {
    pub source: &'t str,
    /// The table's name; numbered if it is taken.
    pub name: &'t str,
    pub content: TableContent<'t>,
}

#[derive(Debug, Clone)]
pub enum TableContent<'t> {
    /// Lines of cells; what separates them is found out.
    Text(&'t str),
    /// A list of objects, or an object on each line.
    Json(&'t str),
    Parquet(Bytes),
}

/// How much can still be read.
#[derive(Debug)]
pub(super) struct Room {
    pub rows: usize,
    until: Instant,
}

impl Default for Room {
    fn default() -> Self {
        Self { rows: ROWS, until: Instant::now() + PATIENCE }
    }
}

impl Room {
    /// Takes one row.
    pub fn take(&mut self, file: &TableFile<'_>, now: Instant) -> Result<(), SqlError> {
        let left = self.rows.checked_sub(1);
        self.rows = left.ok_or_else(|| too_large(file, &format!("holds more than {ROWS} rows")))?;
        self.in_time(file, now)
    }

    pub fn in_time(&self, file: &TableFile<'_>, now: Instant) -> Result<(), SqlError> {
        if now > self.until {
            return Err(too_large(file, &format!("takes more than {} s to read", PATIENCE.as_secs())));
        }
        Ok(())
    }
}

pub(super) fn free(name: &str, taken: &mut HashSet<String>) -> String {
    let mut number = 1;
    let mut chosen = name.to_owned();
    while !taken.insert(chosen.to_lowercase()) {
        number += 1;
        chosen = format!("{name}_{number}");
    }
    chosen
}

/// A name that needs no quotation marks in a query.
pub(super) fn identifier(text: &str) -> String {
    let mut name: String = text.trim().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_numeric()) {
        name.insert_str(0, "t_");
    }
    name
}

fn quoted(name: &str) -> String {
    catalog::quoted(name).replace('\0', "")
}

/// Makes a table of columns, each with the word of its kind.
pub(super) fn create<'c>(
    conn: &Connection,
    name: &str,
    columns: impl Iterator<Item = (&'c str, &'static str)>,
) -> Result<(), SqlError> {
    let columns: Vec<String> = columns.map(|(column, kind)| format!("{} {kind}", quoted(column))).collect();
    let sql = format!("CREATE TABLE {} ({})", quoted(name), columns.join(", "));
    conn.execute_batch(&sql).map_err(SqlError::Sqlite)
}

/// Inserts a row of `width` values.
pub(super) fn insertion<'c>(conn: &'c Connection, name: &str, width: usize) -> Result<Statement<'c>, SqlError> {
    let places = vec!["?"; width].join(", ");
    conn.prepare(&format!("INSERT INTO {} VALUES ({places})", quoted(name))).map_err(SqlError::Sqlite)
}

pub(super) fn remove(conn: &Connection, name: &str) -> Result<(), SqlError> {
    conn.execute_batch(&format!("DROP TABLE {}", quoted(name))).map_err(SqlError::Sqlite)
}

pub(super) fn unreadable(one: &TableFile<'_>, reason: &str) -> SqlError {
    SqlError::Open { path: one.source.into(), reason: format!("it is no table of rows: {reason}") }
}

pub(super) fn too_large(one: &TableFile<'_>, what: &str) -> SqlError {
    limit(format!("{} {what}; split the file", one.source))
}

/// A number as it is written; `None` where a binary fraction might lose a digit of it.
pub(super) fn real(text: &str) -> Option<f64> {
    let number = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let plain = (whole.is_empty() || digits(whole))
        && digits(fraction)
        && digits(unsigned)
        && (whole.len() < 2 || !whole.starts_with('0'));
    let significant = [whole, fraction].concat();
    let exact = significant.trim_start_matches('0').len() <= DIGITS;
    let value: f64 = (plain && exact).then(|| text.parse().ok()).flatten()?;
    value.is_finite().then_some(value)
}
