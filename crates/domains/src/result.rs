//! What a result looks like, which decides how it is shown, and its values in one form for all databases.

use serde::Serialize;
use serde_json::{Number, Value};

use crate::model::FieldKind;
use crate::query::lower::OutColumn;
use crate::query::plan::Role;
use crate::query::values;

/// How a result is shown best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum Shape {
    Empty,
    /// One value, in this column.
    Number {
        column: usize,
    },
    /// One row.
    Row,
    Table,
    /// A number for each group: the columns of both.
    Series {
        x: usize,
        y: usize,
    },
}

/// The shape of a result with these columns and so many rows.
pub fn shape(columns: &[OutColumn], rows: usize) -> Shape {
    let shown: Vec<(usize, &OutColumn)> =
        columns.iter().enumerate().filter(|(_, column)| !column.is_hidden()).collect();
    let place = |of: fn(&Role) -> bool| {
        let mut found = shown.iter().filter(|(_, column)| of(&column.role)).map(|(at, _)| *at);
        (found.next(), found.next())
    };
    let groups = place(|role| matches!(role, Role::Group | Role::Time(_)));
    let number = shown.iter().find(|(_, column)| matches!(column.role, Role::Number(_)) && column.kind.is_number());
    match (rows, shown.as_slice()) {
        (0, _) => Shape::Empty,
        (1, [(column, one)]) if matches!(one.role, Role::Number(_)) => Shape::Number { column: *column },
        (1, _) => Shape::Row,
        _ => match (groups, number) {
            ((Some(x), None), Some((y, _))) => Shape::Series { x, y: *y },
            _ => Shape::Table,
        },
    }
}

/// Gives values the form that their kind has: flags, numbers and times are returned differently by each database.
pub fn tidy(columns: &[OutColumn], rows: &mut [Vec<Value>]) {
    for row in rows {
        for (column, value) in columns.iter().zip(row) {
            if let Some(form) = in_form(column.kind, value) {
                *value = form;
            }
        }
    }
}

/// `None`: the value has its form, or is not what the domain says.
fn in_form(kind: FieldKind, value: &Value) -> Option<Value> {
    match (kind, value) {
        (FieldKind::Bool, Value::Number(_)) => values::flag(value),
        (FieldKind::Int, Value::Number(number)) => {
            let float =
                number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 9.0e15)?;
            format!("{float:.0}").parse::<i64>().ok().map(Value::from)
        }
        (FieldKind::Int, Value::String(text)) => text.parse::<i64>().ok().map(Value::from),
        (FieldKind::Float, Value::Number(number)) if !number.is_f64() => {
            let float = number.as_f64().filter(|float| float.abs() < 9.0e15)?;
            Number::from_f64(float).map(Value::Number)
        }
        (FieldKind::Float, Value::String(text)) => {
            let float: f64 = text.parse().ok()?;
            let digits = |text: &str| {
                let whole = text.trim_start_matches('-').trim_start_matches('0');
                let cut = if whole.contains('.') { whole.trim_end_matches('0').trim_end_matches('.') } else { whole };
                cut.to_owned()
            };
            // A decimal that a float can't hold stays as it is.
            let exact = digits(text) == digits(&float.to_string());
            Number::from_f64(float).filter(|_| exact).map(Value::Number)
        }
        (FieldKind::Datetime, Value::String(text)) => {
            let blank = text.as_bytes().get(10) == Some(&b' ') && text.is_char_boundary(10);
            blank.then(|| Value::from(format!("{}T{}", &text[..10], &text[11..])))
        }
        (FieldKind::Date, Value::String(text)) => {
            let midnight = text.get(11..).is_some_and(|time| time.bytes().all(|b| b"0:.".contains(&b)));
            midnight.then(|| text.get(..10).map(Value::from)).flatten()
        }
        _ => None,
    }
}
