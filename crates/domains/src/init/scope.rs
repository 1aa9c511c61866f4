//! The sentence that says what the rows of a domain are.

use super::links::Side;
use super::names::{bare, capitalized, phrase};
use crate::diagnostic::enumerated;
use crate::model::RelationKind;
use std::fmt::Write;
use steward_core::tables::Table;

/// More columns are not listed.
const LISTED: usize = 8;

pub(super) fn sentence(table: &Table, sides: &[Side], names: &[String]) -> String {
    let columns: Vec<String> = table
        .columns
        .iter()
        .filter(|column| !column.pk && table.foreign_keys.iter().all(|key| key.column != column.name))
        .map(|column| phrase(&column.name))
        .take(LISTED)
        .collect();
    let related = |wanted: &dyn Fn(RelationKind) -> bool| {
        let mut found: Vec<String> = Vec::new();
        for side in sides.iter().filter(|side| wanted(side.kind)) {
            let name = phrase(&names[side.other]);
            if !found.contains(&name) {
                found.push(name);
            }
        }
        found
    };
    let parents = related(&|kind| kind == RelationKind::BelongsTo);
    let children = related(&|kind| kind != RelationKind::BelongsTo);
    let subject = capitalized(&phrase(bare(&table.name)));
    let mut text = match (columns.is_empty(), parents.is_empty()) {
        (false, _) => format!("{subject} with {}.", enumerated(&columns, "and")),
        (true, false) => format!("{subject} connects {}.", enumerated(&parents, "and")),
        (true, true) => format!("{subject}."),
    };
    if !columns.is_empty() && !parents.is_empty() {
        let _ = write!(text, " Belongs to {}.", enumerated(&parents, "and"));
    }
    if !children.is_empty() {
        let _ = write!(text, " Has {}.", enumerated(&children, "and"));
    }
    text
}
