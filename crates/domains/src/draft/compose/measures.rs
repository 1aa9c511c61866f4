//! The fields that times, numbers and superlatives are about.

use steward_core::text::parts;

use super::when::SELDOM;
use super::{Composer, Measured};
use crate::draft::asking::{Mark, Marked, Measure, asking};
use crate::draft::links::{Link, has_part, is_key};
use crate::model::{Field, FieldKind};
use crate::query::Condition;
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

    /// What the oldest, the newest or the first is told by.
    pub(super) fn age(&self, mark: Marked) -> Option<Measured<'d>> {
        const BIRTHS: [&str; 8] =
            ["birth", "birthday", "born", "dob", "birthdate", "geburtstag", "geburtsdatum", "founded"];
        const AGES: [&str; 2] = ["age", "alter"];
        /// When somebody came says nothing of their age.
        const JOINED: [&str; 6] = ["hired", "hire", "joined", "enrolled", "registered", "signup"];
        let links = self.links;
        let known = links.places[0].known;
        let named = links.fields().any(|(link, place, field)| {
            !links.places[place].many
                && (field.kind.is_time() || (link.at > mark.at && field.kind.is_number() && has_part(field, &AGES)))
        });
        if named {
            return self.date_field(Some(mark.at)).or_else(|| self.measured(Some(mark.at)));
        }
        let own = |fits: &dyn Fn(&Field) -> bool| {
            let field = known.domain.fields.iter().find(|field| fits(field))?;
            Some(Measured { place: 0, field })
        };
        let word = &self.request.tokens[mark.at].lower;
        let is_age = ["old", "young", "eld", "ält", "jüng", "vieux", "joven"].iter().any(|begin| word.contains(begin));
        let births = || own(&|field| field.kind.is_time() && has_part(field, &BIRTHS));
        let ages = || own(&|field| field.kind.is_number() && has_part(field, &AGES));
        let year = || self.year_field().filter(|year| year.place == 0);
        if is_age && let Some(found) = births().or_else(ages).or_else(year) {
            return Some(found);
        }
        let usual =
            |field: &Field| field.kind.is_time() && !has_part(field, &SELDOM) && !(is_age && has_part(field, &JOINED));
        own(&usual)
            .or_else(year)
            .or_else(|| self.date_field(Some(mark.at)).filter(|one| one.place > 0 && usual(one.field)))
    }

    /// `the longest by distance`, `the longest in km`: the field that is said to tell it.
    pub(super) fn measure_by_name(&self, mark: Marked) -> Option<Measured<'d>> {
        let is_led = |at: usize| {
            let word = at.checked_sub(1).and_then(|at| self.request.tokens.get(at));
            word.is_some_and(|word| ["by", "in", "nach", "par", "por", "en"].contains(&word.lower.as_str()))
        };
        let mut named = self.links.fields().filter(|(link, place, field)| {
            link.at > mark.at
                && is_led(link.at)
                && !self.links.places[*place].many
                && field.kind.is_number()
                && !is_key(self.links.places[*place].known, field)
                && !self.out.conditions.contains(&link.at)
        });
        named.next().map(|(_, place, field)| Measured { place, field })
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
            return Some(self.on_its_side(Measured { place, field }));
        }
        if let Some(known) = self.measured_before() {
            return Some(known);
        }
        let marks = self.request.marks.iter().filter_map(|one| Some((one.at, one.measure?)));
        let mut said: Vec<(usize, &Measure)> = self.request.measures.iter().copied().chain(marks).collect();
        said.sort_by_key(|(word, _)| word.abs_diff(at));
        let by_word = said.iter().find_map(|(_, measure)| self.of_measure(measure, false));
        by_word.or_else(|| self.by_unit(at + 1)).or_else(|| self.only_number())
    }

    /// What the query that this one goes on from adds up, sorts by or compares.
    fn measured_before(&self) -> Option<Measured<'d>> {
        let before = self.before?;
        let numbers = before.aggregate.iter().filter_map(|one| one.field.as_deref());
        let orders = before.order.iter().map(|one| one.field.as_str());
        let compared = before.conditions.iter().filter_map(|condition| match condition {
            Condition::Compare(one) => Some(one.field.as_str()),
            _ => None,
        });
        numbers.chain(orders).chain(compared).find_map(|path| {
            self.links.places.iter().enumerate().find_map(|(place, one)| {
                let field = one.known.field(path.strip_prefix(one.path.as_str())?)?;
                field.kind.is_number().then_some(Measured { place, field })
            })
        })
    }

    /// Of `temp_min` and `temp_max` the one that the highest or the lowest is asked of, unless one of them is named.
    fn on_its_side(&self, one: Measured<'d>) -> Measured<'d> {
        const SIDES: [&[&str]; 2] = [&["max", "maximum", "high", "highest"], &["min", "minimum", "low", "lowest"]];
        let named = self.links.of(one.place, one.field).any(|link| link.score > 0.9);
        let mark = self.superlative().map(|one| one.mark);
        let asked = mark
            .or_else(|| [Mark::Maximum, Mark::Minimum].into_iter().find(|mark| self.request.marked(*mark).is_some()));
        let low = match asked {
            Some(Mark::High | Mark::Maximum) => false,
            Some(Mark::Low | Mark::Minimum) => true,
            _ => return one,
        };
        if named || !has_part(one.field, SIDES[usize::from(!low)]) {
            return one;
        }
        let bare = |field: &Field, side: &[&str]| {
            parts(&field.name).into_iter().filter(|part| !side.contains(&part.as_str())).collect::<Vec<_>>()
        };
        let own = bare(one.field, SIDES[usize::from(!low)]);
        let mut others = self.links.places[one.place].known.domain.fields.iter();
        let other = others.find(|field| {
            field.kind.is_number()
                && has_part(field, SIDES[usize::from(low)])
                && bare(field, SIDES[usize::from(low)]) == own
        });
        other.map_or(one, |field| Measured { field, ..one })
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
                    return Some(self.on_its_side(Measured { place: at, field }));
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
            return Some(self.on_its_side(Measured { place, field }));
        }
        if let Some(known) = self.measured_before() {
            return Some(known);
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
