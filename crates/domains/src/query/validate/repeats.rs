//! Numbers over fields of rows that a query repeats: the budget of a project stands beside each of its invoices. They are
//! computed over each such row once, or refused where that can't be written.

use super::scope::{Hop, Target, column};
use super::{Checker, Scope};
use crate::model::RelationKind;
use crate::query::error::{Problem, shown};
use crate::query::plan::{Column, Expr, Role};
use crate::query::{Aggregate, Function};
use crate::registry::Known;

/// Whether several rows of `from` may lead to the same row.
fn is_repeating(from: Known<'_>, (relation, _): &Hop<'_>) -> bool {
    let key = &from.facts.key;
    let is_local = |field: &String| relation.bind.iter().any(|(local, _)| local == field);
    relation.kind == RelationKind::BelongsTo && (key.is_empty() || !key.iter().all(is_local))
}

/// The hops of a path that repeat what they lead to, with the domain that each begins at.
fn repeating<'d>(from: Known<'d>, hops: &[Hop<'d>]) -> impl DoubleEndedIterator<Item = (usize, Known<'d>)> {
    let begins: Vec<Known<'d>> = std::iter::once(from).chain(hops.iter().map(|(_, to)| *to)).collect();
    let of = |at: usize| (at, begins[at]);
    let all: Vec<(usize, Known<'d>)> = (0..hops.len()).map(of).collect();
    all.into_iter().filter(move |(at, from)| is_repeating(*from, &hops[*at]))
}

/// Whether each group has one row of the domain that is asked.
fn has_single_rows(scope: &Scope<'_>) -> bool {
    let key = &scope.domain.facts.key;
    let is_grouped = |name: &String| {
        scope.outputs.iter().any(|output| {
            output.role == Role::Group
                && matches!(&output.expr, Expr::Column(column) if column.source == scope.root && column.name == *name)
        })
    };
    !key.is_empty() && key.iter().all(is_grouped)
}

/// Whether it makes no difference that a value comes several times.
fn ignores_repeats(aggregate: &Aggregate) -> bool {
    aggregate.distinct || matches!(aggregate.function, Function::Min | Function::Max)
}

/// The relations that all fields of a formula are reached by.
pub(super) fn shared_hops<'t, 'd>(fields: &'t [(String, Target<'d>)]) -> &'t [Hop<'d>] {
    let Some((_, first)) = fields.first() else { return &[] };
    let is_shared = |at: usize| {
        fields.iter().all(|(_, target)| target.hops.get(at).is_some_and(|hop| hop.0.name == first.hops[at].0.name))
    };
    let end = (0..first.hops.len()).find(|at| !is_shared(*at)).unwrap_or(first.hops.len());
    &first.hops[..end]
}

/// Refuses a number over a list whose rows repeat what is counted: the prices of products over the lines of orders.
pub(super) fn repeats_inside(
    scope: &Scope<'_>,
    name: &str,
    aggregate: &Aggregate,
    (before, chain, after): (&[Hop<'_>], &[Hop<'_>], &[Hop<'_>]),
) -> Result<(), Problem> {
    let Some((first, rest)) = chain.split_first().filter(|_| !ignores_repeats(aggregate)) else { return Ok(()) };
    let inner: Vec<Hop<'_>> = rest.iter().chain(after).copied().collect();
    let mut found: Vec<(usize, Known<'_>)> = repeating(first.1, &inner).collect();
    // A table that only joins two others has each pair once: no row of the list comes twice.
    let joins = |(relation, through): &Hop<'_>, (next, _): &Hop<'_>| {
        let key = &through.facts.key;
        let is_bound = |field: &String| {
            relation.bind.iter().any(|(_, foreign)| foreign == field)
                || next.bind.iter().any(|(local, _)| local == field)
        };
        !key.is_empty() && key.iter().all(is_bound)
    };
    if before.is_empty() && has_single_rows(scope) && inner.first().is_some_and(|next| joins(first, next)) {
        found.retain(|(at, _)| *at > 0);
    }
    let Some((_, by)) = found.first() else { return Ok(()) };
    Err(Problem::Other(format!(
        "several rows of `{0}` may lead to the same `{1}`, which would count each time; ask the domain `{0}` itself, where \
         each counts once",
        by.domain.name,
        shown(name)
    )))
}

impl<'d> Checker<'d> {
    /// The columns that are the same in all rows that repeat what relations to one row lead to; none: no row does, or it
    /// makes no difference.
    pub fn repeated(&mut self, scope: &mut Scope<'d>, hops: &[Hop<'d>], aggregate: &Aggregate) -> Vec<Column> {
        if ignores_repeats(aggregate) || has_single_rows(scope) {
            return Vec::new();
        }
        let Some((at, from)) = repeating(scope.domain, hops).next_back() else { return Vec::new() };
        let source = self.reach(&mut scope.sources, scope.root, &hops[..at]);
        let fields = hops[at].0.bind.iter().filter_map(|(local, _)| from.field(local));
        fields.map(|field| column(from, field, source, at > 0)).collect()
    }
}
