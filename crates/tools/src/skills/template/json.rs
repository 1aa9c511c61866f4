//! Templates in JSON: a placeholder is a value, so no text can break out of its place.

use super::error::TemplateError;
use super::parse::{Place, Template};
use super::values::Values;
use serde_json::{Map, Value};

/// Fills the strings of `source`. One that is a single placeholder becomes its value, with its type;
/// where that is absent, the field or element is left out (at the top: null).
pub fn json(source: &Value, values: &Values<'_>) -> Result<Value, TemplateError> {
    Ok(filled(source, values)?.unwrap_or(Value::Null))
}

fn filled(source: &Value, values: &Values<'_>) -> Result<Option<Value>, TemplateError> {
    match source {
        Value::String(text) => {
            let template = Template::parse(text)?;
            if let Some(slot) = template.single() {
                let value = values.get(slot);
                if value.is_none() && values.strict {
                    return Err(TemplateError::Missing { name: slot.name(), place: "there" });
                }
                return Ok(value);
            }
            Ok(template.text(values)?.map(Value::String))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| filled(item, values));
            let kept: Result<Vec<Option<Value>>, _> = items.collect();
            Ok(Some(Value::Array(kept?.into_iter().flatten().collect())))
        }
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, value) in fields {
                if let Some(value) = filled(value, values)? {
                    kept.insert(name.clone(), value);
                }
            }
            Ok(Some(Value::Object(kept)))
        }
        other => Ok(Some(other.clone())),
    }
}

/// Whether all its placeholders are inputs of `schema`; names of fields are fixed text.
pub fn check_json(source: &Value, place: Place, schema: &Value) -> Result<(), TemplateError> {
    match source {
        Value::String(text) => Template::parse(text)?.check(place, schema),
        Value::Array(items) => items.iter().try_for_each(|item| check_json(item, place, schema)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            if Template::parse(name)?.is_fixed() {
                check_json(value, place, schema)
            } else {
                Err(TemplateError::Fixed("the name of a field"))
            }
        }),
        _ => Ok(()),
    }
}
