//! Which rows are meant: values, texts, flags, and what is missing.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use steward_core::text::{stem, words};

use super::{Composer, is_flag};
use crate::draft::Found;
use crate::draft::asking::{Mark, Weight};
use crate::draft::links::{Name, label};
use crate::model::FieldKind;
use crate::query::{Condition, Op};

impl Composer<'_, '_> {
    /// Values of the database that the request says; longer ones first.
    pub(super) fn values(&mut self) {
        let mut spans: Vec<_> = self.found.iter().map(|one| (one.words.start, one.words.len())).collect();
        spans.sort_by_key(|(start, len)| (std::cmp::Reverse(*len), *start));
        spans.dedup();
        let mut taken: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (start, len) in spans {
            let words = start..start + len;
            let over = |(from, len): (usize, usize)| from < words.end && words.start < from + len;
            if taken.iter().any(|one| over((one.0, one.1))) || self.times.iter().any(|when| over((when.at, when.len))) {
                continue;
            }
            let some = &self.request.tokens[words.clone()];
            let proper = some.iter().any(|token| token.proper || token.quote.is_some());
            // What is called so is no value of the same name, unless it is written as one.
            let named = self.links.links.iter().any(|link| over((link.at, link.len)) && link.score >= 0.7);
            let exact = self.found.iter().any(|one| one.words == words && one.exact);
            if (named && !(proper && exact)) || (!proper && some.iter().all(|token| token.weight != Weight::Full)) {
                continue;
            }
            if !proper && len == 1 && self.request.mark_at(start).is_some() {
                continue;
            }
            let before = start.checked_sub(1).and_then(|at| self.request.mark_at(at).copied());
            let by = before.filter(|mark| matches!(mark.mark, Mark::By | Mark::Each));
            if let Some(mark) = by {
                self.consume(mark);
            }
            let by = by.is_some();
            let of: Vec<&Found> = self.found.iter().filter(|one| one.words == words && one.exact == exact).collect();
            if let Some((at, place)) = self.links.place_of(&of, by) {
                let found = self.found.iter().position(|one| std::ptr::eq(one, of[at])).unwrap_or_default();
                taken.push((start, len, found, place));
            }
        }
        taken.sort_unstable();
        let mut by_field: BTreeMap<(String, bool, bool), Vec<Value>> = BTreeMap::new();
        for (start, len, found, place) in taken {
            let one = &self.found[found];
            let path = format!("{}{}", self.links.places[place].path, one.field);
            self.use_condition(start..start + len, 1.0, place);
            self.out.strange &= place != 0;
            let links = self.links;
            // The name of the field beside it is said with it.
            let beside = links.fields().filter(|(_, of, field)| *of == place && field.name == one.field);
            for (link, ..) in beside.filter(|(link, ..)| link.at.abs_diff(start) <= 4) {
                self.use_condition(link.words(), 0.9, place);
            }
            for link in links.links.iter().filter(|link| link.name == Name::Relation(place)) {
                self.use_condition(link.words(), link.score, place);
            }
            let turned = self.turned(start);
            by_field.entry((path, one.exact, turned)).or_default().push(json!(one.value));
        }
        for ((path, exact, turned), mut values) in by_field {
            values.dedup();
            match (exact, turned, values.as_slice()) {
                (true, false, [only]) => self.require(path, Op::Eq, only.clone()),
                (true, false, _) => self.require(path, Op::In, Value::Array(values)),
                _ => {
                    let op = if turned { Op::Ne } else { self.part_of() };
                    for value in values {
                        self.require(&path, op, value);
                    }
                }
            }
        }
        self.parts_of_texts();
    }

    pub(super) fn part_of(&self) -> Op {
        if self.request.marked(Mark::Starts).is_some() { Op::Starts } else { Op::Contains }
    }

    /// `whose title contains love`: the word after it, whether the database has it or not.
    pub(super) fn parts_of_texts(&mut self) {
        let (request, links) = (self.request, self.links);
        for mark in [Mark::Contains, Mark::Starts].into_iter().filter_map(|mark| request.marked(mark)) {
            let said = |at: &usize| {
                let token = &request.tokens[*at];
                token.weight == Weight::Full || token.proper || token.quote.is_some()
            };
            // "starting with the cheapest" is an order.
            if (mark.at..mark.at + mark.len + 2)
                .any(|at| request.mark_at(at).is_some_and(|one| matches!(one.mark, Mark::High | Mark::Low)))
            {
                self.consume(*mark);
                continue;
            }
            let skip = ["word", "words", "letter", "letters", "text", "phrase"];
            let is_skipped = |at: &usize| skip.contains(&request.tokens[*at].lower.as_str());
            let begin = mark.at + mark.len;
            let after = (begin..request.tokens.len().min(begin + 4)).filter(said).find(|at| !is_skipped(at));
            let Some(at) = after else { continue };
            let token = &request.tokens[at];
            let text = token.quote.map_or(&token.text, |quote| &request.quotes[quote]);
            let words: Vec<usize> = match token.quote {
                Some(quote) => {
                    (at..request.tokens.len()).filter(|at| request.tokens[*at].quote == Some(quote)).collect()
                }
                None => vec![at],
            };
            let named = links
                .fields()
                .filter(|(link, place, field)| field.kind.is_text() && link.at < mark.at && !links.places[*place].many);
            let named = named.last().map(|(link, place, field)| (Some(link), place, field));
            let field = named.or_else(|| label(links.places[0].known).first().map(|field| (None, 0, *field)));
            let Some((link, place, field)) = field else { continue };
            // What was taken for a value of this word is replaced.
            self.out.query.conditions.retain(|condition| {
                !matches!(condition, Condition::Compare(one) if one.value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(text)))
            });
            let op = if mark.mark == Mark::Starts { Op::Starts } else { Op::Contains };
            self.require(links.path(place, field), op, json!(text));
            self.use_words(words.iter().copied().chain(mark.words()), 1.0);
            self.consumed.insert(mark.at);
            self.use_words((begin..at).filter(is_skipped), 1.0);
            self.out.conditions.extend(words);
            if let Some(link) = link {
                self.use_condition(link.words(), link.score, place);
            }
        }
    }

    /// `women` for what an example of a field calls so.
    pub(super) fn examples(&mut self) {
        let links = self.links;
        for (index, place) in links.places.iter().enumerate().filter(|(_, place)| place.hops <= 1) {
            for field in place.known.domain.fields.iter().filter(|field| field.filterable && !is_flag(field)) {
                for example in &field.examples {
                    let words: Vec<String> = words(&example.text).iter().map(|word| stem(word.text)).collect();
                    let at = self
                        .request
                        .tokens
                        .windows(words.len().max(1))
                        .position(|some| some.iter().zip(&words).all(|(token, word)| token.stem == *word));
                    let Some(at) =
                        at.filter(|at| !words.is_empty() && (*at..at + words.len()).any(|at| self.is_free(at)))
                    else {
                        continue;
                    };
                    let Ok(op) = example.op.parse::<Op>() else { continue };
                    let value = match field.kind {
                        FieldKind::Int | FieldKind::Float => serde_json::from_str(&example.value).unwrap_or_default(),
                        FieldKind::Bool => json!(example.value == "true"),
                        _ => json!(example.value),
                    };
                    self.require(links.path(index, field), op, value);
                    self.use_condition(at..at + words.len(), 1.0, index);
                }
            }
        }
    }

    /// `active customers`: a field that is yes or no.
    pub(super) fn flags(&mut self) {
        let links = self.links;
        let flags = links.fields().filter(|(_, place, field)| is_flag(field) && !links.places[*place].many);
        for (link, place, field) in flags {
            let path = links.path(place, field);
            let word = &self.request.tokens[link.at].lower;
            let negative = ["in", "un", "non", "dis"]
                .iter()
                .any(|begin| word.strip_prefix(begin).is_some_and(|rest| path.ends_with(rest)));
            let value = !(negative || self.turned(link.at) || self.without(link.at));
            let value = if field.kind == FieldKind::Int { json!(i32::from(value)) } else { json!(value) };
            self.require(path, Op::Eq, value);
            self.use_condition(link.words(), link.score, place);
        }
    }

    /// `without a company`, `no album`.
    pub(super) fn missing(&mut self) {
        let mut taken = None;
        let links = self.links;
        for link in &links.links {
            if !self.without(link.at) || self.out.conditions.contains(&link.at) {
                continue;
            }
            let (place, path) = match link.name {
                Name::Field(place, field) if !links.places[place].many => {
                    (place, links.path(place, links.field(place, field)))
                }
                Name::Place(place) | Name::Relation(place) if links.places[place].hops == 1 => {
                    (place, links.places[place].path.trim_end_matches('.').to_owned())
                }
                _ => continue,
            };
            // "email address" is one thing.
            if taken == Some(link.at) {
                self.use_link(link, place);
                continue;
            }
            self.require(path, Op::IsNull, Value::Null);
            self.use_condition(link.words(), link.score, place);
            taken = Some(link.at + link.len);
        }
    }

    pub(super) fn turned(&mut self, at: usize) -> bool {
        self.says_before(Mark::Not, at, 1)
    }

    /// Whether a word says shortly before that it is missing.
    pub(super) fn without(&mut self, at: usize) -> bool {
        self.says_before(Mark::Without, at, 0)
    }

    /// Whether a mark stands before a place, with at most so many words that name something between.
    fn says_before(&mut self, mark: Mark, at: usize, between: usize) -> bool {
        let request = self.request;
        let mut marks = request.marks.iter().filter(|one| one.mark == mark && one.words().end <= at);
        let found = marks.find(|one| request.told_between(one.words().end, at) <= between);
        if let Some(mark) = found {
            self.consume(*mark);
        }
        found.is_some()
    }
}
