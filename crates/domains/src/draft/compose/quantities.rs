//! Conditions on times and numbers.

use serde_json::{Value, json};
use steward_core::text::parts;

use super::{Composer, Measured};
use crate::draft::asking::{Mark, asking};
use crate::draft::dates::{When, comparison};
use crate::draft::links::Name;
use crate::model::{Field, FieldKind};
use crate::query::{Condition, Op};

impl<'d> Composer<'_, 'd> {
    pub(super) fn dates(&mut self) {
        let all: Vec<When> = self.times.iter().filter(|when| self.is_free(when.at)).cloned().collect();
        let Some(first) = all.first() else { return };
        let mut field = self.date_field(Some(first.at));
        let year = self.year_field().filter(|year| {
            all.iter().all(|when| when.text.len() == 4)
                && field.is_none_or(|date| date.place >= year.place && !self.is_named(date.field))
        });
        field = year.or(field);
        let Some(Measured { place, field }) = field else { return };
        let path = self.links.path(place, field);
        let value = |text: &str| match field.kind {
            FieldKind::Int => json!(text.parse::<i64>().unwrap_or_default()),
            _ => json!(text),
        };
        let between = self.request.marked(Mark::Between).filter(|mark| mark.at < first.at);
        let mut words: Vec<usize> = all.iter().flat_map(|when| when.at..when.at + when.len).collect();
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
                let any = several.iter().map(|one| Condition::compare(&path, Op::Eq, value(&one.text)));
                self.out.query.conditions.push(Condition::Any { any: any.collect() });
            }
        }
        self.use_measure_words(|measure| measure.dates && measure.name == "age");
        self.use_conditions_on(Measured { place, field }, words);
    }

    /// `over 20 dollars`, `longer than 50 minutes`, `at least 3 stars`, `between 5 and 10`.
    pub(super) fn numbers(&mut self) {
        let numbers: Vec<(usize, f64)> = self
            .request
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, _)| self.is_free(*at) && self.times.iter().all(|when| when.at != *at))
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
            let compared = comparison(self.request, at, at + 1);
            let beside = self.links.at(at + 1).or_else(|| at.checked_sub(1).and_then(|at| self.links.at(at)));
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
