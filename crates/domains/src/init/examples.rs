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

/// Nor are those of more words.
const MAX_WORDS: usize = 4;

pub(super) fn of(field: &Field, sample: &ColumnSample) -> Vec<Example> {
    let mut values: Vec<String> = Vec::new();
    for value in sample.values.iter().filter_map(written) {
        let value = if field.kind == FieldKind::Datetime { day(&value) } else { value };
        let fits = kinds::value_fits(field.kind, &value) && (field.kind != FieldKind::String || is_label(&value));
        if fits && !values.contains(&value) {
            values.push(value);
        }
    }
    let label = phrase(&field.name);
    let example = |op: &str, value: &str, text: String| Example { op: op.to_owned(), value: value.to_owned(), text };
    // Yes or no, in a database without a kind for it.
    let flag = values.len() == 2 && values.iter().all(|value| value == "0" || value == "1");
    let (op, says) = match field.kind {
        FieldKind::Int if flag && sample.distinct == Some(2) => {
            return vec![example("eq", "1", label.clone()), example("eq", "0", format!("not {label}"))];
        }
        FieldKind::String if sample.distinct.is_some_and(|distinct| distinct <= FEW) => {
            let shown = values.iter().take(usize::try_from(FEW).unwrap_or_default());
            return shown.map(|value| example("eq", value, format!("{label} is {value}"))).collect();
        }
        FieldKind::Bool => return vec![example("eq", "true", label)],
        FieldKind::Text => return Vec::new(),
        FieldKind::String => ("contains", "contains"),
        FieldKind::Int | FieldKind::Float => ("gt", "over"),
        FieldKind::Date | FieldKind::Datetime => ("gt", "after"),
    };
    values.first().map(|value| example(op, value, format!("{label} {says} {value}"))).into_iter().collect()
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

/// A code or a short label: a sentence may be a stranger's, and models read examples as the house's own words.
fn is_label(value: &str) -> bool {
    let ends_sentence = |word: &str| word.ends_with(['.', ':', ',', '\u{2026}']);
    let marks = ['!', '?', ';', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{ff1b}', '\u{ff0c}', '\u{3001}'];
    value.split_whitespace().count() <= MAX_WORDS
        && !value.contains(marks)
        && !value.split_whitespace().any(ends_sentence)
}

fn day(value: &str) -> String {
    value.split(['T', ' ']).next().unwrap_or(value).to_owned()
}
