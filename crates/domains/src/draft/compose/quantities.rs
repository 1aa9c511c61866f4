//! Conditions on times and numbers.

use serde_json::{Value, json};
use steward_core::text::parts;

use super::{Composer, Measured};
use crate::draft::Found;
use crate::draft::asking::{Mark, asking};
use crate::draft::dates::{When, comparison};
use crate::draft::links::Name;
use crate::model::{Field, FieldKind};
use crate::query::{Condition, Op};

impl<'d> Composer<'_, 'd> {
    pub(super) fn dates(&mut self) {
        let all: Vec<When> = self.times.iter().filter(|when| self.is_free(when.at)).cloned().collect();
        let Some(first) = all.first() else { return };
        if self.is_of_missing(first.at) {
            return;
        }
        if self.dates_of_their_own(&all) {
            return;
        }
        let chosen = self.date_of_times(first.at);
        let mut field = chosen.flatten();
        let year = self.year_field().filter(|year| {
            all.iter().all(|when| when.text.len() == 4)
                && field.is_none_or(|date| date.place >= year.place && !self.is_named(date.field))
        });
        if chosen.is_none() && (self.asks_for_births() || year.is_none_or(|year| year.place > 0)) {
            return;
        }
        field = year.or(field);
        let Some(Measured { place, field }) = field else { return };
        let path = self.links.path(place, field);
        let value = |text: &str| match field.kind {
            FieldKind::Int => json!(text.parse::<i64>().unwrap_or_default()),
            _ => json!(text),
        };
        let between = self.request.marked(Mark::Between).filter(|mark| mark.at < first.at);
        let mut words: Vec<usize> = all.iter().flat_map(|when| when.at..when.at + when.len).collect();
        let months: Vec<&When> = all.iter().filter(|when| when.month.is_some()).collect();
        if !months.is_empty() {
            let known = self.links.places[place].known;
            let is_it = |one: &&Found| one.month && one.domain == known.domain.name && one.field == field.name;
            let of = |when: &&When| self.found.iter().filter(|one| one.words.start == when.at).filter(is_it).count();
            let compared = all.iter().any(|one| comparison(self.request, one.at, one.at + one.len).is_some());
            // "before March" and "in March and 2024" say no year.
            if compared || between.is_some() || months.len() < all.len() || months.iter().any(|when| of(when) == 0) {
                self.out.ignored.extend(words);
                return;
            }
            let found = self.found.iter().filter(|one| months.iter().any(|when| when.at == one.words.start));
            let mut values: Vec<Value> = found.filter(is_it).map(|one| json!(one.value)).collect();
            values.dedup();
            self.consumed.extend(self.request.marks.iter().filter(|mark| mark.mark == Mark::Or).map(|mark| mark.at));
            self.require(path, Op::In, Value::Array(values));
            self.use_conditions_on(Measured { place, field }, words);
            return;
        }
        match (all.as_slice(), between) {
            ([from, to], Some(mark)) => {
                self.require(path, Op::Between, json!([value(&from.text), value(&to.text)]));
                words.extend(mark.words());
                self.consumed.insert(mark.at);
            }
            ([one], _) => {
                let compared = comparison(self.request, one.at, one.at + one.len);
                self.require(path, compared.map_or(Op::Eq, |(op, ..)| op), value(&one.text));
                self.consumed.extend(compared.map(|(_, at, _)| at));
                words.extend(compared.into_iter().flat_map(|(_, at, len)| at..at + len));
            }
            (several, _) => {
                self.consumed
                    .extend(self.request.marks.iter().filter(|mark| mark.mark == Mark::Or).map(|mark| mark.at));
                let any = several.iter().map(|one| Condition::compare(&path, Op::Eq, value(&one.text)));
                self.out.query.conditions.push(Condition::Any { any: any.collect() });
            }
        }
        self.use_measure_words(|measure| measure.dates && measure.name == "age");
        self.use_conditions_on(Measured { place, field }, words);
    }

    /// Whether it says of which kind the rows are of which there should be none: no condition on others.
    fn is_of_missing(&mut self, at: usize) -> bool {
        let inside = self.missing.is_some_and(|missing| at >= missing);
        if inside {
            self.out.ignored.insert(at);
        }
        inside
    }

    /// `invoice 98`, `order number 10248`: the row with this key.
    pub(super) fn keys(&mut self) {
        let (request, links) = (self.request, self.links);
        for (at, token) in request.tokens.iter().enumerate().skip(1) {
            let whole =
                token.number.filter(|number| number.fract() == 0.0 && token.text.ends_with(|c: char| c.is_numeric()));
            let compared = comparison(request, at, at + 1).is_some() || request.unit(at + 1).is_some();
            let Some(number) = whole.filter(|_| self.is_free(at) && !compared) else { continue };
            let said = super::KEYS.contains(&request.tokens[at - 1].lower.as_str());
            let end = if said { at - 1 } else { at };
            let named = links.links.iter().find(|link| link.at + link.len == end);
            let Some((link, Name::Place(place))) = named.map(|link| (link, link.name)) else { continue };
            let last = &request.tokens[end - 1];
            let is_time = self.times.iter().any(|when| when.at == at);
            let known = links.places[place].known;
            let [key] = known.facts.key.as_slice() else { continue };
            let Some(key) = known.field(key).filter(|key| key.kind == FieldKind::Int && key.filterable) else {
                continue;
            };
            if links.places[place].many || (!said && (is_time || last.stem != last.lower)) {
                continue;
            }
            let (value, _) = self.in_unit(key, number, at + 1);
            self.require(links.path(place, key), Op::Eq, value);
            self.use_condition(link.at..at + 1, 1.0, place);
            self.out.strange &= place != 0;
        }
    }

    /// `more than 5 orders` of a list, or of the rows themselves.
    fn counts_rows(&mut self, at: usize, number: f64) -> bool {
        let request = self.request;
        let is_rows = |next: &usize| {
            matches!(self.links.at(*next).map(|link| link.name), Some(Name::Place(_) | Name::Relation(_)))
        };
        let next = (at + 1..request.tokens.len().min(at + 4)).find(is_rows);
        let Some((link, compared)) = next.and_then(|next| self.links.at(next)).zip(comparison(request, at, at + 1))
        else {
            return false;
        };
        let (Name::Place(place) | Name::Relation(place)) = link.name else { return false };
        // "at least one seafood product": there is one, as the condition says.
        let told = |at: &usize| request.told_between(*at, *at + 1) > 0;
        let between: Vec<usize> = (at + 1..link.at).collect();
        if between.iter().any(|at| self.is_free(*at) || !told(at)) {
            return false;
        }
        let is_said = !between.is_empty() && (0.5..1.5).contains(&number) && compared.0 == Op::Gte;
        let (op, from, len) = compared;
        let end = link.at + link.len;
        self.consumed.insert(from);
        self.use_words((from..from + len).chain([at]), 1.0);
        self.out.conditions.extend(from..end);
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and far from the limits")]
        let whole = (number.fract() == 0.0 && number.abs() < 1e9).then_some(number as i64);
        match whole {
            _ if is_said => {}
            Some(number) if between.is_empty() && (place == 0 || self.is_list(place)) => {
                self.counted = Some(super::CountedRows { op, number, words: (from, end), place });
            }
            _ => self.out.ignored.extend(from..end),
        }
        true
    }

    /// `over 20 dollars`, `longer than 50 minutes`, `at least 3 stars`, `between 5 and 10`.
    pub(super) fn numbers(&mut self) {
        let numbers: Vec<(usize, f64)> = self
            .request
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, _)| {
                self.is_free(*at) && self.times.iter().all(|when| !(when.at..when.at + when.len).contains(at))
            })
            .filter_map(|(at, token)| Some((at, token.number?)))
            .collect();
        let between = self.request.marked(Mark::Between).copied();
        if let ([(from, low), (to, high)], Some(mark)) = (numbers.as_slice(), between)
            && mark.at < *from
            && let Some(measured) = self.measure_near(*from, Some(*to))
        {
            let low = self.in_unit(measured.field, *low, to + 1).0;
            let (high, unit) = self.in_unit(measured.field, *high, to + 1);
            self.require(self.links.path(measured.place, measured.field), Op::Between, json!([low, high]));
            let words: Vec<usize> = [*from, *to].into_iter().chain(mark.words()).chain(unit).collect();
            self.consumed.insert(mark.at);
            self.condition_words(measured, &words);
            return;
        }
        for (at, number) in numbers {
            if self.is_of_missing(at) || self.counts_rows(at, number) {
                continue;
            }
            let compared = comparison(self.request, at, at + 1);
            let before = |back: usize| at.checked_sub(back).and_then(|at| self.links.at(at));
            let is_of = at
                .checked_sub(1)
                .is_some_and(|at| ["of", "von", "de"].contains(&self.request.tokens[at].lower.as_str()));
            let beside = self.links.at(at + 1).or_else(|| before(1)).or_else(|| before(2).filter(|_| is_of));
            let beside = matches!(beside.map(|link| link.name), Some(Name::Field(place, field)) if self.links.field(place, field).kind.is_number());
            let spelled = self.request.tokens[at].text.starts_with(char::is_alphabetic);
            if compared.is_none() && (!beside || spelled) {
                continue;
            }
            let Some(measured) = self.measure_near(at, None) else { continue };
            let (value, unit) = self.in_unit(measured.field, number, at + 1);
            self.require(
                self.links.path(measured.place, measured.field),
                compared.map_or(Op::Eq, |(op, ..)| op),
                value,
            );
            let mut words: Vec<usize> = [at].into_iter().chain(unit).collect();
            self.consumed.extend(compared.map(|(_, at, _)| at));
            words.extend(compared.into_iter().flat_map(|(_, at, len)| at..at + len));
            self.condition_words(measured, &words);
        }
    }

    pub(super) fn condition_words(&mut self, measured: Measured<'d>, words: &[usize]) {
        self.use_conditions_on(measured, words.iter().copied());
        let request = self.request;
        for (at, _) in request.measures.iter().filter(|(at, _)| words.iter().any(|word| word.abs_diff(*at) <= 3)) {
            self.use_words([*at], 0.9);
            self.out.conditions.insert(*at);
        }
    }

    /// Words that compare a field, with those that name it.
    fn use_conditions_on(&mut self, measured: Measured<'d>, words: impl IntoIterator<Item = usize>) {
        for word in words {
            self.use_condition(word..word + 1, 1.0, measured.place);
        }
        let links = self.links;
        for link in links.of(measured.place, measured.field) {
            self.use_condition(link.words(), link.score, measured.place);
        }
    }

    /// The number in the unit of the field's name, and the place of the unit that the request says.
    pub(super) fn in_unit(&self, field: &Field, number: f64, at: usize) -> (Value, Option<usize>) {
        let whole = |number: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and far from the limits")]
            if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
        };
        let Some((_, said)) = self.request.unit(at) else {
            let money = self.request.measures.iter().any(|(word, measure)| *word == at && measure.name == "price");
            return (whole(number), money.then_some(at));
        };
        let parts = parts(&field.name);
        let own = asking().units.iter().find(|(name, unit)| {
            unit.of == said.of
                && parts.iter().any(|part| {
                    part == *name || format!("{part}s") == **name || (*part == "ms" && *name == "milliseconds")
                })
        });
        let factor = own.map_or(1.0, |(_, own)| said.size / own.size);
        (whole(number * factor), Some(at))
    }
}
