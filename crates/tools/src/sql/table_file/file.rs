//! A file of rows as a table of one.

use crate::sql::source::{Found, Source};
use crate::suggest::extract::text::parts;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use steward_sandbox::sql::{Column, Schema, Table};

/// Bytes beyond which a file is not looked into.
const MOST_BYTES: u64 = 8 << 20;
/// Columns beyond which it is no table that people ask about.
const MOST_COLUMNS: usize = 200;
/// Different values up to which a column is taken as one of kinds.
const FEW: usize = 60;

/// A CSV or TSV file, read.
pub struct RowFile {
    schema: Schema,
    rows: Vec<Vec<String>>,
    /// What stands between values.
    pub separator: char,
    /// Whether some values are quoted.
    pub quoted: bool,
}

impl RowFile {
    /// Reads a file; `None` if it is large, no text, or has no header.
    pub fn open(file: &Path, name: &str) -> Option<Self> {
        let meta = std::fs::symlink_metadata(file).ok()?;
        if !meta.is_file() || meta.len() > MOST_BYTES {
            return None;
        }
        let text = std::fs::read_to_string(file).ok()?;
        let header = text.lines().next()?;
        let separator = ['\t', ';', ',']
            .into_iter()
            .max_by_key(|mark| header.matches(*mark).count())?;
        let columns = split(header, separator);
        let plain = columns
            .iter()
            .all(|name| !name.trim().is_empty() && name.parse::<f64>().is_err());
        if columns.len() < 2 || columns.len() > MOST_COLUMNS || !plain {
            return None;
        }
        let rows: Vec<Vec<String>> = text
            .lines()
            .skip(1)
            .filter(|line| !line.is_empty())
            .map(|line| split(line, separator))
            .collect();
        let base = name.rsplit('/').next()?.rsplit_once('.')?.0;
        let columns = columns
            .iter()
            .enumerate()
            .map(|(at, name)| Column {
                name: name.trim().to_owned(),
                kind: kind(&rows, at).to_owned(),
                pk: false,
                not_null: false,
            })
            .collect();
        let table = Table {
            name: parts(base).join("_"),
            view: false,
            columns,
            foreign_keys: Vec::new(),
            row_estimate: u64::try_from(rows.len()).ok(),
        };
        Some(Self {
            schema: Schema {
                tables: vec![table],
            },
            rows,
            separator,
            quoted: text.contains('"'),
        })
    }

    /// Where a column stands, from 1.
    pub fn place(&self, column: &str) -> Option<usize> {
        self.columns()
            .iter()
            .position(|known| known.name == column)
            .map(|at| at + 1)
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        self.schema
            .tables
            .first()
            .map(|table| table.columns.as_slice())
            .unwrap_or_default()
    }

    fn values(&self, at: usize) -> impl Iterator<Item = &str> {
        self.rows
            .iter()
            .filter_map(move |row| row.get(at))
            .map(|value| value.trim())
            .filter(|value| !value.is_empty())
    }
}

/// Values of one line. Quotation marks group; doubled ones stand for themselves.
fn split(line: &str, separator: char) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut inside = false;
    let mut chars = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = chars.next() {
        let Some(last) = out.last_mut() else { break };
        match c {
            '"' if inside && chars.peek() == Some(&'"') => {
                chars.next();
                last.push('"');
            }
            '"' => inside = !inside,
            c if c == separator && !inside => out.push(String::new()),
            c => last.push(c),
        }
    }
    out
}

/// `REAL` where every value is a number, else `TEXT`.
fn kind(rows: &[Vec<String>], at: usize) -> &'static str {
    let mut values = rows
        .iter()
        .filter_map(|row| row.get(at))
        .map(|value| value.trim())
        .filter(|value| !value.is_empty())
        .peekable();
    if values.peek().is_some() && values.all(|value| value.parse::<f64>().is_ok()) {
        "REAL"
    } else {
        "TEXT"
    }
}

impl Source for RowFile {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn whole(&self, texts: &[String]) -> Vec<Found> {
        let mut found = Vec::new();
        for (at, column) in self
            .columns()
            .iter()
            .enumerate()
            .filter(|(_, column)| column.kind == "TEXT")
        {
            let all: BTreeSet<&str> = self.values(at).collect();
            found.extend(
                all.iter()
                    .filter(|value| texts.contains(&value.to_ascii_lowercase()))
                    .take(20)
                    .map(|value| Found {
                        table: self.schema.tables[0].name.clone(),
                        column: column.name.clone(),
                        value: (*value).to_owned(),
                        few: all.len() <= FEW,
                    }),
            );
        }
        found
    }

    fn part(&self, text: &str) -> Vec<(String, String)> {
        let text = text.to_lowercase();
        self.columns()
            .iter()
            .enumerate()
            .filter(|(at, column)| {
                column.kind == "TEXT"
                    && self
                        .values(*at)
                        .any(|value| value.to_lowercase().contains(&text))
            })
            .map(|(_, column)| (self.schema.tables[0].name.clone(), column.name.clone()))
            .collect()
    }

    fn sample(&self, _table: &str, column: &str) -> Option<Value> {
        let at = self.place(column)? - 1;
        let value = self.values(at).next()?;
        Some(
            value
                .parse::<i64>()
                .map_or_else(|_| Value::from(value), Value::from),
        )
    }
}
