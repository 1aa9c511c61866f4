//! Rows that share the first place: who asks for the highest is shown all that have it.

use serde_json::Value;

use crate::query::Query;

/// Rows of the first place that are looked at. Where as many share it, a value is asked for rather than its rows.
const MOST: u32 = 50;

/// The query that tells how many rows share the first place, for one that asks for the first row only.
pub fn first_places(query: &Query) -> Option<Query> {
    let [order] = query.order.as_slice() else { return None };
    if query.limit != Some(1) || query.after.is_some() {
        return None;
    }
    let fields = if query.group.is_empty() { vec![order.field.clone()] } else { Vec::new() };
    Some(Query { fields, limit: Some(MOST), ..query.clone() })
}

/// The query for all rows of the first place. `rows`: what [`first_places`] returned.
#[must_use]
pub fn with_ties(query: Query, rows: &[Vec<Value>]) -> Query {
    // Groups are shown before their number.
    let value = |row: &Vec<Value>| row.get(query.group.len()).cloned();
    let first = rows.first().and_then(value);
    let shared = rows.iter().take_while(|row| first.is_some() && value(row) == first).count();
    let limit = u32::try_from(shared).ok().filter(|shared| (1..MOST).contains(shared)).unwrap_or(1);
    Query { limit: Some(limit), ..query }
}
