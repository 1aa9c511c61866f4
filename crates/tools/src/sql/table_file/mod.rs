//! Files of rows (CSV) asked like a table: the same linking and reading as for databases, lowered
//! to one awk command.

mod awk;
mod file;

use super::link::{link, tokens};
use super::query::{Ask, Query};
use super::read::read;
use crate::suggest::View;
use crate::suggest::lexicon::lexicon;
use serde_json::json;
use steward_core::tool::Suggestion;

/// Below this a reading explains too little of the request.
const LEAST: f32 = 0.5;
/// A file that is named is surely what is asked about.
const NAMED: f32 = 0.12;

/// Commands that answer a question about a file of rows that the request names.
pub fn suggest(request: &str, view: &View) -> Option<Suggestion> {
    let named = view.file(request).filter(|found| {
        let extension = found
            .path
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        found.score >= 0.6 && lexicon().csv.extensions.contains(&extension)
    })?;
    let table = file::RowFile::open(&view.workspace.join(&named.path), &named.path)?;
    let links = link(tokens(request, &[named.span]), &table);
    let reading = read(&links, &table)
        .into_iter()
        .find(|reading| reading.score >= LEAST)?;
    let Ask::Query(query) = &reading.ask else {
        return None;
    };
    if !computes(query) {
        return None;
    }
    let argv = awk::lower(query, &table, &named.path)?;
    let worth = ((reading.score + NAMED) * named.score).min(0.95);
    Some(Suggestion {
        arguments: json!({"argv": argv}),
        score: worth,
        why: format!("asks {} like a table: {}", named.path, reading.why),
    })
}

/// Whether the query does more than show rows, for which there is `read`.
fn computes(query: &Query) -> bool {
    !query.conditions.is_empty()
        || query.order_by.is_some()
        || query.distinct
        || query.select.iter().any(|select| select.aggregate.is_some())
}
