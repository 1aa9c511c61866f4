//! Builds queries and answers from what the words of a request name.

use super::links::{Links, Source};
use crate::draft::{Desk, Draft, call, files, open};
use crate::read::path::is_rows;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use steward_core::tables::{Column, Condition, Op, Query, Schema, Select, Table};

/// Number of first text columns that name a row.
const LABELS: usize = 2;

pub(crate) fn numbers(table: &Table) -> impl Iterator<Item = &Column> {
    table.columns.iter().filter(|column| {
        let name = column.name.to_lowercase();
        column.is_number() && !column.pk && name != "id" && !name.ends_with("_id") && !name.ends_with("Id")
    })
}

/// The column, what else is asked for by name, and what names its row.
pub(crate) fn labelled(table: &Table, column: &str, links: &Links) -> Vec<Select> {
    let asked = wished(table, links).into_iter().filter_map(|select| select.column);
    let texts = table.columns.iter().filter(|c| c.is_text()).map(|c| c.name.clone());
    each_once(std::iter::once(column.to_owned()).chain(asked).chain(texts.take(LABELS)))
}

fn each_once(columns: impl Iterator<Item = String>) -> Vec<Select> {
    let mut seen = BTreeSet::new();
    columns.filter(|name| seen.insert(name.clone())).map(selected).collect()
}

pub(crate) fn selected(column: String) -> Select {
    Select { column: Some(column), ..Select::default() }
}

pub(crate) fn sign(op: Op) -> &'static str {
    match op {
        Op::Gt => ">",
        Op::Lt => "<",
        Op::Gte => "≥",
        Op::Lte => "≤",
        Op::Contains => "~",
        _ => "=",
    }
}

pub(crate) fn table_names(schema: &Schema) -> Vec<String> {
    schema.tables.iter().map(|table| table.name.clone()).collect()
}

fn column_names<'a>(columns: impl IntoIterator<Item = &'a Column>) -> Vec<String> {
    columns.into_iter().map(|column| column.name.clone()).collect()
}

impl Desk<'_> {
    pub(crate) fn finished(
        &self,
        source: &Source,
        query: &Query,
        frame: &'static str,
        told: Vec<(&'static str, String)>,
    ) -> Option<Draft> {
        if !self.view.reader().answers(query, &source.schema) {
            return None;
        }
        let arguments = json!({"database": source.path, "query": query});
        Some(call("sql", arguments, frame, told))
    }
}

pub(crate) fn which_column(source: &Source, table: &Table) -> Draft {
    which_of(source, table, &column_names(numbers(table)))
}

fn which_of(source: &Source, table: &Table, names: &[String]) -> Draft {
    open("which_column", vec![("table", shown(source, table)), ("names", names.join(", "))])
}

pub(crate) fn shown(source: &Source, table: &Table) -> String {
    if is_rows(&source.path) { source.path.clone() } else { table.name.clone() }
}

/// Columns that are asked for by name; all if none is.
pub(crate) fn wished(table: &Table, links: &Links) -> Vec<Select> {
    let named: Vec<&String> = links
        .columns
        .iter()
        .filter(|(_, of, column, score)| {
            *of == table.name && *score >= 0.7 && !links.values.iter().any(|said| said.place.column == *column)
        })
        .map(|(_, _, column, _)| column)
        .collect();
    if named.is_empty() {
        return Vec::new();
    }
    let label = table.columns.iter().find(|column| column.is_text()).map(|column| &column.name);
    each_once(label.into_iter().chain(named).cloned())
}

/// Leaving out words that were not understood would answer another question.
pub(crate) fn unclear(
    source: &Source,
    table: &Table,
    links: &Links,
    measure: Option<&String>,
    kind: &str,
) -> Option<Draft> {
    let mut spare: Vec<String> = links.spare.iter().map(|one| one.text.clone()).collect();
    // A part of a value may be shown, but counting by it gives another number.
    let parts = links.values.iter().filter(|said| said.op == Op::Contains && !matches!(kind, "rows" | "extreme"));
    spare.extend(parts.map(|said| said.place.value.clone()));
    if links.when.is_some() && dates(source, table).is_empty() {
        spare.extend(links.when.iter().map(|when| when.shown.clone()));
    }
    let uncompared = links.number.is_some() && measure.is_none();
    if spare.is_empty() && !uncompared {
        return None;
    }
    let columns = column_names(&table.columns);
    let frame = if spare.is_empty() { "which_column" } else { "not_found" };
    let words = vec![("spare", spare.join(", ")), ("table", shown(source, table)), ("names", columns.join(", "))];
    Some(open(frame, words))
}

pub(crate) fn dates(source: &Source, table: &Table) -> Vec<String> {
    let own = source.dates.iter().filter(|(of, _)| *of == table.name);
    own.map(|(_, column)| column.clone()).collect()
}

/// The rows that are meant, and the same in words.
#[expect(clippy::result_large_err, reason = "what is asked back is made once for a request")]
pub(crate) fn narrowed(
    source: &Source,
    table: &Table,
    links: &Links,
    measure: Option<&String>,
) -> Result<(Query, Vec<String>), Draft> {
    let mut query = Query { from: table.name.clone(), ..Query::default() };
    let mut what = Vec::new();
    for said in &links.values {
        let place = &said.place;
        what.push(format!("{} {} {}", place.column, sign(said.op), place.value));
        let of = (place.table != table.name).then(|| place.table.clone());
        let same = |known: &&mut Condition| known.column == place.column && known.table == of && said.op == Op::Eq;
        // Two values of one column: either matches.
        if let Some(known) = query.conditions.iter_mut().find(same) {
            let mut either = match &known.value {
                Value::Array(values) => values.clone(),
                one => vec![one.clone()],
            };
            either.push(json!(place.value));
            (known.op, known.value) = (Op::In, Value::Array(either));
            continue;
        }
        let value = json!(place.value);
        query.conditions.push(Condition { column: place.column.clone(), table: of, op: said.op, value });
    }
    if let (Some((_, number, op)), Some(column)) = (links.number, measure) {
        what.push(format!("{column} {} {number}", sign(op)));
        query.conditions.push(Condition { column: column.clone(), table: None, op, value: json!(number) });
    }
    if let Some(when) = &links.when {
        let dates = dates(source, table);
        let named = links.columns.iter().find(|(_, of, column, _)| *of == table.name && dates.contains(column));
        let column = match (named, dates.as_slice()) {
            (Some((_, _, column, _)), _) => column.clone(),
            (None, [only]) => only.clone(),
            _ => return Err(which_of(source, table, &dates)),
        };
        let (op, value) = match (when.year, when.month) {
            (Some(year), month) if when.op != Op::Eq => {
                let first = |year: i32, month: Option<usize>| match month {
                    Some(month) => format!("{:04}-{:02}", year + i32::from(month == 12), month % 12 + 1),
                    None => year.to_string(),
                };
                let next = month.map_or_else(|| first(year + 1, None), |month| first(year, Some(month + 1)));
                match when.op {
                    Op::Gt => (Op::Gte, next),
                    Op::Lte => (Op::Lt, next),
                    op => (op, first(year, month)),
                }
            }
            (None, Some(_)) if when.op != Op::Eq => {
                let words =
                    vec![("spare", when.shown.clone()), ("table", shown(source, table)), ("names", dates.join(", "))];
                return Err(open("not_found", words));
            }
            (Some(year), Some(month)) => (Op::Starts, format!("{year}-{:02}", month + 1)),
            (None, Some(month)) => (Op::Contains, format!("-{:02}-", month + 1)),
            (year, _) => (Op::Starts, format!("{}-", year.unwrap_or_default())),
        };
        what.push(format!("{column} {} {}", sign(when.op), when.shown));
        query.conditions.push(Condition { column, table: None, op, value: json!(value) });
    }
    Ok((query, what))
}

pub(crate) fn columns_of(source: &Source, table: &Table) -> Draft {
    let columns = column_names(&table.columns);
    let told =
        vec![("table", shown(source, table)), ("number", columns.len().to_string()), ("names", columns.join(", "))];
    call("sql", files::schema(&source.path, &table.name), "columns", told)
}
