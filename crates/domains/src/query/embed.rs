//! Puts the rows of relations into those that they belong to.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::lower::{Embedded, OutColumn};

/// Rows as objects by the names of their columns, without the hidden ones.
pub fn objects(columns: &[OutColumn], rows: &[Vec<Value>]) -> Vec<Map<String, Value>> {
    let object = |row: &Vec<Value>| {
        let shown = columns.iter().zip(row).filter(|(column, _)| !column.is_hidden());
        shown.map(|(column, value)| (column.name.clone(), value.clone())).collect()
    };
    rows.iter().map(object).collect()
}

/// Adds the rows of a relation to the objects of `parents`: a list, or one row or null. How many of them have more rows
/// than they were given, and how many rows each was given at most.
pub fn attach(
    objects: &mut [Map<String, Value>],
    parents: &[Vec<Value>],
    relation: &Embedded,
    rows: &[Vec<Value>],
) -> (usize, usize) {
    let (most, mut cut) = (relation.most(parents), 0);
    let mut by_key: HashMap<Vec<String>, Vec<Value>> = HashMap::new();
    for (object, row) in self::objects(&relation.columns, rows).into_iter().zip(rows) {
        by_key.entry(key(row, &relation.children)).or_default().push(Value::Object(object));
    }
    for (object, parent) in objects.iter_mut().zip(parents) {
        let mut found = by_key.get(&key(parent, &relation.parents)).cloned().unwrap_or_default();
        cut += usize::from(relation.many && found.len() > most);
        found.truncate(most);
        let value = if relation.many { Value::Array(found) } else { found.into_iter().next().unwrap_or(Value::Null) };
        object.insert(relation.name.clone(), value);
    }
    (cut, most)
}

/// Equal for equal keys, whether the database returned them as numbers or as texts.
fn key(row: &[Value], columns: &[usize]) -> Vec<String> {
    let part = |at: &usize| match row.get(*at) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        Some(other) => other.to_string(),
        None => String::new(),
    };
    columns.iter().map(part).collect()
}
