//! What no text of a request may hold.

use crate::problem::Problem;
use serde_json::Value;

/// Refuses the character U+0000, which databases can't keep; `field` is where `text` stands.
pub(super) fn storable(field: &str, text: &str) -> Result<(), Problem> {
    if text.contains('\0') {
        return Err(Problem::invalid(
            field,
            format!("`{field}` holds the character U+0000"),
            "take that character out",
        ));
    }
    Ok(())
}

/// The same for every text within `value`.
pub(super) fn all_storable(path: &str, value: &Value) -> Result<(), Problem> {
    let within = |key: &str| {
        if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
    };
    match value {
        Value::String(text) => storable(if path.is_empty() { "body" } else { path }, text),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(index, item)| all_storable(&within(&index.to_string()), item))
        }
        Value::Object(map) => map.iter().try_for_each(|(key, item)| {
            storable(path, key)?;
            all_storable(&within(key), item)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
