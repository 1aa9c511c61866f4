//! Where a phrase or a name begins and ends.

use super::form::Param;
use super::lexicon::Class;
use super::request::{Span, What};
use super::score::Scorer;
use super::stem::kin;
use super::token::Kind;

impl Scorer<'_> {
    /// Whether a phrase ends where it should: what the tool's own words explain stays out, what they
    /// don't explain stays in.
    pub fn extent(&self, span: &Span, param: &Param) -> f32 {
        match span.what {
            What::Phrase => self.phrase(span, param),
            What::Name => self.name(span, param),
            _ => 0.0,
        }
    }

    /// Whether the tool's own words speak of a token.
    fn explained(&self, at: usize, param: &Param) -> bool {
        let stem = &self.request.tokens[at].stem;
        self.form.about.iter().any(|own| kin(own, stem))
            || self.form.chosen.contains(stem)
            || param.name.iter().any(|own| kin(own, stem))
            || self.form.params.iter().any(|other| other.name.iter().any(|own| kin(own, stem)))
    }

    #[expect(clippy::too_many_lines, reason = "one small rule after the other")]
    fn phrase(&self, span: &Span, param: &Param) -> f32 {
        let tokens = &self.request.tokens;
        let explained = |at: usize| self.explained(at, param);
        let plain_after = |at: usize| tokens[at..].iter().take(2).any(|token| token.is_content(self.words));
        let mut score: f32 = 0.0;
        for (at, token) in tokens.iter().enumerate().take(span.to).skip(span.from) {
            if !token.is_content(self.words) {
                continue;
            }
            score += if explained(at) {
                -0.7
            } else if self.words.weak.contains(&token.lower) {
                -0.5
            } else {
                0.45
            };
        }
        // `theory of relativity` where the question speaks of theories.
        if let Some(of) = (span.from..span.to).find(|at| tokens[*at].is("of")) {
            let heads = (span.from..of)
                .filter(|at| {
                    explained(*at)
                        && param.head.iter().any(|own| kin(own, &tokens[*at].stem))
                        && !param.name.iter().any(|own| kin(own, &tokens[*at].stem))
                })
                .count();
            if heads > 0 && plain_after(of + 1) {
                score += 2.0;
            }
        }
        let content: Vec<usize> = (span.from..span.to).filter(|at| tokens[*at].is_content(self.words)).collect();
        if content.iter().all(|at| self.words.weak.contains(&tokens[*at].lower)) {
            score -= 1.5;
        }
        if content.iter().all(|at| explained(*at)) {
            score -= 1.0;
        } else if content.iter().all(|at| {
            let stem = &tokens[*at].stem;
            param.name.iter().chain(&param.head).any(|own| kin(own, stem))
        }) {
            score -= 1.2;
        }
        // `the same game`: the argument's own name is not its value.
        if content.iter().all(|at| param.name.iter().any(|own| kin(own, &tokens[*at].stem))) {
            score -= 1.5;
        }
        for edge in [content.first(), content.last()].into_iter().flatten() {
            let lower = &tokens[*edge].lower;
            if content.len() > 1 && lower.len() > 4 && lower.ends_with("ed") {
                score -= 0.9;
            } else if content.len() > 1 && self.words.weak.contains(lower) {
                score -= 0.4;
            }
        }
        // `jazz music` for a genre of music is jazz.
        if let Some(last) = content.last().filter(|_| content.len() > 1)
            && (param.told.iter().any(|own| kin(own, &tokens[*last].stem)) && !explained(*last)
                || param.name.iter().any(|own| kin(own, &tokens[*last].stem)))
        {
            score -= 0.9;
        }
        // `theory of evolution` is one thing.
        let plain = |at: usize| {
            tokens.get(at).is_some_and(|t| t.is_content(self.words) && !self.words.weak.contains(&t.lower))
                && !explained(at)
        };
        if tokens.get(span.to).is_some_and(|t| t.is("of")) && (plain(span.to + 1) || plain(span.to + 2)) {
            score -= 0.5;
        }
        if span.from > 1
            && tokens[span.from - 1].is("of")
            && plain(span.from - 2)
            && !self.words.units.contains_key(&tokens[span.from - 2].lower)
        {
            score -= 0.4;
        }
        let open = |at: usize| {
            tokens.get(at).is_some_and(|t| t.is_content(self.words) && !self.words.verbs.contains(&t.lower))
                && !explained(at)
        };
        // `a plant cell` is about cells.
        if param.class.is_none()
            && tokens.get(span.to).is_some_and(|next| {
                next.is_content(self.words)
                    && explained(span.to)
                    && !param
                        .name
                        .iter()
                        .chain(&param.told)
                        .any(|own| kin(own, &next.stem) || self.words.alike(own, &next.stem))
            })
        {
            score -= 0.4;
        }
        if span.from > 0 && open(span.from - 1) && !tokens[span.from - 1].owner {
            score -= 0.5;
        }
        if open(span.to) && !tokens[span.to - 1].owner {
            score -= 0.5;
        }
        // A part of a day, a time or an amount is no phrase.
        let measured = param.class != Some(Class::Unit)
            && self.request.spans.iter().any(|other| match &other.what {
                What::Number(number) => number.after > number.bare && span.from < number.after && span.to > number.bare,
                _ => false,
            });
        if measured {
            score -= 2.0;
        }
        let timed = self.request.spans.iter().any(|other| {
            matches!(other.what, What::Relative | What::Date(_) | What::Time(_) | What::Moment(..))
                && other.from < span.to
                && span.from < other.to
                && !(other.from == span.from && other.to == span.to)
        });
        if timed {
            score -= 2.0;
        }
        // A part of a name is no phrase.
        let torn = self.request.spans.iter().any(|other| {
            other.what == What::Name
                && other.from < span.to
                && span.from < other.to
                && !(other.from >= span.from && other.to <= span.to)
        });
        let is_name = self
            .request
            .spans
            .iter()
            .any(|other| other.what == What::Name && other.from == span.from && other.to == span.to);
        let mixed = !self.introduced(span, param)
            && self.request.spans.iter().any(|other| {
                other.what == What::Name
                    && other.from >= span.from
                    && other.to <= span.to
                    && other.to - other.from < span.to - span.from
                    && !explained(other.from)
            });
        // `Which vitamin …`: what is asked for is not what is told.
        if span.from > 0
            && matches!(tokens[span.from - 1].lower.as_str(), "which" | "what")
            && tokens[span.from - 1].first
        {
            score -= 0.9;
        }
        // A code is a value by itself.
        let around = content.len() > 1 && content.iter().any(|at| tokens[*at].is_literal());
        let torn = torn || around;
        score.min(1.2)
            - if torn || is_name {
                1.5
            } else if mixed {
                1.0
            } else {
                0.0
            }
    }

    fn name(&self, span: &Span, param: &Param) -> f32 {
        let tokens = &self.request.tokens;
        let explained = |at: usize| self.explained(at, param);
        let wider = self.request.spans.iter().any(|other| {
            other.what == What::Name
                && other.from <= span.from
                && other.to >= span.to
                && other.to - other.from > span.to - span.from
                && !other.text.contains(", ")
                // A year beside a name is rather a year.
                && !(tokens[other.to - 1].kind == Kind::Number
                    && tokens[other.to - 1].text.len() == 4)
        });
        let own = (span.from..span.to).filter(|at| explained(*at)).count();
        let all_own = own == span.to - span.from;
        // `Lawyer Jane Roe` is called Jane Roe, but the `Plaza Hotel` keeps its word.
        let keeps =
            matches!(param.class, Some(Class::Title | Class::Organisation | Class::Place | Class::City | Class::State));
        let person = param.class == Some(Class::Person);
        let said = |at: usize| {
            let stem = &tokens[at].stem;
            let told = param.told.iter().filter(|_| person);
            param.name.iter().chain(told).any(|own| kin(own, stem))
        };
        let edges = said(span.from) || said(span.to - 1);
        let trimmed = !keeps && wider && {
            let before = span.from.checked_sub(1).filter(|at| tokens[*at].cap);
            let after = Some(span.to).filter(|at| tokens.get(*at).is_some_and(|t| t.cap));
            before.is_none_or(said) && after.is_none_or(said)
        };
        let mut score = if wider && !trimmed { -1.0 } else { 0.0 };
        if !keeps && edges && span.to - span.from > 1 {
            score -= if param.class == Some(Class::Person) { 1.6 } else { 0.3 };
        }
        if all_own {
            score -= 1.0;
        }
        let dated = tokens[span.to - 1].kind == Kind::Number && tokens[span.to - 1].text.len() == 4;
        if dated {
            score += if self.introduced(span, param) { 0.5 } else { -0.8 };
        }
        // `title Budget review` goes on.
        if self.introduced(span, param)
            && tokens.get(span.to).is_some_and(|next| {
                next.is_content(self.words) && !self.words.weak.contains(&next.lower) && !explained(span.to)
            })
        {
            score -= 2.2;
        }
        score
    }
}
