//! What stands around a span.

use super::form::Param;
use super::lexicon::Class;
use super::request::{Span, What};
use super::score::Scorer;
use super::stem::kin;
use super::token::Kind;

impl Scorer<'_> {
    /// Whether there is one number and one place for it.
    pub fn only(&self, span: &Span, param: &Param) -> bool {
        let plain = |other: &&Span| match &other.what {
            What::Number(number) => {
                !(number.part
                    || number.often
                    || number.ordinal
                    || number.word && number.value <= 1.0
                    || self.request.in_text(other.from))
            }
            _ => false,
        };
        let mut numbers = self.request.spans.iter().filter(plain);
        let alone = numbers.next() == Some(span) && numbers.next().is_none();
        let places = self.form.params.iter().filter(|one| one.required && one.is_number());
        alone && param.required && places.count() == 1
    }

    /// `in the staging namespace`, `account ci-runner`: the argument's own name stands next to the
    /// value; or it is the preposition before it: `near`, `without`.
    pub fn beside(&self, span: &Span, param: &Param, lead: &str) -> f32 {
        let own_name = param.path.last().map(String::as_str);
        if own_name == Some(lead) && param.side.is_none() {
            return 2.6;
        }
        let tokens = &self.request.tokens;
        let own = |at: usize| {
            tokens.get(at).is_some_and(|token| {
                token.is_content(self.words)
                    && param
                        .name
                        .iter()
                        .any(|own| kin(own, &token.stem) && self.form.spread.get(own).copied().unwrap_or(1) == 1)
            })
        };
        let inside = (span.from..span.to).any(own);
        if !inside && (own(span.to) || span.from > 0 && own(span.from - 1)) { 0.6 } else { 0.0 }
    }

    /// `called tea`: all of the name, and for nothing that is a place or a day.
    pub fn told_name(&self, span: &Span, param: &Param) -> f32 {
        let told = self.request.called.iter().find(|(from, to)| *from < span.to && span.from < *to);
        match told {
            None => 0.0,
            Some((from, to)) if *from == span.from && *to == span.to => {
                let named = matches!(
                    param.class,
                    None | Some(Class::Title | Class::Person | Class::Organisation | Class::Path)
                );
                if named { 1.5 } else { 0.0 }
            }
            Some(_) => -1.2,
        }
    }

    /// Whether the word before a span is the argument's own name: `title Budget review`.
    pub fn introduced(&self, span: &Span, param: &Param) -> bool {
        span.from > 0
            && self.request.tokens[span.from - 1].kind == Kind::Word
            && param.name.iter().any(|own| *own == self.request.tokens[span.from - 1].stem)
    }

    /// Whether a quotation follows a span at once.
    pub fn introduces(&self, span: &Span) -> bool {
        self.request.spans.iter().any(|other| {
            other.what == What::Quoted
                && other.from > span.to
                && other.from - span.to == 1
                && self.request.tokens[span.to].kind == Kind::Mark
        })
    }

    /// Whether something stands in quotation marks.
    pub fn quotes(&self) -> bool {
        self.request.spans.iter().any(|span| span.what == What::Quoted)
    }

    /// A name with what belongs to it: `York` stands in `New York City`.
    pub fn whole(&self, span: &Span) -> (usize, usize) {
        if span.what != What::Name {
            return (span.from, span.to);
        }
        self.request
            .spans
            .iter()
            .filter(|other| {
                other.what == What::Name && other.from <= span.from && other.to >= span.to && !other.text.contains(", ")
            })
            .fold((span.from, span.to), |(from, to), other| (from.min(other.from), to.max(other.to)))
    }
}
