//! Rows: the fields that are shown, and their order.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Composer, KEYS, MOST, SEVERAL};
use crate::draft::asking::{Mark, Marked};
use crate::draft::links::{Link, Name, has_part, is_person, label};
use crate::query::{Group, Op, Order};

/// Fields of rows without a key that are shown together.
const MOST_SHOWN: usize = 12;

impl Composer<'_, '_> {
    pub(super) fn rows(&mut self, superlative: Option<Marked>) {
        let known = self.links.places[0].known;
        let links = self.links;
        let target = links.links.iter().find(|link| !self.out.conditions.contains(&link.at));
        if superlative.is_none() && target.is_some_and(|link| self.each_once(link)) {
            return;
        }
        let mut fields: Vec<String> = label(known).iter().map(|field| field.name.clone()).collect();
        if fields.is_empty() {
            fields.extend(known.facts.key.iter().cloned());
        }
        let asked = self.wished(&mut fields);
        match superlative {
            Some(mark) => self.extreme(mark, target, &mut fields),
            None => self.sorted(),
        }
        if self.out.query.limit.is_none() {
            self.out.query.limit = Some(self.limit.unwrap_or(MOST));
        }
        // Without wishes all fields are shown; so are those of a row without a name and a key, as in a file.
        let is_named = !known.facts.key.is_empty() || known.domain.fields.len() > MOST_SHOWN;
        if asked || (superlative.is_some() && is_named) {
            let mut seen = BTreeSet::new();
            fields.retain(|field| seen.insert(field.clone()));
            self.out.query.fields = fields;
        }
    }

    fn is_plural(&self, link: &Link) -> bool {
        let last = &self.request.tokens[link.at + link.len - 1];
        last.stem != last.lower
    }

    /// `which countries do our customers come from`: each value once.
    fn each_once(&mut self, link: &Link) -> bool {
        let Name::Field(place, field) = link.name else { return false };
        let field = self.links.field(place, field);
        let different = self.request.marked(Mark::Different).is_some();
        let of_rows = self.links.links.iter().any(|link| link.name == Name::Place(0));
        if self.links.places[place].many
            || field.kind.is_number()
            || !(different || (of_rows && self.is_plural(link)))
            || !self.out.query.conditions.is_empty()
        {
            return false;
        }
        self.use_link(link, place);
        self.out.query.group = vec![Group { field: self.links.path(place, field), by: None }];
        self.out.query.limit = Some(MOST);
        true
    }

    /// Adds the fields that are asked for by name; whether there are some.
    fn wished(&mut self, fields: &mut Vec<String>) -> bool {
        let known = self.links.places[0].known;
        let mut asked = false;
        // "the order numbers": what they are told apart by.
        let said = |at: &usize| KEYS.contains(&self.request.tokens[*at].lower.as_str());
        if let Some(at) = (0..self.request.tokens.len()).find(|at| said(at) && !self.out.conditions.contains(at)) {
            fields.splice(0..0, known.facts.key.iter().cloned());
            self.use_words([at], 0.8);
            asked = true;
        }
        if let Some(mark) = self.request.marked(Mark::Person).copied()
            && !is_person(known)
            && let Some(person) = self.links.places.iter().find(|place| !place.many && is_person(place.known))
        {
            let names = label(person.known).into_iter().map(|field| format!("{}{}", person.path, field.name));
            fields.splice(0..0, names.collect::<Vec<_>>());
            self.use_words(mark.words(), 0.8);
            asked = true;
        }
        let links = self.links;
        for link in &links.links {
            let (Name::Field(place, _) | Name::Place(place) | Name::Relation(place)) = link.name;
            if self.links.places[place].many || self.out.conditions.contains(&link.at) {
                continue;
            }
            match link.name {
                Name::Field(_, field) => {
                    self.use_link(link, place);
                    fields.push(self.links.path(place, self.links.field(place, field)));
                }
                // Each row has one of it: its name is shown.
                Name::Place(_) | Name::Relation(_) if place > 0 => {
                    self.use_named(link.words(), link.score * 0.9, place);
                    let names = label(self.links.places[place].known);
                    fields.extend(names.into_iter().map(|field| self.links.path(place, field)));
                }
                Name::Place(_) | Name::Relation(_) => continue,
            }
            asked = true;
        }
        if let Some(mark) = self.request.marked(Mark::When).copied()
            && let Some(date) = self.date_field(Some(mark.at))
        {
            fields.push(self.links.path(date.place, date.field));
            self.use_words(mark.words(), 1.0);
            self.use_measure_words(|measure| measure.dates && measure.name == "age");
            asked = true;
        }
        asked
    }

    /// `the five cheapest`, `from the oldest to the youngest`.
    fn extreme(&mut self, mark: Marked, target: Option<&Link>, fields: &mut Vec<String>) {
        // "and the fewest?" of groups: they are what is put in order.
        if self.before.is_some_and(|before| !before.group.is_empty()) {
            self.use_words(mark.words(), 1.0);
            self.consumed.insert(mark.at);
            self.out.query.limit = Some(self.limit.unwrap_or(1));
            return;
        }
        let measure = mark.measure;
        // "the highest value" of texts: no other number is meant.
        if measure.is_none()
            && let Some(link) = self.links.at(mark.at + mark.len)
            && let Name::Field(place, field) = link.name
            && !self.links.field(place, field).kind.is_number()
            && !self.links.field(place, field).kind.is_time()
            && self.named_number().is_none()
        {
            self.out.ignored.extend(link.words());
        }
        let measured = match measure {
            Some(measure) if measure.dates => self.age(mark),
            _ => self
                .measure_by_name(mark)
                .or_else(|| measure.and_then(|measure| self.of_measure(measure, false)))
                .or_else(|| self.measured(Some(mark.at))),
        };
        let Some(one) = measured.filter(|one| !self.links.places[one.place].many) else {
            self.out.strain += 0.4;
            return;
        };
        let path = self.links.path(one.place, one.field);
        // The oldest has the largest age, and the earliest birthday or year.
        let is_age = one.field.kind.is_number() && has_part(one.field, &["age", "alter"]);
        let reversed = self.request.tokens[mark.at].lower.starts_with("old") && is_age;
        self.out.query.order = vec![Order { field: path.clone(), desc: (mark.mark == Mark::High) != reversed }];
        self.require(path.clone(), Op::NotNull, Value::Null);
        fields.push(path);
        self.use_words(mark.words(), 1.0);
        self.consumed.insert(mark.at);
        self.use_measure_words(|_| true);
        let both = [Mark::High, Mark::Low].into_iter().all(|mark| self.request.marked(mark).is_some());
        if both {
            self.consumed.extend(self.request.marks.iter().map(|mark| mark.at));
        }
        let most = match (both, target.is_some_and(|link| self.is_plural(link))) {
            (true, _) => MOST,
            (false, true) => SEVERAL,
            (false, false) => 1,
        };
        self.out.query.limit = Some(self.limit.unwrap_or(most));
    }

    /// `sorted by price`, `in alphabetical order`.
    fn sorted(&mut self) {
        let known = self.links.places[0].known;
        let mark = self.request.marked(Mark::Sorted).copied();
        if mark.is_none() && self.request.marked(Mark::Alphabetical).is_none() {
            return;
        }
        let by = mark.and_then(|mark| self.links.links.iter().find(|link| link.at >= mark.at + mark.len));
        let field = match by.map(|link| link.name) {
            Some(Name::Field(place, field)) => Some(self.links.path(place, self.links.field(place, field))),
            Some(Name::Place(place)) => {
                label(self.links.places[place].known).first().map(|field| self.links.path(place, field))
            }
            _ => label(known).last().map(|field| field.name.clone()),
        };
        let desc = self.direction().unwrap_or(false);
        self.out.query.order = field.into_iter().map(|field| Order { field, desc }).collect();
        self.out.query.limit = Some(MOST);
    }
}
