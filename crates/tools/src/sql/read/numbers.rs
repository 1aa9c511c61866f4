//! How many, the average, the sum, and who has the most.

use super::super::link::Mention;
use super::super::query::{Aggregate, Column, Order, Select};
use super::super::source::Source;
use super::super::words::words;
use super::columns::{column, is_measure, measure, table};
use super::reading::Work;
use super::{group, phrases, target};

impl<S: Source> Work<'_, S> {
    pub(super) fn most_of(&mut self) -> bool {
        let Some((found, (at, len))) = phrases::superlative(&self.links.tokens, &self.used) else {
            return false;
        };
        if !found.columns.is_empty()
            || !found
                .words
                .iter()
                .any(|w| matches!(w.as_str(), "most" | "fewest"))
        {
            return false;
        }
        let word = self.links.tokens[at].lower.as_str();
        if !["most", "fewest", "least", "highest", "largest", "lowest"].contains(&word) {
            return false;
        }
        let counts = |m: &&Mention| m.score >= 0.6 && m.at >= at + len && m.at <= at + len + 2;
        let many = self
            .links
            .tables
            .iter()
            .find(counts)
            .filter(|_| ["most", "fewest", "least"].contains(&word));
        let before_table = self
            .links
            .tables
            .iter()
            .find(|m| m.at < at && m.score >= 0.6)
            .map(|m| (m.table.clone(), m.at, m.len));
        let Some(many) = many.cloned() else {
            // The most of a number that another table holds.
            let sum =
                target::measure_near(self.links, self.schema, &self.from, (at, len), 4).cloned();
            let (Some(sum), Some((who, who_at, who_len))) = (sum, before_table) else {
                return false;
            };
            if sum.table == who {
                return false;
            }
            self.from.clone_from(&sum.table);
            let Some(columns) = group::of_table(self.schema, &self.from, &who) else {
                return false;
            };
            let measured = self.selected(&sum, Some(Aggregate::Sum));
            self.taken(&sum);
            self.mark(who_at, who_len);
            self.ranked(columns, measured, found.desc, (at, len));
            return true;
        };
        let columns = match before_table {
            Some((who, who_at, who_len)) if who != many.table => {
                self.mark(who_at, who_len);
                group::of_table(self.schema, &many.table, &who)
            }
            _ => target::resolve(self.links, self.schema, &many.table, |m| {
                m.at < at && m.score >= 0.6
            })
            .map(|m| {
                vec![Column {
                    column: m.column.clone().unwrap_or_default(),
                    table: (m.table != many.table).then(|| m.table.clone()),
                }]
            }),
        };
        let Some(columns) = columns else { return false };
        for mention in
            self.links.columns.iter().filter(|m| {
                m.at < at && columns.iter().any(|c| Some(&c.column) == m.column.as_ref())
            })
        {
            self.used[mention.at] = true;
        }
        self.from.clone_from(&many.table);
        self.taken(&many);
        self.ranked(
            columns,
            Select {
                aggregate: Some(Aggregate::Count),
                ..Select::default()
            },
            found.desc,
            (at, len),
        );
        true
    }

    pub(super) fn ranked(
        &mut self,
        columns: Vec<Column>,
        measured: Select,
        desc: bool,
        place: phrases::Place,
    ) {
        let top = phrases::top(&self.links.tokens, place, &self.used);
        if let Some((_, index)) = top {
            self.mark(index, 1);
        }
        self.mark(place.0, place.1);
        self.query.order_by = Some(Order {
            column: measured.column.clone(),
            table: measured.table.clone(),
            aggregate: measured.aggregate,
            desc,
        });
        self.query.select = group::shown(&columns);
        self.query.select.push(measured);
        self.query.group_by = columns;
        self.query.limit = Some(top.map_or(1, |(count, _)| count));
        self.what.push("ranked by a number of the group".to_owned());
    }

    pub(super) fn aggregate(&mut self) -> bool {
        let tokens = &self.links.tokens;
        // "The phone number of X" counts nothing.
        let noun = |at: usize| {
            at > 0
                && self
                    .links
                    .columns
                    .iter()
                    .any(|m| m.score >= 0.6 && m.at + m.len == at)
        };
        let count = phrases::first(tokens, &words().count, &self.used)
            .filter(|(at, _)| !(tokens[*at].lower == "number" && noun(*at)));
        if let Some((at, len)) = count {
            let distinct = phrases::first(tokens, &words().distinct, &self.used);
            let near = |m: &&Mention| m.at >= at + len && m.at <= at + len + 2;
            let counted_table = self
                .links
                .tables
                .iter()
                .find(|m| near(m) && m.score >= 0.5)
                .cloned();
            let counted_column = target::resolve(self.links, self.schema, &self.from, |m| {
                near(&m) && m.score >= 0.5
            })
            .cloned();
            self.mark(at, len);
            match (counted_table, counted_column, distinct) {
                (table, Some(column), Some((d, n)))
                    if table.as_ref().is_none_or(|t| column.score >= t.score) =>
                {
                    self.mark(d, n);
                    self.taken(&column);
                    self.query.distinct = true;
                    self.query.select = vec![self.selected(&column, Some(Aggregate::Count))];
                }
                // "How many units are in stock of X" asks for a number that is there.
                (None, Some(column), None)
                    if self.numeric(&column)
                        && column.score >= 0.6
                        && !self.query.conditions.is_empty() =>
                {
                    self.taken(&column);
                    self.query.select = vec![self.selected(&column, None)];
                    self.labelled();
                    return true;
                }
                (Some(table), _, _) if table.table != self.from => {
                    self.taken(&table);
                    if table.score >= 0.75 {
                        self.query.select = vec![Select {
                            aggregate: Some(Aggregate::Count),
                            table: Some(table.table.clone()),
                            column: None,
                        }];
                    } else {
                        self.query.select = vec![Select {
                            aggregate: Some(Aggregate::Count),
                            ..Select::default()
                        }];
                    }
                }
                _ => {
                    self.query.select = vec![Select {
                        aggregate: Some(Aggregate::Count),
                        ..Select::default()
                    }];
                }
            }
            self.what.push("counted".to_owned());
            return true;
        }
        self.summed()
    }

    /// The average, the sum.
    fn summed(&mut self) -> bool {
        let tokens = &self.links.tokens;
        let average = phrases::first(tokens, &words().average, &self.used)
            .map(|place| (Aggregate::Avg, place));
        let sum =
            phrases::first(tokens, &words().sum, &self.used).map(|place| (Aggregate::Sum, place));
        let extreme = phrases::superlative(tokens, &self.used).is_some();
        // "The largest total" is no sum, but the largest of a column called so.
        let Some((function, place)) = average.or(sum.filter(|_| !extreme)) else {
            return false;
        };
        let mention = target::measure_near(self.links, self.schema, &self.from, place, 5).cloned();
        let column = mention
            .map(|m| (Some(m.clone()), self.selected(&m, Some(function))))
            .or_else(|| {
                let own = table(self.schema, &self.from).and_then(measure)?;
                Some((
                    None,
                    Select {
                        column: Some(own.name.clone()),
                        table: None,
                        aggregate: Some(function),
                    },
                ))
            });
        let Some((mention, select)) = column else {
            return false;
        };
        // A condition on the very column is what was asked for, not a sum.
        self.mark(place.0, place.1);
        if let Some(mention) = mention {
            self.taken(&mention);
        }
        self.query.select = vec![select];
        self.what.push(format!("{} of them", function.function()));
        true
    }

    pub(super) fn numeric(&self, mention: &Mention) -> bool {
        let found = mention.column.as_ref().and_then(|name| {
            Some((
                table(self.schema, &mention.table)?,
                column(self.schema, &mention.table, name)?,
            ))
        });
        found.is_some_and(|(table, column)| is_measure(table, column))
    }
}
