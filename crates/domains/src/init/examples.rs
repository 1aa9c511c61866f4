//! Sample values as conditions with words.

use super::ColumnSample;
use super::names::phrase;
use crate::kinds;
use crate::model::{Example, Field, FieldKind};
use serde_json::Value;

/// So many different values are all shown.
const FEW: u64 = 8;

/// Longer values are no example.
const LONGEST: usize = 40;

pub(super) fn of(field: &Field, sample: &ColumnSample) -> Vec<Example> {
    let mut values: Vec<String> = Vec::new();
    for value in sample.values.iter().filter_map(written) {
        let value = if field.kind == FieldKind::Datetime { day(&value) } else { value };
        if kinds::value_fits(field.kind, &value) && !values.contains(&value) {
            values.push(value);
        }
    }
    let label = phrase(&field.name);
    let example = |op: &str, value: &String, text: String| Example { op: op.to_owned(), value: value.clone(), text };
    let first = values.first();
    // Yes or no, in a database without a kind for it.
    let flag = values.len() == 2 && values.iter().all(|value| value == "0" || value == "1");
    match field.kind {
        FieldKind::Int if flag && sample.distinct == Some(2) => {
            vec![example("eq", &"1".to_owned(), label.clone()), example("eq", &"0".to_owned(), format!("not {label}"))]
        }
        FieldKind::String if sample.distinct.is_some_and(|distinct| distinct <= FEW) => {
            let shown = values.iter().take(usize::try_from(FEW).unwrap_or_default());
            shown.map(|value| example("eq", value, format!("{label} is {value}"))).collect()
        }
        FieldKind::String => {
            first.map(|value| example("contains", value, format!("{label} contains {value}"))).into_iter().collect()
        }
        FieldKind::Int | FieldKind::Float => {
            first.map(|value| example("gt", value, format!("{label} over {value}"))).into_iter().collect()
        }
        FieldKind::Date | FieldKind::Datetime => {
            first.map(|value| example("gt", value, format!("{label} after {value}"))).into_iter().collect()
        }
        FieldKind::Bool => vec![example("eq", &"true".to_owned(), label.clone())],
        FieldKind::Text => Vec::new(),
    }
}

fn written(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let fits = !text.is_empty() && text.chars().count() <= LONGEST && !text.chars().any(char::is_control);
    fits.then_some(text)
}

fn day(value: &str) -> String {
    value.split(['T', ' ']).next().unwrap_or(value).to_owned()
}
