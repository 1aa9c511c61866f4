//! What columns are for: labels, keys, measures, dates.

use super::super::source::{Source, is_number};
use crate::suggest::extract::text::{parts, stem};
use serde_json::Value;
use steward_sandbox::sql::{Column, Schema, Table};

/// Names of columns that say what a row is called.
const LABELS: &[&str] = &[
    "name",
    "title",
    "label",
    "fullname",
    "subject",
    "code",
    "description",
];
/// Parts of names of columns that are measured rather than counted with, best first.
const MEASURES: &[&str] = &[
    "total",
    "amount",
    "revenue",
    "price",
    "value",
    "salary",
    "cost",
    "population",
    "area",
    "score",
    "rating",
    "quantity",
    "size",
    "budget",
    "balance",
];
/// Parts of names of columns that hold dates.
const DATES: &[&str] = &[
    "date",
    "year",
    "time",
    "datetime",
    "timestamp",
    "day",
    "born",
    "birth",
    "founded",
    "created",
    "released",
    "published",
    "hired",
    "joined",
    "at",
    "on",
];

/// A table by name.
pub fn table<'s>(schema: &'s Schema, name: &str) -> Option<&'s Table> {
    schema.tables.iter().find(|table| table.name == name)
}

/// A column by name.
pub fn column<'s>(schema: &'s Schema, of: &str, name: &str) -> Option<&'s Column> {
    table(schema, of)?
        .columns
        .iter()
        .find(|column| column.name == name)
}

/// The columns that say what a row is called.
pub fn labels(table: &Table) -> Vec<String> {
    let squeezed = |column: &Column| parts(&column.name).concat();
    let person: Vec<String> = ["firstname", "lastname"]
        .iter()
        .filter_map(|wanted| {
            table
                .columns
                .iter()
                .find(|column| squeezed(column) == *wanted)
        })
        .map(|column| column.name.clone())
        .collect();
    if person.len() == 2 {
        return person;
    }
    let own = stem(&parts(&table.name).concat());
    let named = LABELS.iter().find_map(|label| {
        table.columns.iter().find(|column| {
            let name = squeezed(column);
            name == *label || name == format!("{own}{label}")
        })
    });
    let text = || {
        table
            .columns
            .iter()
            .find(|column| !column.pk && super::super::source::is_text(&column.kind))
    };
    let key = || table.columns.iter().find(|column| column.pk);
    named
        .or_else(text)
        .or_else(key)
        .map(|column| column.name.clone())
        .into_iter()
        .collect()
}

/// Whether a column is a key, its own or another table's.
pub fn is_key(table: &Table, column: &Column) -> bool {
    column.pk
        || table
            .foreign_keys
            .iter()
            .any(|key| key.column == column.name)
        || parts(&column.name).last().is_some_and(|part| part == "id")
        || (column.name.len() > 2 && column.name.ends_with("Id"))
}

/// Whether a column is a number that may be summed or compared.
pub fn is_measure(table: &Table, column: &Column) -> bool {
    is_number(&column.kind) && !is_key(table, column)
}

/// The column that a bare "largest" or "how much" speaks of.
pub fn measure(table: &Table) -> Option<&Column> {
    let candidates: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| is_measure(table, column))
        .collect();
    MEASURES
        .iter()
        .find_map(|wanted| {
            candidates
                .iter()
                .find(|column| parts(&column.name).iter().any(|part| part == wanted))
        })
        .or_else(|| candidates.first().filter(|_| candidates.len() == 1))
        .copied()
}

/// The first column with one of these words in its name, or in a word it begins with.
pub fn hinted<'t>(table: &'t Table, hints: &[String]) -> Option<&'t Column> {
    hints.iter().find_map(|hint| {
        table
            .columns
            .iter()
            .filter(|column| !column.pk)
            .find(|column| {
                parts(&column.name)
                    .iter()
                    .any(|part| part == hint || stem(part) == stem(hint))
            })
    })
}

/// The date of a row; `near` are stems of words beside the date in the request. Columns
/// are known by their names, or by what is in them.
pub fn date(source: &impl Source, of: &Table, near: &[String]) -> Option<(String, DateForm)> {
    let dated = |column: &Column| {
        let kind = column.kind.to_uppercase();
        kind.contains("DATE")
            || kind.contains("TIME")
            || parts(&column.name)
                .iter()
                .any(|part| DATES.contains(&part.as_str()))
    };
    let found: Vec<(&Column, DateForm)> = of
        .columns
        .iter()
        .filter(|column| !is_key(of, column))
        .filter_map(|column| {
            let form = date_form(source, &of.name, &column.name)?;
            (dated(column) || matches!(form, DateForm::Iso(_))).then_some((column, form))
        })
        .collect();
    let said = |column: &Column| {
        parts(&column.name).iter().any(|part| {
            near.iter().any(|word| {
                let longer = part.len() > 3 && word.starts_with(part.as_str());
                word == part
                    || longer
                    || (word.len() > 3 && part.starts_with(word.as_str()))
                    || super::super::words::alike(part, word)
            })
        })
    };
    found
        .iter()
        .find(|(column, _)| said(column))
        .or_else(|| found.iter().find(|(column, _)| dated(column)))
        .or_else(|| found.first())
        .map(|(column, form)| (column.name.clone(), *form))
}

/// How dates are written in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateForm {
    /// A number, the year.
    Year,
    /// `2012-03-01…` or `2012/03/01…`: the separator.
    Iso(char),
}

/// The form of a column's dates, from a sample.
pub fn date_form(source: &impl Source, table: &str, column: &str) -> Option<DateForm> {
    match source.sample(table, column)? {
        Value::Number(number)
            if number
                .as_i64()
                .is_some_and(|year| (1000..3000).contains(&year)) =>
        {
            Some(DateForm::Year)
        }
        Value::String(text) => {
            let year = text.get(..4)?.bytes().all(|b| b.is_ascii_digit());
            match text.chars().nth(4) {
                Some(mark @ ('-' | '/')) if year && text.len() >= 7 => Some(DateForm::Iso(mark)),
                _ => None,
            }
        }
        _ => None,
    }
}
