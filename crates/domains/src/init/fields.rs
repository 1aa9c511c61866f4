//! Columns as fields.

use super::ColumnSample;
use crate::kinds;
use crate::model::{Field, FieldKind};
use serde_json::Value;
use steward_core::tables::Column;

/// A value with more characters makes a text of its column.
const SHORT: usize = 120;

/// A field for a column, without options and examples; `None` for bytes.
pub(super) fn describe(column: &Column, sample: Option<&ColumnSample>) -> Option<Field> {
    let fitting = kinds::of_column(&column.kind);
    let declared = *fitting.first()?;
    let values = sample.map_or(&[] as &[Value], |sample| sample.values.as_slice());
    // Values may say more than a declared text.
    let kind = seen(values).filter(|kind| declared.is_text() && fitting.contains(kind)).unwrap_or(declared);
    Some(Field {
        name: column.name.clone(),
        kind,
        readonly: column.pk,
        filterable: true,
        trusted: None,
        options: None,
        examples: Vec::new(),
        aliases: Vec::new(),
    })
}

/// The kind that all values have.
fn seen(values: &[Value]) -> Option<FieldKind> {
    let values: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    let texts: Option<Vec<&str>> = values.iter().map(|value| value.as_str()).collect();
    if values.is_empty() {
        return None;
    }
    if values.iter().all(|value| value.is_boolean()) {
        return Some(FieldKind::Bool);
    }
    if values.iter().all(|value| value.is_i64() || value.is_u64()) {
        return Some(FieldKind::Int);
    }
    if values.iter().all(|value| value.is_number()) {
        return Some(FieldKind::Float);
    }
    let texts = texts?;
    let all = |kind| texts.iter().all(|text| kinds::value_fits(kind, text));
    if all(FieldKind::Date) {
        Some(FieldKind::Date)
    } else if all(FieldKind::Datetime) {
        Some(FieldKind::Datetime)
    } else if texts.iter().any(|text| text.contains('\n') || text.chars().count() > SHORT) {
        Some(FieldKind::Text)
    } else {
        None
    }
}
