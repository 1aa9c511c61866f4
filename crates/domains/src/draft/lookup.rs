//! Queries that tell where the words of a request are values of the database.

use serde_json::{Value, json};

use super::dates::times;
use super::links::label;
use super::{Found, Phrase, Request};
use crate::model::Field;
use crate::query::{Condition, DatePart, Group, Op, Query};
use crate::registry::Known;

/// Values of one field that may be found.
const MOST_VALUES: u32 = 40;
/// Names that are looked for as parts of values.
const MOST_PARTS: usize = 3;

/// A query for the values of one field, and what it looks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    pub query: Query,
    domain: String,
    field: String,
    phrases: Vec<Phrase>,
    exact: bool,
    /// Months whose years are looked for: the place of the word, and the month.
    months: Vec<(usize, u32)>,
}

impl Lookup {
    /// The years of a field of dates.
    fn years(known: Known<'_>, field: &Field, months: Vec<(usize, u32)>) -> Self {
        let query = Query {
            domain: known.domain.name.clone(),
            group: vec![Group { field: field.name.clone(), by: Some(DatePart::Year) }],
            limit: Some(MOST_VALUES),
            ..Query::default()
        };
        let (domain, field) = (known.domain.name.clone(), field.name.clone());
        Self { query, domain, field, phrases: Vec::new(), exact: true, months }
    }

    fn new(known: Known<'_>, field: &Field, phrases: Vec<Phrase>, exact: bool) -> Self {
        let condition = if exact {
            let mut texts: Vec<&str> =
                phrases.iter().flat_map(|one| [one.text.as_str(), one.singular.as_str()]).collect();
            texts.sort_unstable();
            texts.dedup();
            Condition::compare(&field.name, Op::In, json!(texts))
        } else {
            let any = phrases.iter().map(|one| Condition::compare(&field.name, Op::Contains, json!(one.text)));
            Condition::Any { any: any.collect() }
        };
        let query = Query {
            domain: known.domain.name.clone(),
            conditions: vec![condition],
            group: vec![Group { field: field.name.clone(), by: None }],
            limit: Some(MOST_VALUES),
            ..Query::default()
        };
        let (domain, field) = (known.domain.name.clone(), field.name.clone());
        Self { query, domain, field, phrases, exact, months: Vec::new() }
    }

    /// What the values that the query returned say.
    pub fn found(&self, values: &[Value]) -> Vec<Found> {
        let mut found = Vec::new();
        let years = values.iter().filter_map(|value| value.as_i64().or_else(|| value.as_str()?.parse().ok()));
        for year in years {
            found.extend(self.months.iter().map(|(at, month)| Found {
                words: *at..*at + 1,
                domain: self.domain.clone(),
                field: self.field.clone(),
                value: format!("{year:04}-{month:02}"),
                exact: true,
                month: true,
            }));
        }
        for value in values.iter().filter_map(Value::as_str) {
            let lower = value.trim().to_lowercase();
            for phrase in &self.phrases {
                let (text, singular) = (phrase.text.to_lowercase(), phrase.singular.to_lowercase());
                let fits = if self.exact { lower == text || lower == singular } else { lower.contains(&text) };
                if fits {
                    let value = if self.exact { value.to_owned() } else { phrase.text.clone() };
                    let (domain, field) = (self.domain.clone(), self.field.clone());
                    let words = phrase.words.clone();
                    found.push(Found { words, domain, field, value, exact: self.exact, month: false });
                }
            }
        }
        found.dedup();
        found
    }
}

/// Where whole values may stand: one query for each field of a short text, and for each date if a month has no year.
pub fn lookups(request: &Request, subjects: &[Known<'_>]) -> Vec<Lookup> {
    let phrases = request.phrases();
    let months: Vec<(usize, u32)> = times(request).iter().filter_map(|when| Some((when.at, when.month?))).collect();
    let fields = subjects.iter().flat_map(|known| known.domain.fields.iter().map(|field| (*known, field)));
    let lookup = |(known, field): (Known<'_>, &Field)| match () {
        () if field.kind.is_text() && !phrases.is_empty() => Some(Lookup::new(known, field, phrases.clone(), true)),
        () if field.kind.is_time() && !months.is_empty() => Some(Lookup::years(known, field, months.clone())),
        () => None,
    };
    fields.filter(|(_, field)| field.filterable).filter_map(lookup).collect()
}

/// Where names that are no whole values may be part of some: in the fields that name rows.
pub fn lookups_of_parts(request: &Request, subjects: &[Known<'_>], found: &[Found]) -> Vec<Lookup> {
    let known = |at: usize| found.iter().any(|one| one.words.contains(&at));
    let open = |phrase: &Phrase| {
        phrase.proper
            && phrase.text.chars().count() > 2
            && phrase.words.clone().any(|at| !known(at) && request.tokens[at].weight != super::asking::Weight::None)
    };
    let phrases: Vec<Phrase> = request.phrases().into_iter().filter(open).take(MOST_PARTS).collect();
    if phrases.is_empty() {
        return Vec::new();
    }
    let labels = subjects.iter().flat_map(|known| label(*known).into_iter().map(|field| (*known, field)));
    let labels = labels.filter(|(_, field)| field.filterable);
    labels.map(|(known, field)| Lookup::new(known, field, phrases.clone(), false)).collect()
}
