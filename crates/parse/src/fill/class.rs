//! How well a text fits the kind of thing that an argument wants.

use super::form::Param;
use super::lexicon::{Class, Place};
use super::request::{Span, What};
use super::score::{Scorer, yes};
use super::token::Kind;

impl Scorer<'_> {
    pub fn class(&self, span: &Span, param: &Param, place: Option<&Place>, composite: bool, lead: &str) -> f32 {
        let Some(class) = param.class else { return 0.0 };
        let named = matches!(span.what, What::Name | What::Quoted);
        let wordy = matches!(span.what, What::Name | What::Phrase);
        let text = &span.text;
        match class {
            Class::Email => yes(text.contains('@') && text.contains('.'), 4.0, -4.0),
            Class::Url => yes(
                text.contains("://")
                    || text.starts_with("www.")
                    || (text.contains('.') && !text.contains(' ') && !text.ends_with('.')),
                4.0,
                -3.0,
            ),
            Class::Path => yes(
                !text.contains(' ') && (text.contains(['/', '\\']) || text.contains('.')),
                3.0,
                if span.what == What::Quoted { 0.0 } else { -1.5 },
            ),
            Class::Date | Class::Weekday | Class::Month | Class::Time | Class::Year => yes(wordy, -2.0, 0.0),
            Class::Currency => yes(span.what == What::Currency, 0.0, -2.5),
            Class::Unit => {
                let known = self.words.units.contains_key(&text.to_lowercase()) || text.contains('/');
                let asked = matches!(lead, "in" | "to" | "as" | "many" | "much" | "into");
                let tokens = &self.request.tokens;
                // `68 degrees Fahrenheit`
                let degrees = |at: usize| {
                    tokens
                        .get(at)
                        .is_some_and(|t| self.words.units.get(&t.lower).is_some_and(|unit| unit.dimension == "angle"))
                };
                let scale = tokens.get(span.to).is_some_and(|next| {
                    self.words.units.get(&next.lower).is_some_and(|unit| unit.dimension == next.lower)
                });
                let known = known && !(degrees(span.from) && scale);
                let back = usize::from(span.from > 1 && degrees(span.from - 1));
                let counted = span.from > back && tokens[span.from - 1 - back].kind == Kind::Number;
                yes(known && (asked || (counted && param.side.is_some())), 2.5, -1.0)
            }
            Class::Language => {
                let tongue = self.words.nations.contains_key(&text.to_lowercase());
                yes(tongue, 2.5, -2.5)
            }
            Class::Country | Class::State | Class::City | Class::Place => {
                self.place(span, (class, param.required), place, composite, lead)
            }
            Class::Person => {
                yes(place.is_some(), -1.5, 0.0)
                    + yes(named && place.is_none(), 0.8, 0.0)
                    + yes(span.what == What::Phrase, -0.8, 0.0)
            }
            Class::Organisation => {
                yes(place.is_some(), -0.6, 0.0)
                    + yes(named && place.is_none(), 0.6, 0.0)
                    + yes(named && matches!(lead, "of" | "from" | "for" | "by" | "at"), 0.6, 0.0)
            }
            Class::Title => yes(place.is_some(), -0.8, 0.0) + yes(named, 0.5, 0.0),
            Class::Id => yes(matches!(span.what, What::Phrase), -1.0, 0.0),
            Class::Expression => yes(wordy, -1.5, 0.0),
            Class::Color => {
                let last = text.to_lowercase();
                let last = last.rsplit(' ').next().unwrap_or_default();
                yes(self.words.colors.contains(last), 3.0, 0.0)
            }
        }
    }

    fn place(
        &self,
        span: &Span,
        (class, required): (Class, bool),
        place: Option<&Place>,
        composite: bool,
        lead: &str,
    ) -> f32 {
        #[expect(clippy::match_same_arms, reason = "a table of weights")]
        let mut score = match (class, place) {
            (Class::Country, Some(Place::Country)) => 3.0,
            (Class::State, Some(Place::State(_))) => 3.0,
            (Class::City, Some(Place::City(_) | Place::World(_))) => 3.0,
            (Class::Place, Some(_)) => 2.2,
            (Class::Country | Class::State | Class::City, Some(_)) if !required => -1.5,
            (Class::Country | Class::State | Class::City, Some(_)) => 0.8,
            (Class::Country, None) => -0.6,
            _ => 0.0,
        };
        if composite {
            // Parts go apart where the form asks for both.
            let apart =
                self.form.params.iter().any(|param| {
                    matches!(param.class, Some(Class::Country | Class::State)) && param.class != Some(class)
                });
            score += match class {
                Class::Place if !apart => 3.0,
                Class::City if !apart => 2.6,
                _ => 0.0,
            };
        }
        if matches!(lead, "in" | "at" | "near" | "around" | "within") && span.what != What::Phrase {
            score += 1.0;
        } else if matches!(lead, "by" | "of") && place.is_none() {
            score -= 0.3;
        }
        if span.what == What::Phrase && place.is_none() {
            score -= 0.5;
        }
        score
    }
}
