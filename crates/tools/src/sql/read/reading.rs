//! One reading of a request per table that it may be about.

use super::super::link::{Links, Mention};
use super::super::query::{Aggregate, Ask, Query, Select};
use super::super::source::Source;
use super::super::words::words;
use super::{conditions, phrases, target};
use steward_sandbox::sql::Schema;

/// Subjects tried.
const SUBJECTS: usize = 3;

/// A way to understand a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What is asked.
    pub ask: Ask,
    /// 0 to 1: how much of the request it explains.
    pub score: f32,
    /// In words.
    pub why: String,
}

/// The readings of a request, best first.
pub fn read(links: &Links, source: &impl Source) -> Vec<Reading> {
    if let Some(reading) = of_schema(links) {
        return vec![reading];
    }
    let subjects = target::subjects(links);
    let mut found: Vec<Reading> = subjects
        .iter()
        .take(SUBJECTS)
        .enumerate()
        .map(|(rank, from)| {
            let mut reading = Work::new(links, source, from).read();
            #[expect(clippy::cast_precision_loss, reason = "a few")]
            let later = rank as f32;
            reading.score -= 0.06 * later;
            reading
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found
}

/// Columns of a table, or the tables.
fn of_schema(links: &Links) -> Option<Reading> {
    let none = vec![false; links.tokens.len()];
    let about_columns = links
        .tokens
        .iter()
        .any(|token| !token.quoted && words().schema.contains(&token.stem));
    let table = links
        .tables
        .iter()
        .filter(|m| m.score >= 0.75)
        .max_by(|a, b| a.score.total_cmp(&b.score));
    if about_columns && let Some(mention) = table {
        return Some(Reading {
            ask: Ask::Schema {
                schema: mention.table.clone(),
            },
            score: 0.9,
            why: format!("asks for the columns of {}", mention.table),
        });
    }
    let about_tables = phrases::first(&links.tokens, &words().tables, &none).is_some();
    let described = about_columns
        && links.tables.is_empty()
        && links
            .tokens
            .iter()
            .any(|token| words().database.contains(&token.lower) || token.apart);
    (about_tables || described).then(|| Reading {
        ask: Ask::Schema {
            schema: "*".to_owned(),
        },
        score: 0.88,
        why: "asks for the tables".to_owned(),
    })
}

/// A reading in the making.
pub(super) struct Work<'l, S: Source> {
    pub(super) links: &'l Links,
    pub(super) source: &'l S,
    pub(super) schema: &'l Schema,
    /// The table that rows are of.
    pub(super) from: String,
    /// Tokens that are explained.
    pub(super) used: Vec<bool>,
    pub(super) query: Query,
    /// What was understood, in words.
    pub(super) what: Vec<String>,
}

impl<'l, S: Source> Work<'l, S> {
    fn new(links: &'l Links, source: &'l S, from: &str) -> Self {
        let used = links.tokens.iter().map(|token| token.apart).collect();
        Self {
            links,
            source,
            schema: source.schema(),
            from: from.to_owned(),
            used,
            query: Query::default(),
            what: Vec::new(),
        }
    }

    fn read(mut self) -> Reading {
        self.aim();
        let mut rows = conditions::of_values(self.links, self.source, &self.from, &mut self.used);
        rows.extend(conditions::of_keys(
            self.links,
            self.source,
            &self.from,
            &mut self.used,
        ));
        rows.extend(conditions::of_comparisons(
            self.links,
            self.source,
            &self.from,
            &mut self.used,
        ));
        rows.extend(conditions::of_dates(
            self.links,
            self.source,
            &self.from,
            &mut self.used,
        ));
        rows.extend(conditions::of_missing(
            self.links,
            self.source,
            &self.from,
            &mut self.used,
        ));
        self.query.conditions = rows;
        let done = self.most_of() || self.aggregate() || self.extreme();
        if !done {
            self.list();
        }
        self.group();
        self.order();
        self.query.from.clone_from(&self.from);
        self.finish()
    }

    fn aim(&mut self) {
        let totals = phrases::first(&self.links.tokens, &words().average, &self.used)
            .or_else(|| phrases::first(&self.links.tokens, &words().sum, &self.used));
        let counted = phrases::first(&self.links.tokens, &words().count, &self.used);
        if counted.is_some() {
            return;
        }
        if let Some(place) = totals
            && let Some(mention) =
                target::measure_near(self.links, self.schema, &self.from, place, 4)
            && mention.table != self.from
        {
            self.from.clone_from(&mention.table);
        }
    }

    pub(super) fn mark(&mut self, at: usize, len: usize) {
        self.used[at..at + len].fill(true);
    }

    pub(super) fn taken(&mut self, mention: &Mention) {
        self.mark(mention.at, mention.len);
    }

    pub(super) fn selected(&self, mention: &Mention, aggregate: Option<Aggregate>) -> Select {
        Select {
            column: mention.column.clone(),
            table: (mention.table != self.from).then(|| mention.table.clone()),
            aggregate,
        }
    }

    fn finish(mut self) -> Reading {
        for mention in self.links.tables.iter().filter(|m| m.score >= 0.5) {
            self.used[mention.at..mention.at + mention.len].fill(true);
        }
        let stop = &words().stop;
        let content: Vec<usize> = (0..self.links.tokens.len())
            .filter(|&at| {
                let token = &self.links.tokens[at];
                !token.apart && !stop.contains(&token.lower) && !stop.contains(&token.stem)
            })
            .collect();
        let goes_with = |at: usize| {
            at > 0 && self.used[at - 1] && words().suffixes.contains(&self.links.tokens[at].stem)
        };
        let explained = content
            .iter()
            .filter(|&&at| self.used[at] || goes_with(at))
            .count();
        #[expect(clippy::cast_precision_loss, reason = "a few words")]
        let coverage = if content.is_empty() {
            0.5
        } else {
            explained as f32 / content.len() as f32
        };
        let subject = self
            .links
            .tables
            .iter()
            .filter(|m| m.table == self.from)
            .map(|m| m.score)
            .fold(0.0, f32::max);
        let valued = self.links.values.iter().any(|v| !v.partial);
        let score =
            0.6f32.mul_add(coverage, 0.2) + 0.08 * subject + if valued { 0.08 } else { 0.0 }
                - if subject < 0.5 && coverage < 1.0 {
                    0.1
                } else {
                    0.0
                };
        let why = format!(
            "rows of {}, {}; {explained} of {} telling words explained",
            self.from,
            self.what.join(", "),
            content.len()
        );
        Reading {
            ask: Ask::Query(self.query),
            score,
            why,
        }
    }
}
