//! Requests that go on from an earlier one: `and in Norway?`, `and the lowest?`, `per country`.

use steward_core::ports::FileWish;

use super::asking::{Mark, Request};
use super::compose::{Context, compose};
use super::links::Links;
use super::{Alike, Draft, Found, judged, without_values};
use crate::query::{Aggregate, Condition, Op, Order, Query, validate_for};
use crate::registry::Visible;

/// The query `before` as a request changes it; `None`: it changes nothing that is known.
pub fn follow(
    before: &Query,
    request: &Request,
    visible: Visible<'_>,
    found: &[Found],
    alike: &[Alike],
) -> Option<Draft> {
    let subject = visible.domain(&before.domain)?;
    let alike = without_values(request, alike, found);
    let links = Links::read(request, visible, subject, &[], &alike);
    let mut composed = compose(request, &links, Context { found, before: Some(before), alone: true })?;
    composed.query = changed(before, composed.query, request);
    if composed.query == *before {
        return None;
    }
    validate_for(&composed.query, visible).ok()?;
    Some(judged(request, &links, composed))
}

/// What the words of a request ask for takes the place of what was asked before; the rest stays.
fn changed(before: &Query, next: Query, request: &Request) -> Query {
    let mut query = Query { after: None, ..before.clone() };
    let said = |marks: &[Mark]| marks.iter().any(|mark| request.marked(*mark).is_some());
    let number = said(&[Mark::Count, Mark::Sum, Mark::Average, Mark::Maximum, Mark::Minimum])
        || request.wished_number().is_some();
    match () {
        () if !next.group.is_empty() => {
            if number || before.aggregate.is_empty() {
                query.aggregate = next.aggregate;
            }
            query.group = next.group;
            take_order(&mut query, next.order, next.limit);
        }
        () if !next.aggregate.is_empty() => {
            query.aggregate = next.aggregate;
            take_order(&mut query, Vec::new(), next.limit);
        }
        // "and the fewest?" of the groups before.
        () if said(&[Mark::High, Mark::Low]) && !before.group.is_empty() => {
            let field = before.aggregate.first().and_then(|one| one.name.clone());
            let order = field.map(|field| Order { field, desc: request.marked(Mark::High).is_some() });
            take_order(&mut query, order.into_iter().collect(), next.limit);
        }
        () if !next.order.is_empty() => {
            (query.aggregate, query.group) = (Vec::new(), Vec::new());
            take_order(&mut query, next.order, next.limit);
            query.fields = next.fields;
        }
        () if !next.fields.is_empty() || (request.wish == Some(FileWish::Rows) && !before.aggregate.is_empty()) => {
            if !query.aggregate.is_empty() {
                (query.aggregate, query.group) = (Vec::new(), Vec::new());
                take_order(&mut query, Vec::new(), next.limit);
            }
            query.fields = next.fields;
        }
        () => {}
    }
    for condition in next.conditions {
        let fields = fields_of(&condition);
        query.conditions.retain(|known| is_present(known) || fields_of(known) != fields);
        if !query.conditions.contains(&condition) {
            query.conditions.push(condition);
        }
    }
    query
}

/// Another order of the rows, or of the groups: what the old one required of the rows is not wanted any more.
fn take_order(query: &mut Query, order: Vec<Order>, limit: Option<u32>) {
    let old = std::mem::replace(&mut query.order, order);
    let of_old = |field: &str| old.iter().any(|one| one.field == field);
    query.conditions.retain(|known| !(is_present(known) && fields_of(known).iter().all(|field| of_old(field))));
    query.fields.clear();
    query.limit = limit;
}

fn is_present(condition: &Condition) -> bool {
    matches!(condition, Condition::Compare(one) if one.op == Op::NotNull)
}

fn fields_of(condition: &Condition) -> Vec<&str> {
    match condition {
        Condition::Compare(one) => vec![&one.field],
        Condition::Any { any: list } | Condition::All { all: list } | Condition::Not { not: list } => {
            let mut fields: Vec<&str> = list.iter().flat_map(fields_of).collect();
            fields.dedup();
            fields
        }
    }
}

/// The first rows of a query; of one that counts, the rows that it counts.
pub fn first_rows(before: &Query, limit: u32) -> Query {
    let rows = before.group.is_empty() && !before.aggregate.is_empty();
    let aggregate: Vec<Aggregate> = if rows { Vec::new() } else { before.aggregate.clone() };
    Query { aggregate, limit: Some(limit), after: None, ..before.clone() }
}
