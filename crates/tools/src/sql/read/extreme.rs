//! The largest, the oldest, the top five.

use super::super::link::Mention;
use super::super::query::{Aggregate, Order, Select};
use super::super::source::Source;
use super::super::words::Superlative;
use super::columns::{hinted, measure, table};
use super::reading::Work;
use super::{phrases, target};

/// Rows of "the largest ones" without a number.
const SOME: u32 = 10;

impl<S: Source> Work<'_, S> {
    pub(super) fn extreme(&mut self) -> bool {
        let Some((found, (at, len))) = phrases::superlative(&self.links.tokens, &self.used) else {
            return false;
        };
        let Some((by, mention, desc)) = self.extreme_column(found, (at, len)) else {
            return false;
        };
        self.mark(at, len);
        let top = phrases::top(&self.links.tokens, (at, len), &self.used);
        if let Some((_, index)) = top {
            self.mark(index, 1);
        }
        let subject = self
            .links
            .tables
            .iter()
            .find(|m| m.table == self.from && m.at < at);
        if let Some(mention) = &mention {
            self.taken(mention);
        }
        let direct = mention.as_ref().is_some_and(|m| m.at >= at) && found.columns.is_empty();
        if direct && subject.is_none() && top.is_none() {
            let function = if desc { Aggregate::Max } else { Aggregate::Min };
            self.query.select = vec![Select {
                aggregate: Some(function),
                ..by
            }];
            self.what
                .push(format!("the {} of them", function.function()));
            return true;
        }
        let singular = !self.links.tables.iter().any(|m| {
            m.table == self.from
                && self.links.tokens[m.at + m.len - 1].lower
                    != self.links.tokens[m.at + m.len - 1].stem
        });
        self.query.order_by = Some(Order {
            column: by.column.clone(),
            table: by.table.clone(),
            aggregate: None,
            desc,
        });
        self.query.limit = Some(top.map_or(if singular { 1 } else { SOME }, |(count, _)| count));
        self.requested();
        if !self.query.select.is_empty() && !self.query.select.contains(&by) {
            self.query.select.push(by);
        }
        self.what.push("in order".to_owned());
        true
    }

    pub(super) fn extreme_column(
        &self,
        found: &Superlative,
        place: phrases::Place,
    ) -> Option<(Select, Option<Mention>, bool)> {
        let home = table(self.schema, &self.from)?;
        let own = |name: &str| Select {
            column: Some(name.to_owned()),
            table: None,
            aggregate: None,
        };
        if !found.columns.is_empty() {
            if let Some(column) = hinted(home, &found.columns) {
                return Some((own(&column.name), None, found.desc));
            }
            if let Some(column) = hinted(home, &found.also) {
                return Some((own(&column.name), None, !found.desc));
            }
        }
        if let Some(mention) = target::measure_near(self.links, self.schema, &self.from, place, 4) {
            return Some((
                self.selected(mention, None),
                Some(mention.clone()),
                found.desc,
            ));
        }
        let column = measure(home)?;
        // "First" and "last" need a date; "largest" a measure.
        (found.columns.is_empty()).then(|| (own(&column.name), None, found.desc))
    }
}
