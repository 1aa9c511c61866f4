//! How well a span fits an argument.

use super::Likeness;
use super::form::{Form, Param, Side};
use super::lexicon::{Class, Lexicon};
use super::request::{Request, Span, What};
use super::stem::kin;
use super::token::Kind;

/// Everything that a score is made with.
pub(super) struct Scorer<'a> {
    pub request: &'a Request,
    pub form: &'a Form,
    pub words: &'static Lexicon,
    pub likeness: Likeness<'a>,
}

/// Words that end the surroundings of a value to its right.
const RIGHT_ENDS: &[&str] = &[
    "and", "or", "with", "for", "in", "at", "from", "to", "by", "on", "that", "using", "is", "are", "as", "if", "but",
    "while", "given",
];

impl Scorer<'_> {
    /// How much one word of the surroundings speaks for an argument.
    pub fn word(&self, stem: &str, param: &Param) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a few arguments")]
        let rare = |stem: &str| {
            let spread = self.form.spread.get(stem).copied().unwrap_or(1).max(1) as f32;
            1.0 / spread.powf(0.8)
        };
        if let Some(own) = param.name.iter().find(|own| kin(own, stem)) {
            return 1.7 * rare(own);
        }
        if let Some(own) = param.told.iter().find(|own| kin(own, stem)) {
            return 0.9 * rare(own);
        }
        let alike = |own: &&String| self.words.alike(own, stem);
        if let Some(own) = param.name.iter().find(alike) {
            return 0.8 * rare(own);
        }
        if let Some(own) = param.told.iter().find(alike) {
            return 0.3 * rare(own);
        }
        0.0
    }

    /// How much the surroundings of a span speak for an argument.
    pub fn cues(&self, from: usize, to: usize, param: &Param) -> f32 {
        let tokens = &self.request.tokens;
        let quoted = self.request.in_literal(from);
        let mut left = 0.0;
        let mut weight = 1.0;
        for token in tokens[..from].iter().rev().take(8) {
            match token.kind {
                Kind::Mark if matches!(token.text.as_str(), "," | ";" | "." | "?" | "!" | "]" | ")") => {
                    break;
                }
                Kind::Mark => continue,
                Kind::Number => break,
                Kind::Word => {}
            }
            if matches!(token.lower.as_str(), "and" | "or" | "but") {
                break;
            }
            if token.is_content(self.words)
                || matches!(
                    token.lower.as_str(),
                    "by" | "within" | "above" | "over" | "under" | "below" | "least" | "most" | "top" | "less" | "more"
                )
            {
                left += weight * self.word(&token.stem, param);
            }
            weight *= if self.words.stop.contains(&token.lower) {
                0.95
            } else if token.cap && !token.first && !quoted {
                // Beyond another name, it is rather that one's.
                0.6
            } else {
                0.8
            };
        }
        let mut right = 0.0;
        let mut weight = 0.95;
        for token in tokens.iter().skip(to).take(4) {
            match token.kind {
                Kind::Mark if matches!(token.text.as_str(), "'" | "\"" | "-" | "”" | "’") => {
                    continue;
                }
                Kind::Mark | Kind::Number => break,
                Kind::Word => {}
            }
            if RIGHT_ENDS.contains(&token.lower.as_str()) {
                break;
            }
            if token.is_content(self.words) {
                right += weight * self.word(&token.stem, param);
                weight *= 0.75;
            }
        }
        (left.min(3.0) + right.min(2.5)).min(4.0)
    }

    /// The word before a span that says which side of something it is; articles don't count.
    pub fn lead(&self, from: usize) -> &str {
        let tokens = &self.request.tokens;
        for (back, token) in tokens[..from].iter().rev().take(4).enumerate() {
            let skip = token.kind == Kind::Mark && !matches!(token.text.as_str(), "," | "." | ";" | "?" | "-")
                || matches!(token.lower.as_str(), "the" | "a" | "an" | "year" | "my" | "city" | "date");
            if skip {
                continue;
            }
            if token.is("and") {
                let at = from - 1 - back;
                let between = tokens[at.saturating_sub(8)..at].iter().any(|t| t.is("between"));
                return if between { "to" } else { "and" };
            }
            return &token.lower;
        }
        ""
    }

    pub fn side(&self, from: usize, param: &Param) -> f32 {
        let Some(side) = param.side else { return 0.0 };
        let lead = self.lead(from);
        if matches!(param.class, Some(Class::Currency | Class::Unit)) {
            // `How many yen are 5 euros?`
            let counted = from > 0 && self.request.tokens[from - 1].kind == Kind::Number;
            let asked = matches!(lead, "many" | "much" | "in" | "into");
            return match side {
                Side::Start if counted => 2.2,
                Side::End if counted => -2.0,
                Side::End if asked => 2.2,
                Side::Start if asked => -1.0,
                Side::Start => yes(lead == "from", 2.2, 0.0),
                Side::End => yes(lead == "to", 2.2, 0.0),
            };
        }
        let begins = |role: &str| self.words.roles.get(role).is_some_and(|role| role.before.contains(lead));
        let (own, other) = match side {
            Side::Start => ("start", "end"),
            Side::End => ("end", "start"),
        };
        if begins(own) {
            2.2
        } else if begins(other) {
            -1.5
        } else {
            0.0
        }
    }

    /// What a kind of span is worth for a kind of argument, before anything around it is looked at.
    #[expect(clippy::match_same_arms, reason = "a table of weights")]
    fn first_sight(&self, span: &Span, class: Option<Class>) -> Option<f32> {
        match (&span.what, class) {
            (What::Number(number), _) if number.part || number.often => None,
            (What::Number(_), Some(Class::Id)) => Some(0.8),
            (What::Number(number), Some(Class::Year)) if number.year => Some(3.0),
            (What::Number(_), Some(Class::Year)) => Some(-1.0),
            (What::Nation, Some(Class::Country)) => Some(1.0),
            (What::Nation, _) => None,
            (What::Currency, Some(Class::Currency)) => Some(3.5),
            (What::Currency, _) => None,
            (What::Number(number), _) if number.unit.is_some() => Some(-0.6),
            (What::Number(number), _) if number.year => Some(-0.3),
            (What::Number(_), _) => Some(-1.2),
            (What::Quoted, Some(Class::Unit)) => Some(0.0),
            (What::Quoted, _) => Some(1.7),
            (What::Name, _) => Some(1.0),
            (What::Date(_), Some(Class::Date)) => Some(4.0),
            (What::Date(date), Some(Class::Month)) if date.month.is_some() => Some(3.0),
            (What::Relative, Some(Class::Date | Class::Month | Class::Weekday)) => Some(2.6),
            (What::Time(_), Some(Class::Time)) => Some(4.0),
            (What::Date(_) | What::Relative, Some(Class::Time)) => Some(0.8),
            (What::Relative, _) => Some(-2.0),
            (What::Date(_) | What::Time(_), _) => Some(-1.0),
            (What::Code, _) if self.words.units.contains_key(&span.text.to_lowercase()) => Some(-1.0),
            (What::Code, Some(Class::Id)) if span.text.chars().any(|c| c.is_ascii_digit()) => Some(2.6),
            (What::Code, Some(Class::Id)) => Some(1.0),
            (What::Code, _) => Some(0.7),
            // Only where both are wanted as one.
            (What::Moment(..), Some(Class::Date | Class::Time)) => Some(5.0),
            (What::Moment(..), _) => None,
            (What::Formula, Some(Class::Expression)) => Some(4.0),
            (What::Formula, _) => None,
            (What::Address, Some(Class::Place)) => Some(4.0),
            (What::Address, _) => Some(0.5),
            (What::Phrase, _) => Some(0.0),
            (What::List(_) | What::Group(_), _) => None,
        }
    }

    /// A text for an argument.
    pub fn text(&self, span: &Span, param: &Param) -> Option<f32> {
        let class = param.class;
        if !self.possible(span, param) {
            return None;
        }
        if matches!(span.what, What::Moment(..)) && !(param.pattern.is_some() && param.clock.is_some()) {
            return None;
        }
        let lead = self.lead(span.from);
        let place = self.words.place(&span.text);
        let composite = span.what == What::Name && span.text.contains(", ");
        let mut score = self.first_sight(span, class)?;
        if matches!(span.what, What::Phrase | What::Name | What::Number(_) | What::Code)
            && self.request.in_literal(span.from)
            && !self
                .request
                .spans
                .iter()
                .any(|other| other.what == What::Quoted && other.from == span.from && other.to == span.to)
        {
            score -= 2.0;
        }
        if span.what == What::Phrase && param.class.is_none() && self.quotes() {
            score -= 0.9;
        }
        // `the weapon 'Excalibur'`, `Weapon 'Excalibur'`: the word says what the quotation is.
        if matches!(span.what, What::Name | What::Phrase) && self.introduces(span) {
            score -= 1.5;
        }
        // `zip code 90210` where the zip code is wanted.
        if matches!(span.what, What::Number(_) | What::Code)
            && span.from > 0
            && param.name.iter().any(|own| kin(own, &self.request.tokens[span.from - 1].stem))
        {
            score += 1.5;
        }
        if self.assigned(span.from, param) {
            score += 2.0;
        }
        score += self.beside(span, param, lead) + self.told_name(span, param);
        // `III` of `Innocent III`.
        if span.what == What::Code
            && self.request.spans.iter().any(|other| {
                other.what == What::Name && other.from <= span.from && other.to >= span.to && other.to - other.from > 1
            })
        {
            score -= 1.5;
        }
        if self.request.in_list(span.from) {
            score -= 2.5;
        }
        if span.what == What::Name && self.request.in_date(span) {
            score -= 2.0;
        }
        score += self.class(span, param, place, composite, lead);
        score += self.side(span.from, param);
        if span.what == What::Formula {
            let equation = param.name.iter().chain(&param.told).any(|word| word == "equation");
            score += yes(span.text.contains('=') == equation, 0.5, -0.5);
        }
        if param.creator {
            score += match lead {
                "by" => 2.0,
                _ => 0.0,
            };
        } else if lead == "by" && span.what == What::Name {
            score -= 0.8;
        }
        if param.topic && matches!(lead, "about" | "on" | "regarding" | "concerning") {
            score += 1.2;
        }
        let (from, to) = self.whole(span);
        score += self.cues(from, to, param);
        score += self.extent(span, param);
        let lower = span.text.to_lowercase();
        if param.examples.iter().any(|example| example.to_lowercase() == lower) {
            score += 2.6;
        }
        let likeness = (self.likeness)(&span.text, &param.question());
        if likeness != 0.0 {
            score += match span.what {
                What::Phrase => 4.0 * (likeness - 0.25),
                _ => 2.5 * (likeness - 0.2),
            };
        }
        Some(score)
    }

    /// Whether a text can be of the class that is wanted at all.
    fn possible(&self, span: &Span, param: &Param) -> bool {
        let text = &span.text;
        let measured = matches!(
            param.class,
            Some(Class::Time | Class::Date | Class::Weekday | Class::Month | Class::Year | Class::Email | Class::Url)
        );
        let zone = param.name.iter().any(|word| word.contains("zon"));
        if measured && !zone && self.words.place(text).is_some() {
            return false;
        }
        match param.class {
            Some(Class::Email) => text.contains('@') || !param.required,
            Some(Class::Currency) => {
                matches!(span.what, What::Currency | What::Quoted | What::Code)
            }
            Some(Class::Language) => {
                self.words.nations.contains_key(&text.to_lowercase())
                    || text.len() <= 3
                    || (matches!(span.what, What::Name) && text.to_lowercase() == "english")
            }
            Some(Class::Date) => !matches!(span.what, What::Number(_) | What::Formula) || text.len() == 4,
            _ => true,
        }
    }
}

pub(super) fn yes(is: bool, then: f32, or: f32) -> f32 {
    if is { then } else { or }
}
