//! Columns as fields.

use super::stored::Stored;
use super::{ColumnSample, Samples};
use crate::kinds;
use crate::model::{Field, FieldKind};
use crate::query::values::kind_in_words;
use serde_json::Value;
use steward_core::tables::{Column, Table};

/// A value with more characters makes a text of its column.
const SHORT: usize = 120;

/// A field for a column, without options and examples; `None` for bytes.
pub(super) fn describe(column: &Column, sample: Option<&ColumnSample>) -> Option<Field> {
    let fitting = kinds::of_column(&column.kind);
    let declared = *fitting.first()?;
    let values = sample.map_or(&[] as &[Value], |sample| sample.values.as_slice());
    // A server keeps no other values than it declares.
    let stored = sample.and_then(|sample| sample.stored).or_else(|| declared.is_text().then(|| Stored::of(values)));
    let mut kind = stored.and_then(|stored| stored.kind(fitting)).unwrap_or(declared);
    if kind == FieldKind::String && is_long(values) {
        kind = FieldKind::Text;
    }
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

fn is_long(values: &[Value]) -> bool {
    let mut texts = values.iter().filter_map(Value::as_str);
    texts.any(|text| text.contains('\n') || text.chars().count() > SHORT)
}

/// What to say of fields whose values are not what their columns are declared to hold.
pub(super) fn odd_kinds(table: &Table, fields: &[Field], samples: &Samples) -> impl Iterator<Item = String> {
    let odd = |field: &Field| {
        let column = table.columns.iter().find(|column| column.name == field.name)?;
        let declared = kinds::of_column(&column.kind);
        let what = kind_in_words(field.kind);
        (!declared.contains(&field.kind)).then(|| {
            let first = declared.first().copied();
            let since = match first {
                Some(FieldKind::Date | FieldKind::Datetime) if field.kind.is_number() => {
                    ", such as seconds or milliseconds since 1970: compare it with such a number"
                }
                _ => "",
            };
            format!("`{}` is declared as {}, but holds values of the kind {what}{since}.", field.name, column.kind)
        })
    };
    let unclear = |field: &Field| {
        let stored = samples.of(table, &field.name)?.stored?;
        (field.kind.is_text() && stored.has_commas()).then(|| {
            format!(
                "`{}` holds numbers such as `1,250` as texts: the comma may stand between thousands or before a fraction, \
                 so they are not added up or compared as numbers.",
                field.name
            )
        })
    };
    let unclear = fields.iter().filter_map(unclear);
    fields.iter().filter_map(odd).chain(unclear).collect::<Vec<_>>().into_iter()
}
