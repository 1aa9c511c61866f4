//! How well a number fits an argument.

use super::form::{Param, Type};
use super::lexicon::Class;
use super::number::Number;
use super::request::Span;
use super::score::Scorer;
use super::stem::kin;

impl Scorer<'_> {
    /// A number for an argument; `None` where it can't be.
    pub fn number(&self, span: &Span, number: &Number, param: &Param) -> Option<f32> {
        // A written list is one value, unless nothing here wants lists.
        let lists = self.form.params.iter().any(|other| {
            matches!(&other.kind, Type::List(item) if matches!(**item, Type::Integer | Type::Number | Type::List(_)))
        });
        if self.request.in_text(span.from) || (lists && self.request.in_list(span.from)) {
            return None;
        }
        let wants_part = matches!(param.class, Some(Class::Year | Class::Month));
        if number.part && !wants_part {
            return None;
        }
        if number.often {
            let often = param
                .name
                .iter()
                .chain(&param.told)
                .any(|word| word.starts_with("compound") || word.starts_with("frequen"));
            if !often || !param.is_number() {
                return None;
            }
            let tokens = &self.request.tokens;
            let near = tokens[span.from.saturating_sub(3)..(span.to + 3).min(tokens.len())]
                .iter()
                .any(|token| token.stem.starts_with("compound"));
            return Some(if near { 3.0 } else { 0.3 });
        }
        // `dropped from 100 m` is no beginning.
        let side = self.side(span.from, param);
        let side = if number.unit.is_some() { 0.4 * side } else { side };
        let mut score = self.cues(span.from, span.to, param) + side;
        // `num1` is no count.
        let counts = !param.name.iter().any(|word| word.parse::<u32>().is_ok())
            && (param.counts.is_some()
                || param.name.iter().any(|word| {
                    matches!(word.as_str(), "num" | "number" | "count" | "n" | "top" | "limit" | "amount" | "quantity")
                }));
        if number.unit.is_none() && !number.money && !number.percent && !number.year {
            let noun = self.request.tokens.get(span.to).is_some_and(|token| token.is_content(self.words));
            let top = matches!(self.lead(span.from), "top" | "first" | "next" | "last" | "best");
            if counts && param.units.is_empty() && (noun || top) {
                score += 1.2;
                let times = self.request.tokens.get(span.to).is_some_and(|token| token.is("times"));
                if times || self.counted(span, param) {
                    score += 0.8;
                }
            }
        }
        score += self.unit(number, param);
        match (number.money, param.money) {
            (true, true) => score += 1.5,
            (true, false) => score -= 1.2,
            (false, true) => score -= 0.3,
            _ => {}
        }
        match (number.percent, param.rate || param.percent) {
            (true, true) => score += 2.0,
            (true, false) => score -= 2.0,
            (false, true) if number.value > 1.0 && !param.percent => score -= 0.6,
            (false, true) if number.value < 1.0 => score += 0.8,
            _ => {}
        }
        let is_year = param.class == Some(Class::Year);
        match (number.year, is_year) {
            (true, true) => score += 2.5,
            (false, true) if number.unit.is_some() || number.value < 100.0 => score -= 3.0,
            (true, false) => score -= 0.8,
            _ => {}
        }
        if number.ordinal {
            score -= 1.0;
        }
        if number.word && number.value <= 1.0 && number.value > 0.0 {
            score -= 1.0;
        }
        // `the two numbers`: how many there are is no value, unless the argument is named for them.
        if number.word
            && number.unit.is_none()
            && number.value > 0.0
            && self.request.tokens.get(span.to).is_some_and(|next| {
                next.is_content(self.words) && !next.is("times") && !param.name.iter().any(|own| kin(own, &next.stem))
            })
            && !(counts && self.counted(span, param))
        {
            score -= 1.5;
        }
        if self.assigned(span.from, param) {
            score += 2.5;
        }
        if self.only(span, param) {
            score += 1.2;
        }
        Some(score)
    }

    /// Whether the words after a number say what an argument counts: `ten major events`.
    fn counted(&self, span: &Span, param: &Param) -> bool {
        let hyphen = self.request.tokens.get(span.to).is_some_and(|t| t.is("-"));
        let own = self
            .request
            .tokens
            .iter()
            .skip(span.to + usize::from(hyphen))
            .take(3)
            .take_while(|token| token.is_content(self.words));
        if let Some(noun) = &param.counts
            && own.into_iter().any(|token| kin(noun, &token.stem) || self.words.alike(noun, &token.stem))
        {
            return true;
        }
        // `three Italian restaurants`, for how many of what the tool is about.
        let plural = |stem: &str, lower: &str| lower.ends_with('s') && stem != lower;
        if param.counts.is_none()
            && self.request.tokens.iter().skip(span.to).take(3).take_while(|token| token.is_content(self.words)).any(
                |token| plural(&token.stem, &token.lower) && self.form.about.iter().any(|own| kin(own, &token.stem)),
            )
        {
            return true;
        }
        self.request
            .tokens
            .iter()
            .skip(span.to)
            .take(4)
            .take_while(|token| token.is_content(self.words))
            .filter(|token| !self.words.weak.contains(&token.lower) && !self.words.form_stop.contains(&token.stem))
            .any(|token| param.name.iter().chain(&param.told).any(|own| kin(own, &token.stem)))
    }

    /// `name: value`, `name=value`.
    pub fn assigned(&self, from: usize, param: &Param) -> bool {
        let tokens = &self.request.tokens;
        // `the cause was an expired certificate`
        let article = from > 0 && matches!(tokens[from - 1].lower.as_str(), "a" | "an" | "the");
        let from = from - usize::from(article);
        from > 1
            && matches!(tokens[from - 1].lower.as_str(), ":" | "=" | "is" | "was" | "are" | "were" | "be")
            && param.name.iter().any(|own| kin(own, &tokens[from - 2].stem))
    }

    fn unit(&self, number: &Number, param: &Param) -> f32 {
        let Some(own) = number.unit.as_ref().and_then(|name| self.words.unit(name)) else {
            return if param.units.is_empty() { 0.0 } else { -0.2 };
        };
        if own.dimension == "money" {
            return 0.0;
        }
        if param.units.is_empty() {
            return -0.2;
        }
        let wanted: Vec<_> = param.units.iter().filter_map(|name| self.words.unit(name)).collect();
        if wanted.iter().any(|unit| unit.line == own.line) {
            2.0
        } else if wanted.iter().any(|unit| unit.dimension == own.dimension) {
            1.3
        } else {
            -1.5
        }
    }
}
