//! Which table the rows are of, and which column a number is of.

use super::super::joins;
use super::super::link::{Links, Mention};
use super::columns::{column, is_measure, table};
use super::phrases::Place;
use steward_sandbox::sql::Schema;

/// Tables in the order in which they may be the subject, each with why.
pub fn subjects(links: &Links) -> Vec<String> {
    let mut found: Vec<(f32, String)> = Vec::new();
    #[expect(clippy::cast_precision_loss, reason = "positions of words")]
    let mut add = |name: &str, score: f32, at: usize| {
        let score = score - at as f32 * 0.01;
        match found.iter_mut().find(|(_, known)| known == name) {
            Some((kept, _)) => *kept = kept.max(score),
            None => found.push((score, name.to_owned())),
        }
    };
    for mention in &links.tables {
        // "artist Queen", "the genre Rock": a table that introduces a value is seldom the subject.
        let introduces = links.values.iter().any(|value| {
            value.at == mention.at + mention.len
                && value
                    .places
                    .iter()
                    .any(|place| place.table == mention.table)
        });
        add(
            &mention.table,
            mention.score - if introduces { 0.15 } else { 0.0 },
            mention.at,
        );
    }
    for mention in &links.columns {
        add(&mention.table, 0.35 * mention.score, mention.at);
    }
    for value in &links.values {
        for place in &value.places {
            add(
                &place.table,
                if value.partial { 0.15 } else { 0.25 },
                value.at,
            );
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, name)| name).collect()
}

/// The best reading of the column mention at or after a place: in `from` rather than elsewhere.
pub fn resolve<'l>(
    links: &'l Links,
    schema: &Schema,
    from: &str,
    wanted: impl Fn(&Mention) -> bool,
) -> Option<&'l Mention> {
    let edges = joins::edges(schema);
    links
        .columns
        .iter()
        .filter(|mention| mention.column.is_some() && wanted(mention))
        .filter_map(|mention| {
            let distance = distance(&edges, from, &mention.table)?;
            let said = links
                .tables
                .iter()
                .any(|table| table.table == mention.table);
            let score = mention.score - 0.25 * distance + if said { 0.2 } else { 0.0 };
            Some((score, mention))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.at.cmp(&a.1.at)))
        .map(|(_, mention)| mention)
}

/// Joins between two tables.
pub fn distance(edges: &[joins::Edge], from: &str, to: &str) -> Option<f32> {
    #[expect(clippy::cast_precision_loss, reason = "a few joins")]
    let steps = joins::path(edges, &[from.to_owned()], to)?.len() as f32;
    Some(steps)
}

/// A numeric column that is named near a place, behind it rather than before it.
pub fn measure_near<'l>(
    links: &'l Links,
    schema: &Schema,
    from: &str,
    place: Place,
    ahead: usize,
) -> Option<&'l Mention> {
    let numeric = |mention: &Mention| {
        let Some(name) = &mention.column else {
            return false;
        };
        match (
            table(schema, &mention.table),
            column(schema, &mention.table, name),
        ) {
            (Some(table), Some(column)) => is_measure(table, column),
            _ => false,
        }
    };
    let end = place.0 + place.1;
    resolve(links, schema, from, |m| {
        numeric(m) && m.at >= place.0 && m.at < end + ahead
    })
    .or_else(|| {
        resolve(links, schema, from, |m| {
            numeric(m) && m.at < place.0 && m.at + 4 >= place.0
        })
    })
}
