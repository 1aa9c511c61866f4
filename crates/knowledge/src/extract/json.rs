use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::{table, text};
use serde_json::Value;

/// Lists of flat objects are tables; all else stays as it is.
pub(super) fn read(source: &str, draft: &mut Draft<'_>) -> Result<()> {
    let Some(rows) = values(source).and_then(|values| rows(&values)) else {
        return text::code(source, draft);
    };
    draft.page(None)?;
    table::add(&rows, draft)
}

/// That the text is JSON, or a value of JSON on each line.
pub(super) fn check(source: &str) -> Result<()> {
    let ignored = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text);
    let Err(error) = ignored(source) else { return Ok(()) };
    let mut lines = source.lines().filter(|line| !line.trim().is_empty());
    if source.trim().lines().nth(1).is_some() && lines.all(|line| ignored(line).is_ok()) {
        return Ok(());
    }
    // Its own words for it are about recursion.
    if error.to_string().contains("recursion") {
        return Err(ExtractError::TooDeep("its values are nested too deeply".to_owned()));
    }
    Err(ExtractError::broken(format!("it is no JSON ({error})")))
}

/// The elements of a list, or of a file with one value on each line.
fn values(source: &str) -> Option<Vec<Value>> {
    match serde_json::from_str(source) {
        Ok(Value::Array(values)) => Some(values),
        Ok(_) => None,
        Err(_) => {
            source.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).ok()).collect()
        }
    }
}

fn rows(values: &[Value]) -> Option<Vec<Vec<String>>> {
    let mut names: Vec<&String> = Vec::new();
    for value in values {
        for (name, field) in value.as_object()? {
            if field.is_object() || field.is_array() {
                return None;
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > 100 {
            return None;
        }
    }
    if names.len() < 2 || values.len() < 2 {
        return None;
    }
    let mut rows = vec![names.iter().map(|name| (*name).clone()).collect()];
    rows.extend(values.iter().map(|value| names.iter().map(|name| shown(&value[name.as_str()])).collect()));
    Some(rows)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
