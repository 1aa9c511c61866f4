use crate::text::clip;
use serde_json::{Value, json};
use std::fmt::Write as _;
use steward_core::tables::Schema;
use steward_core::tool::ToolOutput;
use steward_sandbox::sql::{Rows, Truncated};

/// Longest cell shown, characters.
const CELL: usize = 120;

/// Rows as a table with the column names on top and the number of rows below.
pub fn rows(rows: &Rows, limit: Option<usize>) -> String {
    let mut out = rows.columns.join(" | ");
    out.push('\n');
    for row in &rows.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        out.push_str(&cells.join(" | "));
        out.push('\n');
    }
    let count = rows.rows.len();
    let _ = write!(out, "({})", row_count(count as u64));
    if rows.truncated == Some(Truncated::Bytes) {
        out.push_str(" [truncated: more rows were left out; ask for fewer columns or rows]");
    } else if rows.truncated == Some(Truncated::Rows) || limit.is_some_and(|limit| count >= limit && count > 1) {
        out.push_str(" [there may be more: the limit was reached]");
    }
    out
}

/// The output of a query that returned rows.
pub fn output(rows: &Rows, limit: Option<usize>, sql: &str) -> ToolOutput {
    ToolOutput {
        data: Some(json!({
            "columns": rows.columns,
            "count": rows.rows.len(),
            "rows": rows.rows,
            "truncated": rows.truncated,
            "sql": sql,
        })),
        ..ToolOutput::text(self::rows(rows, limit))
    }
}

/// Columns that show words: texts that are neither a number, a time, an id nor a truth value.
pub fn columns_with_words(rows: &Rows) -> impl Iterator<Item = &str> {
    let has_words = |at: usize| rows.rows.iter().any(|row| row.get(at).is_some_and(has_words));
    rows.columns.iter().enumerate().filter(move |(at, _)| has_words(*at)).map(|(_, name)| name.as_str())
}

/// Whether a value says anything in words, whatever its column is declared to hold.
pub fn has_words(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let text = text.trim();
            let is_id = text.len() >= 32 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
            let is_time = text.starts_with(|c: char| c.is_ascii_digit())
                && text.chars().all(|c| c.is_ascii_digit() || "-:.+TZ ".contains(c));
            let is_plain = text.parse::<f64>().is_ok() || matches!(text, "" | "t" | "f" | "true" | "false");
            !(is_id || is_time || is_plain)
        }
        Value::Array(items) => items.iter().any(has_words),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| has_words(&Value::from(name.as_str())) || has_words(value))
        }
        _ => false,
    }
}

/// Such as `1 row`.
pub fn row_count(count: u64) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

/// Whether a change can be undone, or why not.
pub fn undoable<T>(undo: &Result<T, String>) -> String {
    match undo {
        Ok(_) => "can be undone".to_owned(),
        Err(why) => format!("cannot be undone: {why}"),
    }
}

pub fn schema(schema: &Schema, only: Option<&str>) -> String {
    let mut out = String::new();
    for table in schema.tables.iter().filter(|table| only.is_none_or(|name| table.name.eq_ignore_ascii_case(name))) {
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let key = if column.pk { " primary key" } else { "" };
                format!("{} {}{key}", name(&column.name), column.kind).trim_end().to_owned()
            })
            .collect();
        let kind = if table.view { "view" } else { "table" };
        let _ = write!(out, "{kind} {}: {}", name(&table.name), columns.join(", "));
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

/// As a query has to write it.
fn name(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_numeric());
    if plain && !name.is_empty() { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.replace(['\n', '\r'], " "),
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    };
    clip(&text, CELL)
}

/// To 15 digits, which a binary fraction holds exactly; further digits are rounding errors of its sums.
fn float(value: f64) -> String {
    let rounded = format!("{value:.14e}").parse().unwrap_or(value);
    if rounded == 0.0 || (1e-7..1e17).contains(&f64::abs(rounded)) {
        rounded.to_string()
    } else {
        format!("{rounded:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_lose_their_dust() {
        for (value, shown) in [
            (0.1 + 0.2, "0.3"),
            (12_345_678_901.23, "12345678901.23"),
            (999_999_999_999.99, "999999999999.99"),
            (0.123_456_789, "0.123456789"),
            (1.0 / 3.0, "0.333333333333333"),
            (123_456.0 * 654_321.0, "80779853376"),
            (-2.5, "-2.5"),
            (0.0, "0"),
            (1e300, "1e300"),
            (2.5e-9, "2.5e-9"),
        ] {
            assert_eq!(float(value), shown);
        }
    }

    #[test]
    fn names_are_shown_as_a_query_writes_them() {
        assert_eq!(
            ["price", "Jahr_2", "order date", "2019", "a\"b"].map(name),
            ["price", "Jahr_2", "\"order date\"", "\"2019\"", "\"a\"\"b\""]
        );
    }
}
