//! Changed rows as lines for people.

use super::snapshot::{Cell, RowChange, Snapshot, Table};

/// Rows that are shown.
pub(in crate::sql) const SHOWN: usize = 5;
/// Characters of a value that are shown.
const VALUE: usize = 40;
/// Values of a row that are shown.
const VALUES: usize = 8;

/// The first few rows of `snapshot`.
pub(in crate::sql) fn lines(snapshot: &Snapshot) -> Vec<String> {
    let rows = snapshot.rows.iter().take(SHOWN);
    rows.filter_map(|row| Some(line(snapshot.tables.get(row.table)?, row))).collect()
}

/// One row: `orders id=7: total 10.0 → 12.5`.
pub(in crate::sql) fn line(table: &Table, row: &RowChange) -> String {
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
pub(in crate::sql) fn now(table: &Table, cells: &[Cell]) -> String {
    format!("{} is: {}", label(table, cells), all(table, cells))
}

/// Which row: `orders id=7`.
pub(super) fn label(table: &Table, cells: &[Cell]) -> String {
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
        Cell::Text(text) => cut(text),
        Cell::Raw(hex) => cut(&String::from_utf8_lossy(&bytes(hex))),
        Cell::Blob(hex) => format!("{} bytes x'{}'", hex.len() / 2, cut(hex)),
    }
}

fn cut(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = text.chars().take(VALUE).map(plain).collect();
    if text.chars().nth(VALUE).is_some() {
        shown.push('…');
    }
    shown
}

/// The bytes of a hexadecimal text, as far as it is one.
pub(in crate::sql) fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks_exact(2);
    pairs.map_while(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Bytes as a hexadecimal text.
pub(in crate::sql) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
