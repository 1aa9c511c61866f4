//! Spans and arguments brought together, jointly.

use super::Likeness;
use super::choice;
use super::form::{Form, Param, Type};
use super::formula::coefficients;
use super::lexicon::{Class, Lexicon, Place};
use super::lists::{gathered, list};
use super::request::{Request, Span, What};
use super::score::Scorer;
use super::value;
use serde_json::Value;
use std::rc::Rc;

/// Candidates kept per argument.
const CANDIDATES: usize = 10;
/// Candidates looked at when a request may want several calls.
const OTHERS: usize = 60;
/// Partial assignments kept.
const BEAM: usize = 96;
/// What leaving a required argument open costs.
const MISSING: f32 = -1.5;
/// What an optional argument has to beat.
const OPTIONAL: f32 = 1.9;

/// A value for one argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub value: Value,
    pub score: f32,
    /// Tokens that it is read from; empty: from none in particular.
    pub from: usize,
    pub to: usize,
    /// Index of the span, if it is one.
    pub span: Option<usize>,
    /// Token by which its place in the request is told.
    pub at: usize,
}

/// An assignment: for each argument of the form the candidate taken.
#[derive(Debug, Clone)]
pub(super) struct Assigned {
    pub taken: Vec<Option<Candidate>>,
    /// Everything that each argument might be, best first.
    pub lists: Vec<Vec<Candidate>>,
}

/// The best assignment of a request to a form.
pub(super) fn assign(request: &Request, form: &Form, likeness: Likeness<'_>) -> Assigned {
    let scorer = Scorer {
        request,
        form,
        words: Lexicon::get(),
        likeness,
    };
    let lists: Vec<Vec<Candidate>> = form
        .params
        .iter()
        .map(|param| candidates(&scorer, param))
        .collect();
    let mut beam = vec![State::default()];
    for (index, param) in form.params.iter().enumerate() {
        let mut next = Vec::new();
        for state in &beam {
            next.push(state.with(None, if param.required { MISSING } else { 0.0 }));
            for candidate in lists[index].iter().take(CANDIDATES) {
                let bar = if param.required { 0.0 } else { bar(param) };
                let gain = candidate.score - bar - state.clash(candidate, form, index);
                if param.required || gain > 0.0 {
                    next.push(state.with(Some(candidate), gain));
                }
            }
        }
        next.sort_by(|a, b| b.score.total_cmp(&a.score));
        next.truncate(BEAM);
        beam = next;
    }
    let best = beam.into_iter().next().unwrap_or_default();
    let mut taken: Vec<Option<Candidate>> = Vec::new();
    let mut node = best.last.as_ref();
    while let Some(step) = node {
        taken.push(step.candidate.clone());
        node = step.before.as_ref();
    }
    taken.reverse();
    leftover(&scorer, &lists, &mut taken);
    Assigned { taken, lists }
}

/// Numbers and quotations that nobody took go to optional arguments that can take them: who writes a
/// number means something by it.
fn leftover(scorer: &Scorer<'_>, lists: &[Vec<Candidate>], taken: &mut [Option<Candidate>]) {
    for (index, span) in scorer.request.spans.iter().enumerate() {
        let plain = match &span.what {
            What::Number(number) => {
                !number.word
                    && !number.often
                    && !number.part
                    && !number.ordinal
                    && !scorer.request.in_literal(span.from)
            }
            What::Quoted => true,
            What::Name => !known(scorer, span),
            _ => false,
        };
        let used = taken
            .iter()
            .flatten()
            .any(|other| other.from < span.to && span.from < other.to);
        if !plain || used {
            continue;
        }
        let wanted = scorer
            .form
            .params
            .iter()
            .enumerate()
            .filter(|(place, param)| {
                taken[*place].is_none()
                    && (param.is_number() == matches!(span.what, What::Number(_)))
            })
            .filter_map(|(place, _)| {
                let found = lists[place].iter().find(|one| one.span == Some(index))?;
                // What stands in a row with a value that was taken is one as well.
                let beside = taken.iter().flatten().any(|other| {
                    other.span.is_some_and(|other| {
                        scorer.request.spans.iter().any(|row| {
                            matches!(&row.what, What::Group(members)
                                if members.contains(&other) && members.contains(&index))
                        })
                    })
                });
                let bar = match &span.what {
                    What::Quoted | What::Name => 1.2,
                    _ if beside => -0.6,
                    _ => 0.45,
                };
                (found.score > bar).then_some((place, found))
            })
            .max_by(|a, b| a.1.score.total_cmp(&b.1.score));
        if let Some((place, found)) = wanted {
            taken[place] = Some(found.clone());
        }
    }
}

/// Whether a name is one of the tool's own words, or a part of a longer name.
fn known(scorer: &Scorer<'_>, span: &Span) -> bool {
    scorer.request.tokens[span.from..span.to]
        .iter()
        .any(|token| scorer.form.knows(&token.stem))
        || scorer.request.spans.iter().any(|other| {
            other.what == What::Name
                && other.from <= span.from
                && other.to >= span.to
                && other.to - other.from > span.to - span.from
        })
}

fn bar(param: &Param) -> f32 {
    if matches!(param.kind, Type::Bool) {
        return 0.0;
    }
    if !param.choices.is_empty() {
        return 1.2;
    }
    OPTIONAL + if param.is_number() { -0.5 } else { 0.4 }
}

#[derive(Debug)]
struct Step {
    candidate: Option<Candidate>,
    before: Option<Rc<Step>>,
    index: usize,
}

/// A partial assignment.
#[derive(Debug, Clone, Default)]
struct State {
    score: f32,
    last: Option<Rc<Step>>,
    len: usize,
}

impl State {
    fn with(&self, candidate: Option<&Candidate>, gain: f32) -> Self {
        Self {
            score: self.score + gain,
            last: Some(Rc::new(Step {
                candidate: candidate.cloned(),
                before: self.last.clone(),
                index: self.len,
            })),
            len: self.len + 1,
        }
    }

    /// What it costs to use a candidate beside those already taken.
    fn clash(&self, candidate: &Candidate, form: &Form, index: usize) -> f32 {
        if candidate.from >= candidate.to {
            return 0.0;
        }
        let mut cost = 0.0;
        let mut node = self.last.as_ref();
        while let Some(step) = node {
            if let Some(other) = &step.candidate
                && other.from < other.to
            {
                // One of several told possibilities may be a part of something else: a vegan cake.
                let told = candidate.span.is_none() || other.span.is_none();
                let same = other.from == candidate.from && other.to == candidate.to;
                let overlaps = other.from < candidate.to && candidate.from < other.to;
                if overlaps && (same || !told) {
                    let number = form.params[index].is_number();
                    cost += if form.params[index].required && !number {
                        3.5
                    } else {
                        6.0
                    };
                } else if !overlaps
                    && other.from > candidate.from
                    && form.params[step.index].kind == form.params[index].kind
                {
                    cost += 0.3;
                }
            }
            node = step.before.as_ref();
        }
        cost
    }
}

fn candidates(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = match &param.kind {
        Type::Bool => booleans(scorer, param),
        Type::Text | Type::Integer | Type::Number if !param.choices.is_empty() => {
            chosen(scorer, param)
        }
        Type::Text => {
            let told = choice::told(scorer, param);
            // A word that the description has a short name for is not its own value.
            let short = |span: &Span| {
                told.iter()
                    .any(|(_, score, at)| *score > 4.0 && (span.from..span.to).contains(at))
            };
            let mut found = spans(scorer, |index, span| {
                text(scorer, param, index, span).filter(|_| !short(span))
            });
            found.extend(told.into_iter().map(|(value, score, at)| Candidate {
                from: at,
                to: at + 1,
                at,
                ..loose(Value::from(value), score)
            }));
            found.extend(implied(scorer, param));
            found.extend(settled(param));
            found
        }
        Type::Integer | Type::Number => {
            let mut found = spans(scorer, |index, span| number(scorer, param, index, span));
            found.extend(settled(param));
            found
        }
        Type::List(item) if !param.choices.is_empty() && **item == Type::Text => {
            subset(scorer, param)
        }
        Type::List(item) => {
            let mut found = spans(scorer, |index, span| list(scorer, param, item, index, span));
            found.extend(spans(scorer, |index, span| {
                coefficients(param, item, index, span)
            }));
            found.extend(gathered(scorer, param, item));
            found
        }
        Type::Other => Vec::new(),
    };
    out.sort_by(|a, b| b.score.total_cmp(&a.score));
    out.truncate(OTHERS);
    out
}

/// A value that is read from no place in particular.
fn loose(value: Value, score: f32) -> Candidate {
    Candidate {
        value,
        score,
        from: 0,
        to: 0,
        span: None,
        at: 0,
    }
}

/// What a required argument is where the request doesn't say, by its description or schema.
fn settled(param: &Param) -> Option<Candidate> {
    let default = param.default.as_ref().filter(|_| param.required)?;
    let value = match (&param.kind, default) {
        (Type::Text, Value::String(text))
            if !text.is_empty()
                && text.len() < 30
                && !Lexicon::get().stop.contains(&text.to_lowercase())
                && !matches!(text.to_lowercase().as_str(), "none" | "null" | "empty") =>
        {
            default.clone()
        }
        (Type::Integer, Value::Number(number)) if number.is_i64() => default.clone(),
        (Type::Number, Value::Number(_)) => default.clone(),
        (Type::Integer, Value::String(text)) => Value::from(text.parse::<i64>().ok()?),
        (Type::Number, Value::String(text)) => {
            serde_json::Number::from_f64(text.parse::<f64>().ok()?).map(Value::Number)?
        }
        _ => return None,
    };
    Some(loose(value, 0.1))
}

/// The unit that all numbers are given in, where the numbers' own arguments don't name one.
fn common_unit(scorer: &Scorer<'_>) -> Option<Candidate> {
    let named = scorer
        .form
        .params
        .iter()
        .any(|param| param.is_number() && !param.units.is_empty());
    let mut units = scorer
        .request
        .spans
        .iter()
        .filter_map(|span| match &span.what {
            What::Number(number) => number.unit.as_ref(),
            _ => None,
        });
    let first = units.next().filter(|_| !named)?;
    let measure = scorer
        .words
        .unit(first)
        .is_some_and(|unit| !matches!(unit.dimension.as_str(), "time" | "money"));
    (measure && units.all(|unit| unit == first)).then(|| loose(Value::from(first.as_str()), 2.7))
}

/// A state or country that a city lies in, where the form asks for it.
fn implied(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let mut out = Vec::new();
    if param.class == Some(Class::Unit) && param.side.is_none() {
        out.extend(common_unit(scorer));
    }
    if !param.required {
        return out;
    }
    if param.class == Some(Class::Language) {
        // The lists are English, so the request is.
        out.push(loose(Value::from("English"), 1.0));
    }
    for span in &scorer.request.spans {
        let place = scorer.words.place(&span.text);
        let found = match (param.class, place) {
            (Some(Class::State), Some(Place::City(code))) => {
                scorer.words.state_names.get(code).cloned()
            }
            (Some(Class::Country), Some(Place::City(_))) => Some("United States".to_owned()),
            (Some(Class::Country), Some(Place::World(country))) => Some(country.clone()),
            _ => None,
        };
        out.extend(found.map(|name| loose(Value::from(name), 1.2)));
    }
    out
}

fn spans(scorer: &Scorer<'_>, of: impl Fn(usize, &Span) -> Option<Candidate>) -> Vec<Candidate> {
    scorer
        .request
        .spans
        .iter()
        .enumerate()
        .filter_map(|(index, span)| of(index, span))
        .collect()
}

pub(super) fn candidate(span: &Span, index: usize, value: Value, score: f32) -> Candidate {
    Candidate {
        value,
        score,
        from: span.from,
        to: span.to,
        span: Some(index),
        at: span.from,
    }
}

pub(super) fn text(
    scorer: &Scorer<'_>,
    param: &Param,
    index: usize,
    span: &Span,
) -> Option<Candidate> {
    let score = scorer.text(span, param)?;
    let value = value::text(span, param, scorer.words);
    Some(candidate(span, index, Value::from(value), score))
}

pub(super) fn number(
    scorer: &Scorer<'_>,
    param: &Param,
    index: usize,
    span: &Span,
) -> Option<Candidate> {
    match &span.what {
        What::Number(number) => {
            let score = scorer.number(span, number, param)?;
            let value = value::number(number, param, scorer.words)?;
            Some(candidate(span, index, value, score))
        }
        What::Date(date) => {
            let part = match param.class {
                Some(Class::Year) => date.year?,
                Some(Class::Month) => date.month?,
                _ => return None,
            };
            Some(candidate(span, index, Value::from(part), 1.5))
        }
        _ => None,
    }
}

fn booleans(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let made = |value: bool, score: f32| Candidate {
        value: Value::Bool(value),
        score,
        from: 0,
        to: 0,
        span: None,
        at: 0,
    };
    if let Some((value, sure)) = choice::yes_or_no(scorer, param) {
        return vec![made(value, sure)];
    }
    if !param.required {
        return Vec::new();
    }
    let told = param.default.as_ref().and_then(|default| match default {
        Value::Bool(value) => Some(*value),
        Value::String(text) => text.to_lowercase().parse().ok(),
        _ => None,
    });
    vec![made(told.unwrap_or(false), 0.1)]
}

fn chosen(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = choice::choices(scorer, param)
        .into_iter()
        .map(|(index, score, tokens)| Candidate {
            at: tokens.first().copied().unwrap_or_default(),
            ..loose(param.choices[index].clone(), score)
        })
        .collect();
    if out.is_empty() && param.required {
        let told = param
            .default
            .as_ref()
            .filter(|default| param.choices.contains(default));
        let value = told.cloned();
        out.extend(value.map(|value| Candidate {
            value,
            score: 0.1,
            from: 0,
            to: 0,
            span: None,
            at: 0,
        }));
    }
    out
}

fn subset(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let mut hits: Vec<(usize, f32)> = choice::choices(scorer, param)
        .into_iter()
        .filter(|(_, score, _)| *score >= 1.6)
        .map(|(index, score, _)| (index, score))
        .collect();
    let Some(best) = hits.first().map(|(_, score)| *score) else {
        return Vec::new();
    };
    hits.sort_by_key(|(index, _)| *index);
    let values: Vec<Value> = hits
        .iter()
        .map(|(index, _)| param.choices[*index].clone())
        .collect();
    vec![Candidate {
        value: Value::Array(values),
        score: best,
        from: 0,
        to: 0,
        span: None,
        at: 0,
    }]
}
