//! Which date of several the times of a request are about.

use serde_json::json;
use steward_core::text::parts;

use super::{Composer, Measured};
use crate::draft::asking::Weight;
use crate::draft::choice::leads;
use crate::draft::dates::{When, comparison};
use crate::draft::links::{Name, has_part, same_root};
use crate::model::Field;
use crate::query::Op;

/// Words between a verb and its time.
const NEAR: usize = 5;
/// Dates that only those mean who say so.
pub(super) const SELDOM: [&str; 32] = [
    "birth",
    "birthday",
    "born",
    "dob",
    "birthdate",
    "geburtstag",
    "geburtsdatum",
    "update",
    "updated",
    "modified",
    "changed",
    "deleted",
    "removed",
    "archived",
    "scrapped",
    "cancelled",
    "canceled",
    "retired",
    "expired",
    "expires",
    "expiry",
    "closed",
    "left",
    "returned",
    "ended",
    "end",
    "until",
    "terminated",
    "died",
    "deceased",
    "resolved",
    "death",
];

impl<'d> Composer<'_, 'd> {
    /// `arrival in 2024 and departure in 2025`: each time with its own date.
    pub(super) fn dates_of_their_own(&mut self, all: &[When]) -> bool {
        if all.len() < 2 || all.iter().any(|when| when.month.is_some()) {
            return false;
        }
        let mut begin = 0;
        let mut own: Vec<(&When, usize, Measured<'d>)> = Vec::new();
        for when in all {
            let from = begin.max(when.at.saturating_sub(NEAR));
            let Some((at, field)) = (from..when.at).rev().find_map(|at| Some((at, self.date_by_word(at)?))) else {
                return false;
            };
            own.push((when, at, field));
            begin = when.at + when.len;
        }
        let name = |one: &Measured<'_>| self.links.path(one.place, one.field);
        if own.iter().all(|(.., one)| name(one) == name(&own[0].2)) {
            return false;
        }
        for (when, at, one) in own {
            let compared = comparison(self.request, when.at, when.at + when.len);
            let path = self.links.path(one.place, one.field);
            self.require(path, compared.map_or(Op::Eq, |(op, ..)| op), json!(when.text));
            self.consumed.extend(compared.map(|(_, at, _)| at));
            let words = (when.at..when.at + when.len)
                .chain([at])
                .chain(compared.into_iter().flat_map(|(_, at, len)| at..at + len));
            for word in words.collect::<Vec<_>>() {
                self.use_condition(word..word + 1, 1.0, one.place);
            }
        }
        true
    }

    /// The date that a word names, or that was set when what it says was done.
    fn date_by_word(&self, at: usize) -> Option<Measured<'d>> {
        let links = self.links;
        if let Some(link) = links.at(at)
            && let Name::Field(place, field) = link.name
            && !links.places[place].many
            && links.field(place, field).kind.is_time()
        {
            return Some(Measured { place, field: links.field(place, field) });
        }
        let token = &self.request.tokens[at];
        if token.weight == Weight::None || token.proper || self.request.mark_at(at).is_some() {
            return None;
        }
        let direction = self.request.direction(at, true);
        let fits = |field: &&'d Field| {
            let names = parts(&field.name);
            let same = names.iter().any(|part| part.len() >= 4 && part != "date" && same_root(part, &token.lower));
            field.kind.is_time() && (same || direction.is_some_and(|direction| leads(direction, &names)))
        };
        let of = |place: usize| {
            let mut found = links.places[place].known.domain.fields.iter().filter(|field| fits(field));
            let field = found.next().filter(|_| found.next().is_none())?;
            Some(Measured { place, field })
        };
        (0..links.places.len())
            .filter(|place| !links.places[*place].many && links.places[*place].hops <= 1)
            .find_map(of)
    }

    /// `born in 2010`
    pub(super) fn asks_for_births(&self) -> bool {
        let said = self.request.measures.iter().map(|(_, measure)| *measure);
        let mut all = said.chain(self.request.marks.iter().filter_map(|one| one.measure));
        all.any(|measure| measure.dates && !measure.fields.is_empty())
    }

    /// The date of times without a name; `None` inside: there is none, `None`: nothing says which of several.
    #[expect(clippy::option_option, reason = "no date is something else than several")]
    pub(super) fn date_of_times(&mut self, at: usize) -> Option<Option<Measured<'d>>> {
        let links = self.links;
        let is_named = links.fields().any(|(_, place, field)| field.kind.is_time() && !links.places[place].many);
        if is_named {
            return Some(self.date_field(Some(at)));
        }
        if self.asks_for_births() {
            // Of births, and of nothing else.
            let field = self.date_field(Some(at)).filter(|one| has_part(one.field, &SELDOM));
            return field.map(Some);
        }
        let mut words: Vec<usize> = (at.saturating_sub(NEAR)..self.request.tokens.len().min(at + NEAR)).collect();
        words.retain(|word| *word != at);
        words.sort_by_key(|word| word.abs_diff(at));
        if let Some(one) = words.iter().find_map(|word| self.date_by_word(*word)) {
            return Some(Some(one));
        }
        let known = links.places[0].known.domain;
        let usual: Vec<&Field> =
            known.fields.iter().filter(|field| field.kind.is_time() && !has_part(field, &SELDOM)).collect();
        let is_dated = |field: &Field| {
            let last = parts(&field.name).last().cloned().unwrap_or_default();
            field.kind.is_time() || (["at", "on", "date"].contains(&last.as_str()) && parts(&field.name).len() > 1)
        };
        let verb = words.into_iter().find(|word| *word < at && self.is_open_verb(*word));
        match usual.as_slice() {
            // A date that is no date here, or one that the question hardly means.
            [] if known.fields.iter().any(is_dated) => None,
            [] => Some(self.date_field(Some(at)).filter(|one| !has_part(one.field, &SELDOM))),
            [first, others @ ..] => {
                // "brought back", where there are several, or the only one is of something else that was done.
                let is_done = parts(&first.name).iter().any(|part| part.ends_with("ed"));
                self.out.ignored.extend(verb.filter(|_| !others.is_empty() || is_done));
                Some(Some(Measured { place: 0, field: first }))
            }
        }
    }

    /// A verb that names nothing here.
    fn is_open_verb(&self, at: usize) -> bool {
        let token = &self.request.tokens[at];
        let is_verb =
            token.lower.ends_with("ed") || ["brought", "sent", "left", "paid", "given"].contains(&token.lower.as_str());
        is_verb
            && token.weight == Weight::Full
            && self.is_free(at)
            && self.links.at(at).is_none()
            && self.request.mark_at(at).is_none()
            && self.request.direction(at, true).is_none()
    }
}
