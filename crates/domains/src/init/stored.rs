//! What the columns of a SQLite database hold: it keeps any value in any column, whatever type is declared.

use super::Samples;
use crate::kinds;
use crate::model::FieldKind;
use crate::query::lower::Dialect;
use serde_json::Value;
use steward_core::tables::{Column, Table};

/// Rows that are looked at.
const MOST_ROWS: usize = 200_000;
/// Columns that one statement looks at: its counts must fit into the columns that a result may have.
const AT_ONCE: usize = 25;
/// Numbers that it returns of each.
const NUMBERS: usize = 7;

/// How many values of a column have which form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stored {
    /// All that are not null.
    values: u64,
    whole: u64,
    /// Numbers with a fraction, or kept as such.
    real: u64,
    /// 0 or 1.
    flags: u64,
    /// `2024-01-31`
    days: u64,
    /// `2024-01-31 10:30`, without an offset from universal time.
    moments: u64,
    /// `1,250`: thousands, or a fraction.
    commas: u64,
}

/// Statements for SQLite that count the forms of all values of a table, with the columns that each is about.
pub fn form_counts(table: &Table) -> Vec<(String, Vec<&Column>)> {
    let quote = |name: &str| Dialect::Sqlite.quote(name);
    let counted = |column: &Column| {
        let c = quote(&column.name);
        let day = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
        let offset = "[+-][0-9][0-9]:[0-9][0-9]";
        let when = |test: String| format!("count(CASE WHEN {test} THEN 1 END)");
        let all = [
            format!("count({c})"),
            when(format!("typeof({c}) = 'integer'")),
            when(format!("typeof({c}) = 'real'")),
            when(format!("typeof({c}) = 'integer' AND {c} IN (0, 1)")),
            when(format!("typeof({c}) = 'text' AND {c} GLOB '{day}' AND date({c}) = {c}")),
            when(format!(
                "typeof({c}) = 'text' AND {c} GLOB '{day}[ T][0-9][0-9]:[0-9][0-9]*' AND NOT {c} GLOB '*{offset}' \
                 AND datetime({c}) IS NOT NULL"
            )),
            when(format!("typeof({c}) = 'text' AND {c} GLOB '*[0-9],[0-9][0-9][0-9]*' AND NOT {c} GLOB '*[^0-9,.-]*'")),
        ];
        all.join(", ")
    };
    let chunks = table.columns.chunks(AT_ONCE);
    let statement = |columns: &[Column]| {
        let counts: Vec<String> = columns.iter().map(counted).collect();
        let names: Vec<String> = columns.iter().map(|column| quote(&column.name)).collect();
        format!(
            "SELECT {} FROM (SELECT {} FROM {} LIMIT {MOST_ROWS})",
            counts.join(", "),
            names.join(", "),
            quote(&table.name)
        )
    };
    chunks.map(|columns| (statement(columns), columns.iter().collect())).collect()
}

impl Samples {
    /// Takes in the row that a statement of [`form_counts`] returned.
    pub fn add_forms(&mut self, table: &Table, columns: &[&Column], row: &[Value]) {
        let of_table = self.tables.entry(table.name.clone()).or_default();
        for (column, numbers) in columns.iter().zip(row.chunks(NUMBERS)) {
            let numbers: Vec<u64> = numbers.iter().filter_map(Value::as_u64).collect();
            if let [values, whole, real, flags, days, moments, commas] = numbers[..] {
                let stored = Stored { values, whole, real, flags, days, moments, commas };
                of_table.entry(column.name.clone()).or_default().stored = Some(stored);
            }
        }
    }
}

impl Stored {
    /// The same of a few values of a text, where not all were looked at.
    pub(super) fn of(values: &[Value]) -> Self {
        let mut stored = Self::default();
        for value in values {
            stored.values += u64::from(!value.is_null());
            stored.whole += u64::from(value.is_i64() || value.is_u64());
            stored.real += u64::from(value.is_f64());
            stored.flags += u64::from(value.is_boolean() || matches!(value.as_i64(), Some(0 | 1)));
            let Some(text) = value.as_str() else { continue };
            let day = kinds::value_fits(FieldKind::Date, text);
            stored.days += u64::from(day);
            stored.moments += u64::from(!day && kinds::value_fits(FieldKind::Datetime, text));
        }
        stored
    }

    /// Whether texts are numbers with a comma that may be one between thousands or one before a fraction.
    pub(super) fn has_commas(self) -> bool {
        self.commas > 0 && self.days + self.moments == 0
    }

    /// The kind of a column with these values that is declared as such: numbers in a column of times are no times to compare
    /// with, and texts in one of numbers can't be added up.
    pub(super) fn kind(self, fitting: &[FieldKind]) -> Option<FieldKind> {
        let declared = *fitting.first()?;
        let all = |number: u64| number == self.values;
        let (numbers, times) = (self.whole + self.real, self.days + self.moments);
        if self.values == 0 {
            return Some(declared);
        }
        let number = match () {
            () if all(self.whole) => Some(FieldKind::Int),
            () if all(numbers) => Some(FieldKind::Float),
            () => None,
        };
        let time = match () {
            () if all(self.days) => Some(FieldKind::Date),
            () if all(times) => Some(FieldKind::Datetime),
            () => None,
        };
        let text = FieldKind::String;
        let is_as_declared = match declared {
            FieldKind::Datetime => time.is_some(),
            FieldKind::Float => number.is_some(),
            FieldKind::Bool => all(self.flags),
            _ => false,
        };
        Some(match declared {
            _ if is_as_declared => declared,
            FieldKind::Date | FieldKind::Datetime => time.or(number).unwrap_or(text),
            FieldKind::Int | FieldKind::Float | FieldKind::Bool => number.unwrap_or(text),
            FieldKind::String | FieldKind::Text if all(self.flags) && self.whole == 0 => FieldKind::Bool,
            FieldKind::String | FieldKind::Text => {
                time.or(number).filter(|kind| fitting.contains(kind)).unwrap_or(declared)
            }
        })
    }
}
