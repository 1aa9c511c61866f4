use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::limits::Budget;
use super::{table, text};
use serde_json::Value;

/// Lists of flat objects are tables; all else stays as it is.
pub(super) fn read(source: &str, draft: &mut Draft<'_>) -> Result<()> {
    let Some(rows) =
        Some(source).filter(|source| source.len() <= TABLE_BYTES).and_then(values).and_then(|values| rows(&values))
    else {
        return text::code(source, draft);
    };
    draft.page(None)?;
    table::add(&rows, draft)
}

/// Larger files are not made tables of, since their values take many times as much memory.
const TABLE_BYTES: usize = 32 << 20;

/// That the text is JSON, or a value of JSON on each line.
pub(super) fn check(source: &str, budget: &Budget<'_>) -> Result<()> {
    budget.depth(depth(source))?;
    let ignored = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text);
    let Err(error) = ignored(source) else { return Ok(()) };
    let mut lines = source.lines().filter(|line| !line.trim().is_empty());
    if source.trim().lines().nth(1).is_some() && lines.all(|line| ignored(line).is_ok()) {
        return Ok(());
    }
    Err(ExtractError::broken(format!("it is no JSON ({error})")))
}

/// How many lists and objects stand within each other.
fn depth(source: &str) -> usize {
    let (mut open, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in source.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' if !quoted => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
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
