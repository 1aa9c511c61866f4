//! The fields that times, numbers and superlatives are about.

use steward_core::text::parts;

use super::{Composer, Measured};
use crate::draft::asking::{Measure, asking};
use crate::draft::links::{Link, has_part, is_key};
use crate::model::{Field, FieldKind};
use crate::registry::only;

impl<'d> Composer<'_, 'd> {
    pub(super) fn date_field(&self, near: Option<usize>) -> Option<Measured<'d>> {
        let single = |place: usize| !self.links.places[place].many;
        let named = self.links.fields().filter(|(_, place, field)| field.kind.is_time() && single(*place));
        let distance = |at: usize| near.map_or(0, |near| near.abs_diff(at));
        if let Some((_, place, field)) = named.min_by_key(|(link, place, _)| (distance(link.at), *place)) {
            return Some(Measured { place, field });
        }
        let of_measure = |names: &[String], field: &Field| parts(&field.name).iter().any(|part| names.contains(part));
        let said = self.request.measures.iter().map(|(_, measure)| *measure);
        let marked = self.request.marks.iter().filter_map(|one| one.measure);
        for measure in said.chain(marked).filter(|measure| measure.dates) {
            for (at, place) in self.links.places.iter().enumerate().filter(|(_, place)| !place.many) {
                let field = place
                    .known
                    .domain
                    .fields
                    .iter()
                    .find(|field| field.kind.is_time() && of_measure(&measure.fields, field));
                if let Some(field) = field {
                    return Some(Measured { place: at, field });
                }
            }
        }
        // Times at which a row was changed say little.
        let technical = |field: &Field| has_part(field, &["update", "updated", "modified", "changed"]);
        let of = |place: usize| {
            let mut dates: Vec<&Field> =
                self.links.places[place].known.domain.fields.iter().filter(|field| field.kind.is_time()).collect();
            dates.sort_by_key(|field| technical(field));
            dates.first().copied().filter(|field| !technical(field)).map(|field| Measured { place, field })
        };
        (0..self.links.places.len()).filter(|place| single(*place)).find_map(of)
    }

    /// A whole number that is a year.
    pub(super) fn year_field(&self) -> Option<Measured<'d>> {
        let year = |field: &&Field| field.kind == FieldKind::Int && has_part(field, &["year"]);
        let mut places = self.links.places.iter().enumerate().filter(|(_, place)| !place.many);
        places.find_map(|(place, one)| one.known.domain.fields.iter().find(year).map(|field| Measured { place, field }))
    }

    pub(super) fn is_named(&self, field: &Field) -> bool {
        self.links.fields().any(|(_, _, named)| named.name == field.name)
    }

    pub(super) fn use_measure_words(&mut self, which: impl Fn(&Measure) -> bool) {
        let request = self.request;
        for (at, _) in request.measures.iter().filter(|(_, measure)| which(measure)) {
            self.use_words([*at], 0.9);
            self.out.conditions.insert(*at);
        }
    }

    /// The number that is compared near to a place: named nearest, else what is measured by a word.
    pub(super) fn measure_near(&self, at: usize, other: Option<usize>) -> Option<Measured<'d>> {
        let single = |place: usize| !self.links.places[place].many;
        let named = self.links.fields().filter(|(_, place, field)| {
            single(*place) && field.kind.is_number() && !is_key(self.links.places[*place].known, field)
        });
        let distance = |link: &Link| {
            let places = [Some(at), other];
            places.into_iter().flatten().map(|at| at.abs_diff(link.at)).min().unwrap_or_default()
        };
        let named = named.min_by_key(|(link, place, _)| (distance(link), *place));
        if let Some((_, place, field)) = named {
            return Some(Measured { place, field });
        }
        let marks = self.request.marks.iter().filter_map(|one| Some((one.at, one.measure?)));
        let mut said: Vec<(usize, &Measure)> = self.request.measures.iter().copied().chain(marks).collect();
        said.sort_by_key(|(word, _)| word.abs_diff(at));
        let by_word = said.iter().find_map(|(_, measure)| self.of_measure(measure, false));
        by_word.or_else(|| self.by_unit(at + 1)).or_else(|| self.only_number())
    }

    pub(super) fn by_unit(&self, at: usize) -> Option<Measured<'d>> {
        let (_, unit) = self.request.unit(at)?;
        let name = match unit.of.as_str() {
            "time" => "length",
            _ => "size",
        };
        self.of_measure(asking().measures.iter().find(|measure| measure.name == name)?, false)
    }

    /// The first field that is called as such fields are, in the nearest domain.
    pub(super) fn of_measure(&self, measure: &Measure, many: bool) -> Option<Measured<'d>> {
        if measure.dates {
            return self.date_field(None);
        }
        let places = self.links.places.iter().enumerate().filter(|(_, place)| place.many == many);
        for (at, place) in places {
            for name in &measure.fields {
                let called = place.known.domain.fields.iter().find(|field| {
                    field.kind.is_number()
                        && !is_key(place.known, field)
                        && parts(&field.name).iter().any(|part| part == name || *part == format!("{name}s"))
                });
                if let Some(field) = called {
                    return Some(Measured { place: at, field });
                }
            }
        }
        None
    }

    /// How unlikely a field is called as what a word measures: revenue is a total rather than a price.
    pub(super) fn farness(&self, field: &Field) -> f32 {
        if self.is_named(field) {
            return 0.0;
        }
        let names = parts(&field.name);
        let said = self.request.measures.iter();
        let place = said.filter_map(|(_, measure)| measure.fields.iter().position(|name| names.contains(name))).min();
        #[expect(clippy::cast_precision_loss, reason = "a few names")]
        place.map_or(0.0, |at| at as f32 * 0.02)
    }

    pub(super) fn only_number(&self) -> Option<Measured<'d>> {
        let known = self.links.places[0].known;
        let numbers = known.domain.fields.iter().filter(|field| field.kind.is_number() && !is_key(known, field));
        only(numbers).map(|field| Measured { place: 0, field })
    }

    /// The number that is added up or compared: named, or what a word measures.
    pub(super) fn measured(&self, near: Option<usize>) -> Option<Measured<'d>> {
        let fits = |(link, place, field): &(&Link, usize, &Field)| {
            let place = &self.links.places[*place];
            (field.kind.is_number() || (near.is_some() && field.kind.is_time()))
                && !is_key(place.known, field)
                && !self.out.conditions.contains(&link.at)
        };
        let distance = |at: usize| near.map_or(0, |near| if at >= near { at - near } else { (near - at) * 2 });
        let named = self
            .links
            .fields()
            .filter(fits)
            .min_by_key(|(link, place, field)| (field.kind.is_time(), distance(link.at), *place));
        if let Some((_, place, field)) = named {
            return Some(Measured { place, field });
        }
        let said = self.request.measures.iter().filter(|(at, _)| !self.out.conditions.contains(at));
        for (_, measure) in said {
            if let Some(found) = self.of_measure(measure, false).or_else(|| self.of_measure(measure, true)) {
                return Some(found);
            }
        }
        // "the total of all invoices".
        let money = asking().measures.iter().find(|measure| measure.name == "money");
        money
            .and_then(|money| self.of_measure(money, false).filter(|one| one.place == 0))
            .or_else(|| self.only_number())
    }

    pub(super) fn named_number(&self) -> Option<Measured<'d>> {
        self.links
            .fields()
            .find(|(link, place, field)| {
                field.kind.is_number()
                    && !is_key(self.links.places[*place].known, field)
                    && !self.out.conditions.contains(&link.at)
            })
            .map(|(_, place, field)| Measured { place, field })
    }
}
