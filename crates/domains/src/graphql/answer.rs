//! Rows in the form of the selection that asked for them.

use async_graphql::SelectionField;
use serde_json::{Map, Value};

use crate::model::FieldKind;

/// What stands under a key of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A column of the row.
    Leaf { column: String, kind: FieldKind },
    /// The same in every row, such as the name of a type.
    Constant(Value),
    /// An object of columns of the same row; null where the column `present` is.
    One { present: Option<String>, fields: Fields },
    /// The rows of a relation, which stand in a column as objects.
    Embedded { column: String, fields: Fields },
    /// Columns under the ways to them.
    Group(Vec<(Vec<String>, String, FieldKind)>),
}

pub(super) type Fields = Vec<(String, Shape)>;

/// Adds what stands under a key; the same key again adds to the fields of the object there.
pub(super) fn merge(fields: &mut Fields, key: &str, shape: Shape) {
    let Some((_, there)) = fields.iter_mut().find(|(known, _)| known == key) else {
        fields.push((key.to_owned(), shape));
        return;
    };
    match (there, shape) {
        (Shape::One { fields, .. }, Shape::One { fields: more, .. })
        | (Shape::Embedded { fields, .. }, Shape::Embedded { fields: more, .. }) => {
            for (key, shape) in more {
                merge(fields, &key, shape);
            }
        }
        // Validation has seen to it that both are the same.
        _ => {}
    }
}

pub(super) fn row(fields: &Fields, row: &Map<String, Value>) -> Value {
    Value::Object(fields.iter().map(|(key, shape)| (key.clone(), value(shape, row))).collect())
}

fn value(shape: &Shape, of: &Map<String, Value>) -> Value {
    match shape {
        Shape::Leaf { column, kind } => leaf(of, column, *kind),
        Shape::Constant(value) => value.clone(),
        Shape::One { present, fields } => match present {
            Some(present) if of.get(present).is_none_or(Value::is_null) => Value::Null,
            _ => row(fields, of),
        },
        Shape::Embedded { column, fields } => match of.get(column) {
            Some(Value::Array(list)) => Value::Array(
                list.iter().map(|one| one.as_object().map_or(Value::Null, |one| row(fields, one))).collect(),
            ),
            Some(Value::Object(one)) => row(fields, one),
            _ => Value::Null,
        },
        Shape::Group(columns) => {
            let mut root = Map::new();
            for (way, column, kind) in columns {
                let Some((last, before)) = way.split_last() else { continue };
                let mut at = Some(&mut root);
                for name in before {
                    at = at.and_then(|map| {
                        map.entry(name.clone()).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
                    });
                }
                if let Some(map) = at {
                    map.insert(last.clone(), leaf(of, column, *kind));
                }
            }
            if columns.is_empty() { Value::Null } else { Value::Object(root) }
        }
    }
}

/// A decimal that the database returned as a text becomes the nearest `Float`, which has no more digits.
fn leaf(of: &Map<String, Value>, column: &str, kind: FieldKind) -> Value {
    let value = of.get(column).cloned().unwrap_or_default();
    match (kind, &value) {
        (FieldKind::Float, Value::String(text)) => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Value::from(number),
            _ => value,
        },
        _ => value,
    }
}

/// What a field is called in the answer.
pub(super) fn key_of<'a>(field: &SelectionField<'a>) -> &'a str {
    field.alias().unwrap_or_else(|| field.name())
}
