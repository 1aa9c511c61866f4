//! JSON as a table: a list of objects, or an object on each line. Fields are columns in the order in which they come; those of
//! an object within are columns too, named by both, and a list stays JSON.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Instant;

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::SqlError;
use super::open::COLUMNS;
use super::table_file::{Room, TableFile, create, free, insertion, real, too_large, unreadable};
use super::text_tables::integer;

/// Objects within objects are columns down to here; what is deeper stays JSON.
const DEPTH: usize = 8;
/// Between the names of a field and of one within it, while they are told apart.
const WITHIN: char = '\u{1f}';

/// Whether a text begins as such rows do.
pub fn begins_as_json_rows(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.strip_prefix('[').unwrap_or(text).trim_start().starts_with('{')
}

pub(super) fn load(
    conn: &Connection,
    name: &str,
    one: &TableFile<'_>,
    text: &str,
    room: &mut Room,
) -> Result<(), SqlError> {
    let rows = rows_of(text.trim_start_matches('\u{feff}')).map_err(|why| unreadable(one, &why))?;
    let mut columns = Columns::default();
    for (number, row) in (1..).zip(&rows) {
        room.take(one, Instant::now())?;
        let mut add = |name: &str, cell: &str| columns.add(name, cell);
        each_cell(row, &mut add).map_err(|error| unreadable(one, &format!("row {number}: {error}")))?;
        if columns.all.len() > COLUMNS {
            return Err(too_large(one, &format!("has more than {COLUMNS} columns")));
        }
    }
    if columns.all.is_empty() {
        return Err(unreadable(one, "its objects have no fields"));
    }
    let mut names = HashSet::new();
    let shown: Vec<String> =
        (1..).zip(&columns.all).map(|(at, (name, _))| free(&shown_name(name, at), &mut names)).collect();
    let kinds: Vec<Kind> = columns.all.iter().map(|(_, column)| column.kind()).collect();
    create(conn, name, shown.iter().map(String::as_str).zip(kinds.iter().map(|kind| kind.word())))?;
    let mut insert = insertion(conn, name, kinds.len())?;
    for row in rows {
        room.in_time(one, Instant::now())?;
        let mut values = vec![SqlValue::Null; kinds.len()];
        let mut put = |name: &str, cell: &str| {
            if let Some(at) = columns.places.get(name) {
                values[*at] = kinds[*at].value(cell);
            }
        };
        // It was read before.
        each_cell(row, &mut put).map_err(|error| unreadable(one, &error.to_string()))?;
        insert.execute(params_from_iter(values)).map_err(SqlError::Sqlite)?;
    }
    Ok(())
}

fn rows_of(text: &str) -> Result<Vec<&str>, String> {
    if text.trim_start().starts_with('[') {
        let rows: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok(rows.into_iter().map(RawValue::get).collect());
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let row: &RawValue = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
            Ok(row.get())
        })
        .collect()
}

/// The fields of an object in their order, with their values as they are written.
struct Fields<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Fields<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'t> Visitor<'t> for Object {
            type Value = Fields<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Fields<'t>, A::Error> {
                let mut all = Vec::new();
                while let Some(field) = map.next_entry()? {
                    all.push(field);
                }
                Ok(Fields(all))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// Each value of a row that is not null, with the name of its column.
fn each_cell(row: &str, take: &mut dyn FnMut(&str, &str)) -> serde_json::Result<()> {
    within(row, "", DEPTH, take)
}

fn within(object: &str, above: &str, depth: usize, take: &mut dyn FnMut(&str, &str)) -> serde_json::Result<()> {
    let Fields(fields) = serde_json::from_str(object)?;
    for (field, value) in fields {
        let name = if above.is_empty() { Cow::Borrowed(&*field) } else { format!("{above}{WITHIN}{field}").into() };
        match value.get() {
            "null" => {}
            inner if inner.starts_with('{') && depth > 1 => within(inner, &name, depth - 1, take)?,
            cell => take(&name, cell),
        }
    }
    Ok(())
}

fn shown_name(name: &str, at: usize) -> String {
    let name = name.replace(WITHIN, "_");
    if name.trim().is_empty() { format!("column_{at}") } else { name.trim().to_owned() }
}

#[derive(Default)]
struct Columns {
    all: Vec<(String, Column)>,
    places: HashMap<String, usize>,
}

impl Columns {
    fn add(&mut self, name: &str, cell: &str) {
        let at = if let Some(at) = self.places.get(name) {
            *at
        } else {
            self.places.insert(name.to_owned(), self.all.len());
            self.all.push((name.to_owned(), Column::default()));
            self.all.len() - 1
        };
        if let Some((_, column)) = self.all.get_mut(at) {
            column.add(cell);
        }
    }
}

/// What all values of a column are, as far as they were seen. No digit is lost: a column with a number that can't be kept
/// exactly is a text.
struct Column {
    truth: bool,
    integer: bool,
    real: bool,
}

impl Default for Column {
    fn default() -> Self {
        Self { truth: true, integer: true, real: true }
    }
}

impl Column {
    fn add(&mut self, cell: &str) {
        self.truth &= matches!(cell, "true" | "false");
        self.integer &= integer(cell).is_some();
        self.real &= real(cell).is_some();
    }

    fn kind(&self) -> Kind {
        match self {
            Self { truth: true, .. } => Kind::Truth,
            Self { integer: true, .. } => Kind::Integer,
            Self { real: true, .. } => Kind::Real,
            _ => Kind::Text,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Truth,
    Integer,
    Real,
    Text,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Truth => "BOOLEAN",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text => "TEXT",
        }
    }

    fn value(self, cell: &str) -> SqlValue {
        let text = || serde_json::from_str(cell).unwrap_or_else(|_| cell.to_owned());
        match self {
            Self::Truth => SqlValue::Integer((cell == "true").into()),
            Self::Integer => integer(cell).map_or_else(|| SqlValue::Text(text()), SqlValue::Integer),
            Self::Real => real(cell).map_or_else(|| SqlValue::Text(text()), SqlValue::Real),
            Self::Text => SqlValue::Text(text()),
        }
    }
}
