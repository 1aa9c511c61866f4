//! Rows and the columns of them that are asked for; groups and orders.

use super::super::joins;
use super::super::link::Mention;
use super::super::query::{Op, Order, Select};
use super::super::source::Source;
use super::super::words::words;
use super::columns::{labels, table};
use super::reading::Work;
use super::{group, phrases, target};

impl<S: Source> Work<'_, S> {
    pub(super) fn list(&mut self) {
        self.requested();
        let first_column = self
            .links
            .columns
            .iter()
            .find(|m| m.score >= 0.75 && !self.is_table(m.at));
        let subject = self.links.tables.iter().find(|m| m.table == self.from);
        // "Which countries do the customers come from": values rather than rows.
        let plural = |m: &Mention| {
            self.links.tokens[m.at + m.len - 1].lower != self.links.tokens[m.at + m.len - 1].stem
        };
        let distinct = phrases::first(&self.links.tokens, &words().distinct, &self.used);
        if let (Some(column), Some(subject)) = (first_column, subject)
            && self.query.select.len() == 1
            && (distinct.is_some()
                || (column.at < subject.at && plural(column) && self.query.conditions.is_empty()))
        {
            self.query.distinct = true;
        } else if self.query.select.len() == 1 && !self.query.distinct {
            self.labelled();
        }
        // What is over a bound comes with the largest first.
        let bound = self
            .query
            .conditions
            .iter()
            .find(|c| matches!(c.op, Op::Gt | Op::Gte | Op::Lt | Op::Lte));
        if let Some(bound) = bound {
            self.query.order_by = Some(Order {
                column: Some(bound.column.clone()),
                table: bound.table.clone(),
                aggregate: None,
                desc: matches!(bound.op, Op::Gt | Op::Gte),
            });
        }
        self.what.push("listed".to_owned());
    }

    pub(super) fn is_table(&self, at: usize) -> bool {
        self.links
            .tables
            .iter()
            .any(|m| m.at <= at && at < m.at + m.len && m.score >= 0.75)
    }

    pub(super) fn requested(&mut self) {
        let mut at = 0;
        while at < self.links.tokens.len() {
            let free = !self.used[at] && !self.is_table(at);
            let mention = free
                .then(|| {
                    target::resolve(self.links, self.schema, &self.from, |m| {
                        m.at == at && m.score >= 0.5
                    })
                })
                .flatten()
                .cloned();
            if let Some(mention) = mention {
                let near = joins::path(
                    &joins::edges(self.schema),
                    std::slice::from_ref(&self.from),
                    &mention.table,
                )
                .is_some_and(|steps| steps.len() <= 1);
                let select = self.selected(&mention, None);
                if near && !self.query.select.contains(&select) {
                    self.query.select.push(select);
                }
                self.taken(&mention);
                at += mention.len;
            } else {
                at += 1;
            }
        }
    }

    pub(super) fn labelled(&mut self) {
        let Some(home) = table(self.schema, &self.from) else {
            return;
        };
        let named = labels(home);
        let has = |name: &String| {
            self.query
                .select
                .iter()
                .any(|s| s.column.as_ref() == Some(name) && s.table.is_none())
        };
        let missing: Vec<Select> = named
            .iter()
            .filter(|name| !has(name))
            .map(|name| Select {
                column: Some(name.clone()),
                ..Select::default()
            })
            .collect();
        self.query.select.splice(0..0, missing);
    }

    pub(super) fn group(&mut self) {
        let aggregated = self.query.select.iter().any(|s| s.aggregate.is_some());
        if !aggregated || !self.query.group_by.is_empty() {
            return;
        }
        if let Some(found) = group::spoken(self.links, self.schema, &self.from, &self.used) {
            self.mark(found.place.0, found.place.1);
            let measured = self.query.select.clone();
            self.query.select = group::shown(&found.columns);
            self.query.select.extend(measured.iter().cloned());
            self.query.group_by = found.columns;
            if let Some(first) = measured.first() {
                self.query.order_by = Some(Order {
                    column: first.column.clone(),
                    table: first.table.clone(),
                    aggregate: first.aggregate,
                    desc: true,
                });
            }
            self.what.push("by group".to_owned());
        }
    }

    pub(super) fn order(&mut self) {
        if self.query.order_by.is_some() {
            return;
        }
        let Some((at, len)) = phrases::first(&self.links.tokens, &words().sort, &self.used) else {
            return;
        };
        let Some(mention) = target::resolve(self.links, self.schema, &self.from, |m| {
            m.at >= at + len && m.at < at + len + 3
        })
        .cloned() else {
            return;
        };
        let valued = self
            .links
            .values
            .iter()
            .any(|value| value.at >= at + len && value.at < at + len + 3);
        if valued || self.query.select.iter().any(|s| s.aggregate.is_some()) {
            return;
        }
        self.mark(at, len);
        self.taken(&mention);
        let none = vec![false; self.used.len()];
        let desc = phrases::first(&self.links.tokens, &words().descending, &none).is_some();
        self.query.order_by = Some(Order {
            column: mention.column.clone(),
            table: (mention.table != self.from).then(|| mention.table.clone()),
            aggregate: None,
            desc,
        });
    }
}
