//! What is there and what is not: related rows, dates of what was done, values.

use serde_json::{Value, json};
use steward_core::text::parts;

use super::Composer;
use crate::draft::asking::{Mark, Marked, Weight};
use crate::draft::choice::leads;
use crate::draft::links::{Link, Name, has_part, is_key, is_negated, same_root};
use crate::model::RelationKind;
use crate::query::{Condition, Op};

const NEVER: [&str; 5] = ["never", "nie", "niemals", "jamais", "nunca"];
const HAVE: [&str; 12] =
    ["have", "has", "had", "having", "with", "mit", "hat", "haben", "hatte", "hatten", "avec", "con"];
const BE: [&str; 14] =
    ["is", "are", "was", "were", "been", "have", "has", "ist", "sind", "war", "waren", "wurde", "wurden", "worden"];
const BETWEEN: [&str; 6] = ["been", "yet", "already", "also", "schon", "ever"];
const SOME: [&str; 10] = ["a", "an", "any", "some", "ein", "eine", "einen", "einem", "einer", "un"];

impl Composer<'_, '_> {
    /// `never sent a shipment`: no row that says so, rather than a row that lacks something.
    pub(super) fn never(&mut self) {
        let (request, links) = (self.request, self.links);
        let is_never = |one: &&Marked| {
            let words = &request.tokens[one.words()];
            one.mark == Mark::Without && words.first().is_some_and(|word| NEVER.contains(&word.lower.as_str()))
        };
        self.not_done();
        let marks: Vec<Marked> = request.marks.iter().filter(is_never).copied().collect();
        for mark in marks {
            let begin = mark.at + mark.len;
            let is_said = |at: &usize| {
                let token = &request.tokens[*at];
                token.weight != Weight::None && request.mark_at(*at).is_none()
            };
            let said: Vec<usize> = (begin..request.tokens.len().min(begin + 4)).filter(is_said).collect();
            let Some(verb) = said.first().copied() else { continue };
            let link = links.at(verb);
            // By its name, or by its meaning where no other relation leads there.
            let names_rows = |link: &Link| match link.name {
                Name::Place(place) | Name::Relation(place) => {
                    let one = &links.places[place];
                    link.score > 0.9 || (one.hops == 1 && one.many && link.open.is_none())
                }
                Name::Field(..) => false,
            };
            if self.out.conditions.contains(&verb) || link.is_some_and(names_rows) {
                continue;
            }
            let noun = said.get(1).and_then(|at| links.at(*at)).filter(|link| matches!(link.name, Name::Place(_)));
            if let Some(place) = self.done_by(verb, noun) {
                self.require(links.places[place].path.trim_end_matches('.'), Op::IsNull, Value::Null);
                self.use_condition(verb..verb + 1, 1.0, place);
                self.out.settled.extend(link.map(|link| link.at));
                if let Some(noun) = noun {
                    self.use_condition(noun.words(), noun.score, place);
                    self.out.settled.insert(noun.at);
                }
                self.consume(mark);
                self.missing = Some(noun.map_or(verb, |noun| noun.at) + 1);
                continue;
            }
            let is_own = |link: &Link| {
                matches!(link.name, Name::Field(0, field) if links.field(0, field).kind.is_time()
                    && parts(&links.field(0, field).name).iter().any(|part| same_root(part, &request.tokens[verb].lower)))
                    && links.links.iter().any(|one| one.name == Name::Place(0) && one.at < verb)
            };
            if !link.is_some_and(is_own) {
                // A column that is empty says something else.
                self.out.ignored.insert(verb);
                self.out.conditions.insert(verb);
            }
        }
    }

    /// `students who are not enrolled in any course`: no row that says so.
    fn not_done(&mut self) {
        let (request, links) = (self.request, self.links);
        let is_target = |at: usize| links.links.iter().any(|link| link.name == Name::Place(0) && link.at < at);
        let is_not = |one: &&Marked| {
            let last = request.tokens[one.words()].last();
            let is_word = last.is_some_and(|word| {
                ["not", "nicht", "pas", "no", "been"].contains(&word.lower.as_str()) || word.lower.ends_with("n't")
            });
            matches!(one.mark, Mark::Not | Mark::Without) && is_word && is_target(one.at)
        };
        let marks: Vec<Marked> = request.marks.iter().filter(is_not).copied().collect();
        for mark in marks {
            let begin = mark.at + mark.len;
            let Some(verb) = (begin..request.tokens.len().min(begin + 3))
                .find(|at| request.tokens[*at].weight != Weight::None && request.mark_at(*at).is_none())
            else {
                continue;
            };
            // What the row itself says, and names of rows, are understood elsewhere.
            let is_other = links.at(verb).is_some_and(|link| match link.name {
                Name::Field(place, _) | Name::Relation(place) => !links.places[place].many,
                Name::Place(_) => link.score > 0.9,
            });
            let is_verb = ["ed", "t", "n"].iter().any(|end| request.tokens[verb].lower.ends_with(end));
            if is_other || !is_verb || self.out.conditions.contains(&verb) {
                continue;
            }
            let Some(place) = self.done_by(verb, None) else { continue };
            let path = &links.places[place].path;
            let is_of = |field: &str| field.starts_with(path.as_str());
            let stands = |one: &Condition| matches!(one, Condition::Compare(one) if is_of(&one.field));
            if self.out.query.conditions.iter().any(stands) {
                // "not enrolled in Choir": no row of some kind.
                self.out.ignored.insert(verb);
                self.out.conditions.insert(verb);
                continue;
            }
            self.require(path.trim_end_matches('.'), Op::IsNull, Value::Null);
            self.use_condition(verb..verb + 1, 1.0, place);
            self.out.settled.insert(verb);
            self.consume(mark);
            self.missing = Some(verb + 1);
            let word = |at: usize| request.tokens.get(at).map_or("", |token| token.lower.as_str());
            let next = links.links.iter().find(|link| {
                link.at > verb
                    && link.at <= verb + 3
                    && matches!(link.name, Name::Place(_))
                    && SOME.contains(&word(link.at - 1))
            });
            if let Some(link) = next {
                let any = |at: usize| ["any", "a", "an"].contains(&word(at));
                let leads_there = |to: usize| {
                    let led = links.places.iter().filter(|one| one.from == place && one.hops == 2);
                    let mut domains = led.map(|one| one.known.domain.name.as_str());
                    domains.any(|name| name == links.places[to].known.domain.name)
                };
                match link.name {
                    Name::Place(to) if any(link.at - 1) && leads_there(to) => {
                        self.use_condition(link.words(), link.score, to);
                        self.out.settled.insert(link.at);
                        self.missing = Some(link.words().end);
                    }
                    _ => self.out.ignored.extend(link.words()),
                }
            }
        }
    }

    /// The list of rows that say that something was done to a row, or by it; only where one of them fits best.
    fn done_by(&self, verb: usize, noun: Option<&Link>) -> Option<usize> {
        let (request, places) = (self.request, &self.links.places);
        let word = &request.tokens[verb].lower;
        let domain = |place: usize| places[place].known.domain.name.as_str();
        let wanted = noun.and_then(|link| match link.name {
            Name::Place(place) => Some(domain(place)),
            _ => None,
        });
        let direction = request.direction(verb, true);
        let fit = |place: usize| {
            let one = &places[place];
            let relation = one.relation.filter(|_| one.many && one.hops == 1)?;
            let said = |names: &[String]| names.iter().any(|part| same_root(part, word));
            let own = parts(domain(place));
            let mut led: Vec<String> = relation.bind.iter().flat_map(|(_, foreign)| parts(foreign)).collect();
            led.extend(parts(&relation.name).into_iter().filter(|part| !own.contains(part)));
            let mut dates = one.known.domain.fields.iter().filter(|field| field.kind.is_time());
            let is_dated = dates.any(|field| said(&parts(&field.name)));
            match () {
                () if wanted.is_some_and(|wanted| wanted != domain(place)) => None,
                () if said(&led) || direction.is_some_and(|direction| leads(direction, &led)) => Some((3, place)),
                () if said(&own) => Some((2, place)),
                () if is_dated => Some((1, place)),
                () => None,
            }
        };
        let fits: Vec<(u32, usize)> = (1..places.len()).filter_map(fit).collect();
        let best = fits.iter().map(|(rank, _)| *rank).max()?;
        let mut of = fits.iter().filter(|(rank, _)| *rank == best).map(|(_, place)| *place);
        of.next().filter(|_| of.next().is_none())
    }

    /// `without a company`, `no album`, `not approved`, `not returned`.
    pub(super) fn missing(&mut self) {
        let mut taken = None;
        let links = self.links;
        for link in &links.links {
            if self.out.conditions.contains(&link.at) {
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
            let is_contrary = matches!(link.name, Name::Field(place, field)
                if is_negated(&self.request.tokens[link.at].lower, &links.field(place, field).name));
            if !(is_contrary || self.without(link.at) || (self.can_be_done(link) && self.is_undone(link))) {
                continue;
            }
            // "email address" is one thing.
            if taken == Some(link.at) {
                self.use_link(link, place);
                continue;
            }
            let none = Condition::compare(&path, Op::IsNull, Value::Null);
            // A number of nothing is zero too, and a text may be empty.
            let empty = match link.name {
                Name::Field(of, field) => {
                    let (known, field) = (links.places[of].known, links.field(of, field));
                    let zero = field.kind.is_number() && !is_key(known, field);
                    zero.then(|| json!(0)).or_else(|| field.kind.is_text().then(|| json!("")))
                }
                _ => None,
            };
            self.out.query.conditions.push(match empty {
                Some(value) => Condition::Any { any: vec![none, Condition::compare(&path, Op::Eq, value)] },
                None => none,
            });
            self.use_condition(link.words(), link.score, place);
            taken = Some(link.at + link.len);
            if !matches!(link.name, Name::Field(..)) {
                self.missing = taken;
            }
        }
    }

    /// Whether a link is to what was done to a row or not: the date of it, or who did it.
    fn can_be_done(&self, link: &Link) -> bool {
        let links = self.links;
        let conditions = serde_json::to_string(&self.out.query.conditions).unwrap_or_default();
        match link.name {
            Name::Relation(place) => {
                let one = &links.places[place];
                let required = one.relation.is_some_and(|relation| {
                    relation.bind.iter().any(|(local, _)| links.places[0].known.is_required(local))
                });
                one.hops == 1 && !one.many && !required && !conditions.contains(&format!("\"{}", one.path))
            }
            Name::Field(0, field) => {
                let field = links.field(0, field);
                let known = links.places[0].known;
                let word = &self.request.tokens[link.at].lower;
                field.kind.is_time()
                    && !known.is_required(&field.name)
                    && parts(&field.name).iter().any(|part| same_root(part, word) && part != "date")
                    && !["date", "time", "day", "datum"].contains(&word.as_str())
                    && self.times.is_empty()
            }
            _ => false,
        }
    }

    /// `not` right before it that has had no effect yet.
    fn is_undone(&mut self, link: &Link) -> bool {
        let request = self.request;
        let mut marks = request.marks.iter().filter(|one| one.mark == Mark::Not && one.words().end <= link.at);
        let found = marks.find(|one| request.told_between(one.words().end, link.at) == 0).copied();
        let Some(mark) = found.filter(|mark| !self.consumed.contains(&mark.at)) else { return false };
        self.consume(mark);
        true
    }

    /// `have a loan`, `with a translator`, `were approved`, `have left`.
    pub(super) fn present(&mut self) {
        let (request, links) = (self.request, self.links);
        let first = links.links.first().map(|link| link.at);
        for link in links.links.iter().filter(|link| Some(link.at) != first) {
            if self.out.conditions.contains(&link.at) {
                continue;
            }
            let words = |at: usize| request.tokens[at].lower.as_str();
            let begin = link.at.saturating_sub(3);
            let near = |list: &[&str]| {
                let found = (begin..link.at).rev().find(|at| list.contains(&words(*at)))?;
                let between = (found + 1..link.at).all(|at| SOME.contains(&words(at)) || BETWEEN.contains(&words(at)));
                between.then_some(found)
            };
            let is_some = link.at.checked_sub(1).is_some_and(|at| SOME.contains(&words(at)));
            let is_the = link.at.checked_sub(1).is_some_and(|at| ["the", "der", "die", "das"].contains(&words(at)));
            let relation = match link.name {
                Name::Place(place) | Name::Relation(place) if links.places[place].hops == 1 => Some(place),
                _ => None,
            };
            let path = match (relation, link.name) {
                (Some(place), _) if near(&HAVE).is_some() && is_some => {
                    links.places[place].path.trim_end_matches('.').to_owned()
                }
                (Some(place), Name::Relation(_)) if near(&BE).is_some() && !is_the && self.can_be_done(link) => {
                    links.places[place].path.trim_end_matches('.').to_owned()
                }
                (None, Name::Field(0, field)) if near(&BE).is_some() && !is_the && self.can_be_done(link) => {
                    links.path(0, links.field(0, field))
                }
                (None, Name::Field(0, _)) if near(&HAVE).is_some() && is_some && self.ends_at(link.words().end) => {
                    self.has_value(link);
                    continue;
                }
                _ => continue,
            };
            let stands = serde_json::to_string(&self.out.query.conditions).unwrap_or_default();
            if stands.contains(&format!("\"{path}.")) || stands.contains(&format!("\"{path}\"")) {
                continue;
            }
            let place = relation.unwrap_or_default();
            if relation.is_some_and(|place| links.places[place].many) && self.has_open_numbers() {
                // It may be one of those rows that the number or the time is of.
                self.out.ignored.extend(link.words());
            }
            self.require(path, Op::NotNull, Value::Null);
            self.use_condition(link.words(), link.score, place);
        }
    }

    /// `have a phone`: neither unknown nor empty.
    fn has_value(&mut self, link: &Link) {
        let Name::Field(place, field) = link.name else { return };
        let field = self.links.field(place, field);
        let path = self.links.path(place, field);
        self.require(&path, Op::NotNull, Value::Null);
        if field.kind.is_text() {
            self.require(&path, Op::Ne, json!(""));
        } else if field.kind.is_number() && !is_key(self.links.places[place].known, field) {
            self.require(&path, Op::Ne, json!(0));
        }
        self.use_condition(link.words(), link.score, place);
    }

    /// Whether nothing more is said of what ends there.
    fn ends_at(&self, at: usize) -> bool {
        const NEXT: [&str; 12] = ["and", "but", "or", "in", "und", "oder", "aber", "et", "mais", "ou", "y", "pero"];
        self.request.tokens.get(at).is_none_or(|token| NEXT.contains(&token.lower.as_str()))
    }

    /// `still out`: what went away and has not come back.
    pub(super) fn out_now(&mut self) {
        const BEFORE: [&str; 8] = ["is", "are", "was", "were", "still", "currently", "now", "right"];
        const BACK: [&str; 6] = ["returned", "return", "back", "returning", "checkin", "rückgabe"];
        let tokens = &self.request.tokens;
        let is_out = |at: &usize| {
            tokens[*at].lower == "out"
                && at.checked_sub(1).is_some_and(|before| BEFORE.contains(&tokens[before].lower.as_str()))
                && (self.ends_at(at + 1) || tokens[at + 1].lower == "now" || tokens[at + 1].lower == "currently")
        };
        let Some(at) = (0..tokens.len()).find(is_out) else { return };
        let domain = self.links.places[0].known.domain;
        let mut dates = domain.fields.iter().filter(|field| field.kind.is_time() && has_part(field, &BACK));
        match (dates.next(), dates.next(), self.turned(at)) {
            (Some(date), None, false) => {
                self.require(&date.name, Op::IsNull, Value::Null);
                self.use_condition(at..at + 1, 1.0, 0);
                let still: Vec<usize> =
                    self.request.marks.iter().filter(|mark| mark.mark == Mark::Now).map(|mark| mark.at).collect();
                self.use_words(still, 1.0);
            }
            _ => {
                self.out.ignored.insert(at);
            }
        }
    }

    fn has_open_numbers(&self) -> bool {
        self.times.iter().any(|when| self.is_free(when.at))
            || (0..self.request.tokens.len()).any(|at| self.is_free(at) && self.request.tokens[at].number.is_some())
    }

    /// Who did something is not the row that it was done to: "who translated Fjord".
    pub(super) fn check_who(&mut self) {
        let request = self.request;
        let Some(mark) = request.marked(Mark::Person).filter(|mark| mark.at == 0).copied() else { return };
        let query = &self.out.query;
        let labels = crate::draft::links::label(self.links.places[0].known);
        let is_named = |condition: &Condition| matches!(condition, Condition::Compare(one) if one.op == Op::Eq && labels.iter().any(|field| field.name == one.field));
        let shows_others = query.fields.iter().any(|field| field.contains('.'));
        if query.aggregate.is_empty()
            && query.group.is_empty()
            && !shows_others
            && query.conditions.iter().any(is_named)
        {
            self.out.ignored.extend(mark.words());
        }
    }

    /// Whether a relation is one of a row to another one, seen from it.
    pub(super) fn is_single(&self, place: usize) -> bool {
        let one = &self.links.places[place];
        one.hops == 1 && one.relation.is_some_and(|relation| relation.kind == RelationKind::BelongsTo)
    }
}
