//! Queries and answers from what the words of a request name.

use super::{Links, SPARE, Source};
use crate::draft::{call, files, open};
use crate::sql::lower;
use crate::sql::query::{Condition, Op, Query, Select};
use crate::sql::source::{is_number, is_text};
use serde_json::json;
use steward_core::ports::Draft;
use steward_sandbox::sql::{Column as SchemaColumn, Table};

pub(super) fn numbers(table: &Table) -> impl Iterator<Item = &SchemaColumn> {
    table.columns.iter().filter(|column| {
        let name = column.name.to_lowercase();
        is_number(&column.kind) && !column.pk && name != "id" && !name.ends_with("_id") && !name.ends_with("Id")
    })
}

/// The column, and what names its row.
pub(super) fn labelled(table: &Table, column: &str) -> Vec<Select> {
    let mut shown = vec![column.to_owned()];
    let texts = table.columns.iter().filter(|c| is_text(&c.kind) && c.name != column);
    shown.extend(texts.take(2).map(|c| c.name.clone()));
    shown.into_iter().map(selected).collect()
}

pub(super) fn selected(column: String) -> Select {
    Select { column: Some(column), ..Select::default() }
}

pub(super) fn sign(op: Op) -> &'static str {
    match op {
        Op::Gt => ">",
        Op::Lt => "<",
        Op::Contains => "~",
        _ => "=",
    }
}

pub(super) fn names(names: &[String]) -> String {
    names.join(", ")
}

pub(super) fn finished(
    source: &Source,
    query: &Query,
    frame: &'static str,
    told: Vec<(&'static str, String)>,
) -> Option<Draft> {
    lower::lower(query, &source.schema).ok()?;
    let arguments = json!({"database": source.path, "query": query});
    Some(call("sql", arguments, frame, told))
}

pub(super) fn which_column(source: &Source, table: &Table) -> Draft {
    let numbers: Vec<String> = numbers(table).map(|column| column.name.clone()).collect();
    let words = vec![("table", shown(source, table)), ("names", names(&numbers))];
    open("which_column", words)
}

pub(super) fn shown(source: &Source, table: &Table) -> String {
    if files::is_table(&source.path) { source.path.clone() } else { table.name.clone() }
}

/// Columns that are asked for by name; all, if none is.
pub(super) fn wished(table: &Table, links: &Links) -> Vec<Select> {
    let mut named: Vec<&String> = links
        .columns
        .iter()
        .filter(|(_, of, column, score)| {
            *of == table.name && *score >= 0.7 && !links.values.iter().any(|(_, _, found, _)| found.column == *column)
        })
        .map(|(_, _, column, _)| column)
        .collect();
    named.dedup();
    if named.is_empty() {
        return Vec::new();
    }
    let label = table.columns.iter().find(|column| is_text(&column.kind));
    let mut columns: Vec<String> = label.map(|column| column.name.clone()).into_iter().collect();
    for column in named {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    columns.into_iter().map(selected).collect()
}

/// What is said and not understood would be another question.
pub(super) fn unclear(source: &Source, table: &Table, links: &Links, measure: Option<&String>) -> Option<Draft> {
    let weighty = links.spare.iter().any(|one| one.proper || one.quoted);
    let uncompared = links.number.is_some() && measure.is_none();
    if !weighty && links.spare.len() <= SPARE && !uncompared {
        return None;
    }
    let spare: Vec<String> = links.spare.iter().map(|one| one.text.clone()).collect();
    let columns: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
    let frame = if spare.is_empty() { "which_column" } else { "not_found" };
    let words = vec![("spare", names(&spare)), ("table", shown(source, table)), ("names", names(&columns))];
    Some(open(frame, words))
}

/// The rows that are meant, and the same in words.
pub(super) fn narrowed(table: &Table, links: &Links, measure: Option<&String>) -> (Query, Vec<String>) {
    let mut query = Query { from: table.name.clone(), ..Query::default() };
    let mut what = Vec::new();
    for (_, _, found, op) in &links.values {
        what.push(format!("{} {} {}", found.column, sign(*op), found.value));
        query.conditions.push(Condition {
            column: found.column.clone(),
            table: (found.table != table.name).then(|| found.table.clone()),
            op: *op,
            value: json!(found.value),
        });
    }
    if let (Some((_, number, op)), Some(column)) = (links.number, measure) {
        what.push(format!("{column} {} {number}", sign(op)));
        query.conditions.push(Condition { column: column.clone(), table: None, op, value: json!(number) });
    }
    (query, what)
}

pub(super) fn columns_of(source: &Source, table: &Table) -> Draft {
    let columns: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
    let told = vec![("table", shown(source, table)), ("number", columns.len().to_string()), ("names", names(&columns))];
    call("sql", files::schema(&source.path, &table.name), "columns", told)
}
