//! Values of conditions and of changes as the kind of their field has them.

use serde_json::{Number, Value};

use super::dates::{self, When};
use super::error::{Problem, described};
use crate::model::{Field, FieldKind};

/// Most characters of a text in a condition.
const MOST_CHARACTERS: usize = 500;

/// How a value of the kind is called.
pub(crate) fn kind_in_words(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Int => "whole number",
        FieldKind::Float => "number",
        FieldKind::String | FieldKind::Text => "text",
        FieldKind::Bool => "true or false",
        FieldKind::Date => "date",
        FieldKind::Datetime => "time",
    }
}

/// A value as it is written, the domain's own where it has one.
pub(crate) fn example(field: &Field) -> String {
    let own = field.examples.first().map(|example| example.value.as_str()).filter(|value| !value.is_empty());
    match field.kind {
        FieldKind::String | FieldKind::Text => Value::from(own.unwrap_or("…")).to_string(),
        FieldKind::Int => own.filter(|own| own.parse::<i64>().is_ok()).unwrap_or("12").to_owned(),
        FieldKind::Float => own.filter(|own| own.parse::<f64>().is_ok()).unwrap_or("1.5").to_owned(),
        FieldKind::Bool => "true".to_owned(),
        FieldKind::Date | FieldKind::Datetime => {
            let usual = if field.kind == FieldKind::Date { "2024-01-31" } else { "2024-01-31 10:30:00" };
            Value::from(own.filter(|own| dates::read(own).is_some()).unwrap_or(usual)).to_string()
        }
    }
}

pub(super) fn wrong(field: &Field, value: &Value) -> Problem {
    let (kind, example) = (kind_in_words(field.kind), example(field));
    if value.is_null() {
        return Problem::NoValue { field: field.name.clone(), example };
    }
    Problem::Value { found: described(value), kind, field: field.name.clone(), example }
}

/// A number, text or flag for the field; not for dates.
pub(super) fn plain(field: &Field, value: &Value) -> Result<Value, Problem> {
    let fitted = match (field.kind, value) {
        (FieldKind::Int, _) => int(value),
        (FieldKind::Float, _) => float(value),
        (FieldKind::String | FieldKind::Text, Value::String(text)) => return text_value(field, text),
        (FieldKind::String | FieldKind::Text, Value::Number(number)) => Some(Value::String(number.to_string())),
        (FieldKind::Bool, _) => flag(value),
        _ => None,
    };
    fitted.ok_or_else(|| wrong(field, value))
}

pub(crate) fn int(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) if number.is_i64() => Some(value.clone()),
        Value::Number(number) => whole(number.as_f64()?),
        Value::String(text) => {
            let text = text.trim();
            text.parse::<i64>().map(Value::from).ok().or_else(|| whole(text.parse().ok()?))
        }
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range in which such numbers are exact")]
fn whole(number: f64) -> Option<Value> {
    (number.fract() == 0.0 && number.abs() < 9.0e15).then(|| Value::from(number as i64))
}

pub(crate) fn float(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()).map(|_| value.clone()),
        Value::String(text) => {
            let text = text.trim();
            let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            let number = text.parse::<i64>().map(Number::from).ok();
            let number = number.or_else(|| text.parse().ok().and_then(Number::from_f64));
            number.filter(|_| plain).map(Value::Number)
        }
        _ => None,
    }
}

pub(crate) fn flag(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(Value::Bool(false)),
            Some(1) => Some(Value::Bool(true)),
            _ => None,
        },
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "1" => Some(Value::Bool(true)),
            "false" | "no" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

fn without_nul(field: &Field, text: &str) -> Result<(), Problem> {
    if text.contains('\0') {
        return Err(Problem::Other(format!("the value for `{}` has a NUL character; leave it out", field.name)));
    }
    Ok(())
}

fn text_value(field: &Field, text: &str) -> Result<Value, Problem> {
    without_nul(field, text)?;
    if text.chars().count() > MOST_CHARACTERS {
        return Err(Problem::Other(format!(
            "the value for `{}` is longer than {MOST_CHARACTERS} characters; compare with a part of it",
            field.name
        )));
    }
    Ok(Value::from(text))
}

/// A date or time for the field.
pub(super) fn when(field: &Field, value: &Value) -> Result<When, Problem> {
    let text = match value {
        Value::String(text) => text.clone(),
        // A year.
        Value::Number(number) => number.to_string(),
        other => return Err(wrong(field, other)),
    };
    dates::read(&text).ok_or_else(|| wrong(field, value))
}

/// A value that is written into the field; null empties it.
pub(crate) fn stored(field: &Field, value: &Value, most: usize) -> Result<Value, Problem> {
    match (field.kind, value) {
        (_, Value::Null) => Ok(Value::Null),
        (FieldKind::String | FieldKind::Text, Value::String(text)) => {
            without_nul(field, text)?;
            if text.len() > most {
                return Err(Problem::Other(format!("the value for `{}` is longer than {most} bytes", field.name)));
            }
            Ok(value.clone())
        }
        (FieldKind::Date, Value::String(text)) => match dates::read(text) {
            Some(When::Days { from, .. }) if text.trim().len() == 10 => Ok(Value::from(from)),
            _ => Err(wrong(field, value)),
        },
        (FieldKind::Datetime, Value::String(text)) => match dates::read(text) {
            Some(When::Moment(moment)) => Ok(Value::from(moment)),
            Some(When::Days { from, .. }) if text.trim().len() == 10 => Ok(Value::from(format!("{from} 00:00:00"))),
            _ => Err(wrong(field, value)),
        },
        _ => plain(field, value),
    }
}
