//! One row per value of something: "revenue per country", "which artist has the most albums".

use super::super::link::Links;
use super::super::query::{Column, Select};
use super::super::words::words;
use super::columns::{labels, table};
use super::phrases::{self, Place};
use super::target;
use steward_sandbox::sql::Schema;

/// What rows are grouped by: columns and the tokens that say so.
pub struct Group {
    /// The columns.
    pub columns: Vec<Column>,
    /// Where it is said.
    pub place: Place,
}

/// "per country", "by genre", "for each artist".
pub fn spoken(links: &Links, schema: &Schema, from: &str, used: &[bool]) -> Option<Group> {
    let mut taken = used.to_vec();
    while let Some((at, len)) = phrases::first(&links.tokens, &words().group, &taken) {
        taken[at..at + len].fill(true);
        let near = |mention_at: usize| mention_at == at + len;
        // "by the artist Queen" names a value, not a grouping.
        let valued = links
            .values
            .iter()
            .any(|value| value.at >= at + len && value.at <= at + len + 3);
        if valued {
            continue;
        }
        let skip = |index: usize| {
            if links.tokens.get(index).is_some_and(|t| t.lower == "the") {
                index + 1
            } else {
                index
            }
        };
        let start = skip(at + len);
        let here = |mention_at: usize| near(mention_at) || mention_at == start;
        if let Some(mention) = links
            .tables
            .iter()
            .find(|m| here(m.at) && m.score >= 0.5 && m.table != from)
        {
            let columns = of_table(schema, from, &mention.table)?;
            return Some(Group {
                columns,
                place: (at, mention.at + mention.len - at),
            });
        }
        if let Some(mention) = target::resolve(links, schema, from, |m| here(m.at)) {
            let column = Column {
                column: mention.column.clone()?,
                table: (mention.table != from).then(|| mention.table.clone()),
            };
            return Some(Group {
                columns: vec![column],
                place: (at, mention.at + mention.len - at),
            });
        }
        if let Some(mention) = links.tables.iter().find(|m| here(m.at) && m.score >= 0.5) {
            let columns = of_table(schema, from, &mention.table)?;
            return Some(Group {
                columns,
                place: (at, mention.at + mention.len - at),
            });
        }
    }
    None
}

/// A row of `of` by what it is called.
pub fn of_table(schema: &Schema, from: &str, of: &str) -> Option<Vec<Column>> {
    let home = table(schema, of)?;
    Some(
        labels(home)
            .into_iter()
            .map(|column| Column {
                column,
                table: (from != of).then(|| of.to_owned()),
            })
            .collect(),
    )
}

/// The columns as something shown.
pub fn shown(columns: &[Column]) -> Vec<Select> {
    columns
        .iter()
        .map(|column| Select {
            column: Some(column.column.clone()),
            table: column.table.clone(),
            aggregate: None,
        })
        .collect()
}
