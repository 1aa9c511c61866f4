//! Results as text.

use serde_json::Value;
use std::fmt::Write as _;
use steward_sandbox::sql::{Rows, Schema, Truncated};

/// Longest cell shown, characters.
const CELL: usize = 120;

/// Rows as a table with the columns' names on top and the number of rows below.
pub fn rows(rows: &Rows, limit: Option<usize>) -> String {
    let mut out = rows.columns.join(" | ");
    out.push('\n');
    for row in &rows.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        out.push_str(&cells.join(" | "));
        out.push('\n');
    }
    let count = rows.rows.len();
    let _ = write!(out, "({count} row{})", if count == 1 { "" } else { "s" });
    if rows.truncated == Some(Truncated::Bytes) {
        out.push_str(" [truncated: more rows were left out; ask for fewer columns or rows]");
    } else if rows.truncated == Some(Truncated::Rows)
        || limit.is_some_and(|limit| count >= limit && count > 1)
    {
        out.push_str(" [there may be more: the limit was reached]");
    }
    out
}

/// Tables and columns, one table a line.
pub fn schema(schema: &Schema, only: Option<&str>) -> String {
    let mut out = String::new();
    for table in schema
        .tables
        .iter()
        .filter(|table| only.is_none_or(|name| table.name.eq_ignore_ascii_case(name)))
    {
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let key = if column.pk { " primary key" } else { "" };
                format!("{} {}{key}", column.name, column.kind)
                    .trim_end()
                    .to_owned()
            })
            .collect();
        let kind = if table.view { "view" } else { "table" };
        let _ = write!(out, "{kind} {}: {}", table.name, columns.join(", "));
        for key in &table.foreign_keys {
            let _ = write!(out, "; {} refers to {}", key.column, key.table);
        }
        if let Some(rows) = table.row_estimate {
            let _ = write!(out, " ({rows} rows)");
        }
        out.push('\n');
    }
    out.trim_end().to_owned()
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.replace(['\n', '\r'], " "),
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    };
    if text.chars().count() > CELL {
        let mut cut: String = text.chars().take(CELL).collect();
        cut.push('…');
        return cut;
    }
    text
}

/// Without the dust that sums of binary fractions leave behind.
fn float(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if value != 0.0 && (text == "0" || text == "-0") {
        value.to_string()
    } else {
        text.to_owned()
    }
}
