//! Results in the form that models know: `{rows}`, `{affectedRows}`, `{success}`.

use serde_json::{Map, Value, json};
use steward_core::tables::Schema;
use steward_sandbox::sql::private_database::Outcome;
use steward_sandbox::sql::{Rows, SqlError};

pub fn of(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Rows(rows) => of_rows(rows),
        Outcome::Changed(changes) => json!({"affectedRows": changes.count}),
        Outcome::Schema(_) => json!({"success": true}),
    }
}

fn of_rows(rows: &Rows) -> Value {
    let named: Vec<Value> = rows.rows.iter().map(|row| by_name(&rows.columns, row)).collect();
    match rows.truncated {
        None => json!({"rows": named}),
        Some(_) => json!({"rows": named, "truncated": "there are more rows; ask for fewer with WHERE or LIMIT"}),
    }
}

/// A name that repeats gets a number.
fn by_name(columns: &[String], row: &[Value]) -> Value {
    let mut named = Map::new();
    for (column, value) in columns.iter().zip(row) {
        let mut name = column.clone();
        let mut number = 1;
        while named.contains_key(&name) {
            number += 1;
            name = format!("{column}_{number}");
        }
        named.insert(name, value.clone());
    }
    Value::Object(named)
}

/// An error with the tables there are, since a model can't look at the schema itself.
pub fn error_text(error: &SqlError, schema: &Schema) -> String {
    let names: Vec<String> = schema
        .tables
        .iter()
        .map(|table| {
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            format!("{}({})", table.name, columns.join(", "))
        })
        .collect();
    let tables = if names.is_empty() {
        "your database has no tables yet; begin with CREATE TABLE ai_…".to_owned()
    } else {
        format!("your tables: {}", names.join(", "))
    };
    match error {
        SqlError::Denied { .. } | SqlError::Syntax { .. } => format!("{error}; {tables}"),
        _ => error.to_string(),
    }
}
