//! Which rows are meant: values, texts, flags, and what is missing.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};
use steward_core::text::{parts, stem, words};

use super::Composer;
use crate::draft::Found;
use crate::draft::asking::{Mark, Marked, Weight, asking};
use crate::draft::choice::{Rivals, leads, preposition};
use crate::draft::dates::When;
use crate::draft::flags::{is_flag, word_for};
use crate::draft::links::{Link, Name, is_negated, label, same_root, twins};
use crate::model::{Field, FieldKind};
use crate::query::{Condition, Op};

/// A value with the field that it is compared with.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Taken {
    start: usize,
    len: usize,
    /// Its place among those that were found.
    found: usize,
    place: usize,
    field: String,
}

impl Composer<'_, '_> {
    /// Values of the database that the request says; longer ones first.
    pub(super) fn values(&mut self) {
        let values = self.found.iter().filter(|one| !one.month);
        let mut spans: Vec<_> = values.map(|one| (one.words.start, one.words.len())).collect();
        spans.sort_by_key(|(start, len)| (std::cmp::Reverse(*len), *start));
        spans.dedup();
        let mut taken: Vec<Taken> = Vec::new();
        for (start, len) in spans {
            let words = start..start + len;
            let over = |(from, len): (usize, usize)| from < words.end && words.start < from + len;
            let is_time = self.times.iter().any(|when| over((when.at, when.len)));
            // "account 2024": a value of the field that is named right before it.
            let follows = is_time
                && self.links.fields().any(|(link, _, field)| {
                    let is_it = |one: &Found| one.words == words && one.exact && one.field == field.name;
                    link.at + link.len == start && self.found.iter().any(is_it)
                });
            if taken.iter().any(|one| over((one.start, one.len))) || (is_time && !follows) {
                continue;
            }
            let some = &self.request.tokens[words.clone()];
            let proper = some.iter().any(|token| token.proper || token.quote.is_some());
            // What is called so is no value of the same name, unless it is written as one.
            let named = self.links.links.iter().any(|link| over((link.at, link.len)) && link.score >= 0.7);
            let exact = self.found.iter().any(|one| one.words == words && one.exact && !one.month);
            // "Texas (TX)": the value in brackets says it, and the word before it is no other condition.
            if !exact && self.is_said_in_brackets(words.end) {
                continue;
            }
            if (named && !(proper && exact)) || (!proper && some.iter().all(|token| token.weight != Weight::Full)) {
                continue;
            }
            if !proper && len == 1 && (self.request.mark_at(start).is_some() || !self.is_code(start)) {
                continue;
            }
            let before = start.checked_sub(1).and_then(|at| self.request.mark_at(at).copied());
            let by = before.filter(|mark| matches!(mark.mark, Mark::By | Mark::Each));
            if let Some(mark) = by {
                self.consume(mark);
            }
            let by = by.is_some();
            let is_it = |one: &&Found| one.words == words && one.exact == exact && !one.month;
            let of: Vec<&Found> = self.found.iter().filter(is_it).collect();
            let places = self.links.places_of(self.request, &of, by);
            if let Some((at, place)) = self.meant(&of, &places, &words) {
                let field = self.led_to(place, &of[at].field, &words);
                let found = self.found.iter().position(|one| std::ptr::eq(one, of[at])).unwrap_or_default();
                taken.push(Taken { start, len, found, place, field });
            }
        }
        for one in &mut taken {
            self.move_to_row(one);
        }
        taken.sort_unstable();
        let is_apart = |when: &When, one: &Taken| when.at + when.len <= one.start || one.start + one.len <= when.at;
        self.times.retain(|when| taken.iter().all(|one| is_apart(when, one)));
        for two in taken.windows(2) {
            let between = |mark: &&Marked| mark.mark == Mark::Or && (two[0].start..two[1].start).contains(&mark.at);
            let same = two[0].place == two[1].place && two[0].field == two[1].field;
            if let Some(or) = self.request.marks.iter().find(between).filter(|_| same) {
                self.consumed.insert(or.at);
            }
        }
        let turned = self.turned_of(&taken);
        let mut by_field: BTreeMap<(String, bool, bool), Vec<Value>> = BTreeMap::new();
        for (Taken { start, len, found, place, field: name }, turned) in taken.into_iter().zip(turned) {
            let one = &self.found[found];
            let path = format!("{}{name}", self.links.places[place].path);
            self.use_condition(start..start + len, 1.0, place);
            self.said.push((start..start + len, place, name.clone()));
            self.out.strange &= place != 0;
            let links = self.links;
            // The name of the field beside it is said with it.
            let beside = links.fields().filter(|(_, of, field)| *of == place && field.name == name);
            for (link, ..) in beside.filter(|(link, ..)| link.at.abs_diff(start) <= 4) {
                self.use_condition(link.words(), 0.9, place);
            }
            for link in links.links.iter().filter(|link| link.name == Name::Relation(place)) {
                self.use_condition(link.words(), link.score, place);
            }
            if one.exact && self.request.tokens[start].bracketed {
                let is_name = |at: &usize| self.is_free(*at) && self.request.tokens[*at].proper;
                let names: Vec<usize> = (0..start).rev().take_while(is_name).collect();
                for at in names {
                    self.use_condition(at..at + 1, 1.0, place);
                }
            }
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
                    // Who asks for what is not so means rows of which something is known.
                    if turned {
                        self.require(&path, Op::NotNull, Value::Null);
                    }
                }
            }
        }
        self.parts_of_texts();
    }

    /// Which values are negated: `neither Norway nor Spain` are both.
    fn turned_of(&mut self, taken: &[Taken]) -> Vec<bool> {
        const JOIN: [&str; 8] = ["or", "nor", "oder", "noch", "ou", "ni", "and", "und"];
        let mut all: Vec<bool> = Vec::new();
        for (at, one) in taken.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| (&taken[before], all[before]));
            let joined = before.is_some_and(|(before, turned)| {
                let between = self.request.tokens.get(before.start + before.len..one.start).unwrap_or_default();
                let is_join = |token: &crate::draft::asking::Token| JOIN.contains(&token.lower.as_str());
                turned
                    && before.place == one.place
                    && before.field == one.field
                    && between.len() == 1
                    && between.iter().all(is_join)
            });
            if joined {
                for at in taken[at - 1].start..one.start {
                    self.use_words([at], 1.0);
                }
            }
            all.push(joined || self.turned(one.start));
        }
        all
    }

    /// `the sponsor of Max Orr`, `who translated Fjord`: the value is of the row, and what is asked for is its relation.
    fn move_to_row(&self, one: &mut Taken) {
        const ARTICLES: [&str; 6] = ["the", "der", "die", "das", "le", "la"];
        const ASKS: [&str; 5] = ["what", "which", "welcher", "welche", "welches"];
        if one.place == 0 || !self.is_single(one.place) {
            return;
        }
        let tokens = &self.request.tokens;
        let is_it = |link: &&crate::draft::links::Link| {
            let behind = link.at + link.len;
            matches!(link.name, Name::Relation(_) | Name::Place(_)) && behind <= one.start && one.start - behind <= 2
        };
        let Some(link) = self.links.links.iter().rfind(is_it).filter(|link| link.name == Name::Relation(one.place))
        else {
            return;
        };
        let between = tokens.get(link.at + link.len..one.start).unwrap_or_default();
        let said = |list: &[&str], at: usize| tokens.get(at).is_some_and(|token| list.contains(&token.lower.as_str()));
        let asks = self.request.marks.iter().find(|mark| mark.mark == Mark::Person && mark.at < link.at);
        let is_noun =
            link.at.checked_sub(1).is_some_and(|at| said(&ARTICLES, at)) && (asks.is_some() || said(&ASKS, 0));
        // "who reports to Ann" is the other way round.
        let is_active = asks.is_some_and(|mark| mark.at + mark.len == link.at) && between.is_empty();
        if !(is_noun || is_active) {
            return;
        }
        let known = self.links.places[0].known;
        let words = one.start..one.start + one.len;
        let labels = label(known);
        let own = self.found.iter().position(|found| {
            found.words == words
                && found.exact == self.found[one.found].exact
                && found.domain == known.domain.name
                && labels.iter().any(|field| field.name == found.field)
        });
        if let Some(found) = own {
            (one.found, one.place) = (found, 0);
            one.field.clone_from(&self.found[found].field);
        }
    }

    fn is_said_in_brackets(&self, at: usize) -> bool {
        let is_bracketed = self.request.tokens.get(at).is_some_and(|token| token.bracketed);
        is_bracketed && self.found.iter().any(|one| one.exact && !one.month && one.words.start == at)
    }

    /// Whether a word is a number that is written as a code, or stands behind the name of a field or table: `account 0010`.
    fn is_code(&self, at: usize) -> bool {
        let token = &self.request.tokens[at];
        let named = || {
            let begin = at.saturating_sub(2);
            (begin..at).any(|before| self.links.at(before).is_some()) && self.request.unit(at + 1).is_none()
        };
        token.number.is_none() || (token.text.len() > 1 && token.text.starts_with('0')) || named()
    }

    /// Where a value is meant, of several places. What nothing tells apart is said to be open.
    fn meant(&mut self, of: &[&Found], all: &[(usize, usize)], words: &Range<usize>) -> Option<(usize, usize)> {
        let first = *all.first()?;
        let places = &self.links.places;
        let name = |at: usize| of[at].field.as_str();
        let twins = twins(places, first.1);
        let is_rival =
            |(at, place): &&(usize, usize)| *place == first.1 || (twins.contains(place) && name(*at) == name(first.0));
        let mut rivals: Vec<(usize, usize)> = Vec::new();
        for (at, place) in all.iter().filter(is_rival).copied() {
            // The database may have a value in several spellings.
            if !rivals.iter().any(|(other, of)| *of == place && name(*other) == name(at)) {
                rivals.push((at, place));
            }
        }
        // A first and a last name are of the same person.
        let labels = label(places[first.1].known);
        let is_label =
            |(at, place): &(usize, usize)| *place == first.1 && labels.iter().any(|field| field.name == name(*at));
        if rivals.len() < 2 || rivals.iter().all(is_label) {
            return Some(first);
        }
        let fields: Vec<_> = rivals.iter().map(|(at, place)| (*place, places[*place].known.field(name(*at)))).collect();
        let named = Rivals::new(places, &fields);
        let chosen = named.chosen(self.request, words);
        if chosen.is_none() {
            let text = self.request.tokens[words.clone()].iter().map(|token| token.text.as_str());
            self.out.open.push(format!("{} ({})", text.collect::<Vec<_>>().join(" "), named.told()));
        }
        Some(rivals[chosen.unwrap_or_default()])
    }

    /// The field that a value is compared with: what is led to is not where something comes from, even where the database
    /// has the value there only.
    fn led_to(&mut self, place: usize, field: &str, words: &Range<usize>) -> String {
        let place = &self.links.places[place];
        let name: Vec<String> = parts(&place.path.replace('.', " ")).into_iter().chain(parts(field)).collect();
        let opposite = preposition(self.request, words).filter(|direction| {
            let other = asking().directions.values().find(|one| !std::ptr::eq(*one, *direction));
            !leads(direction, &name) && other.is_some_and(|other| leads(other, &name))
        });
        let Some(direction) = opposite else { return field.to_owned() };
        let fits = |field: &&Field| field.kind.is_text() && field.filterable && leads(direction, &parts(&field.name));
        if let Some(other) = place.known.domain.fields.iter().find(fits) {
            return other.name.clone();
        }
        let text = self.request.tokens[words.clone()].iter().map(|token| token.text.as_str());
        self.out.open.push(text.collect::<Vec<_>>().join(" "));
        field.to_owned()
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
        // A word that only means about the same is not enough for texts.
        let is_named = |at: usize, field: &Field| {
            field.kind != FieldKind::String
                || parts(&field.name).iter().any(|part| same_root(part, &self.request.tokens[at].lower))
                || is_negated(&self.request.tokens[at].lower, &field.name)
        };
        let flags = links
            .fields()
            .filter(|(link, place, field)| is_flag(field) && !links.places[*place].many && is_named(link.at, field));
        let flags: Vec<_> = flags.collect();
        for (link, place, field) in flags {
            let path = links.path(place, field);
            let word = &self.request.tokens[link.at].lower;
            let negative = is_negated(word, &field.name);
            let denied = self.turned(link.at) || self.without(link.at);
            let value = negative == denied;
            let value = match field.kind {
                FieldKind::Int => json!(i32::from(value)),
                FieldKind::String => json!(word_for(field, value)),
                _ => json!(value),
            };
            self.require(path, Op::Eq, value);
            self.use_condition(link.words(), link.score, place);
        }
    }

    /// Whether what is said between two places is a condition of its own: in "not blocked and from Norway" only the first
    /// one is negated.
    fn is_used_up(&self, from: usize, to: usize) -> bool {
        const AND: [&str; 10] = ["and", "but", "though", "und", "aber", "et", "mais", "y", "e", "pero"];
        (from..to).any(|at| {
            let is_flag =
                |link: &Link| matches!(link.name, Name::Field(place, field) if is_flag(self.links.field(place, field)));
            let joins =
                AND.contains(&self.request.tokens[at].lower.as_str()) && self.request.told_between(from, at) > 0;
            joins || self.links.at(at).is_some_and(is_flag)
        })
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
        let found = marks
            .find(|one| request.told_between(one.words().end, at) <= between && !self.is_used_up(one.words().end, at));
        if let Some(mark) = found {
            self.consume(*mark);
        }
        found.is_some()
    }
}
