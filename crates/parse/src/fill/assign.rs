//! Spans and arguments brought together, jointly.

use super::Likeness;
use super::candidates::candidates;
use super::form::{Form, Param, Type};
use super::lexicon::Lexicon;
use super::request::{Request, Span, What};
use super::score::Scorer;
use serde_json::Value;
use std::rc::Rc;

/// Candidates kept per argument.
const CANDIDATES: usize = 10;
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
    let scorer = Scorer { request, form, words: Lexicon::get(), likeness };
    let lists: Vec<Vec<Candidate>> = form.params.iter().map(|param| candidates(&scorer, param)).collect();
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
            What::Quoted | What::Group(_) => true,
            What::Name => !known(scorer, span),
            _ => false,
        };
        let used = taken.iter().flatten().any(|other| other.from < span.to && span.from < other.to);
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
                    && (matches!(param.kind, Type::List(_)) || !matches!(span.what, What::Group(_)))
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
                    What::Quoted | What::Name | What::Group(_) => 1.2,
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
    scorer.request.tokens[span.from..span.to].iter().any(|token| scorer.form.knows(&token.stem))
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
            last: Some(Rc::new(Step { candidate: candidate.cloned(), before: self.last.clone(), index: self.len })),
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
                    cost += if form.params[index].required && !number { 3.5 } else { 6.0 };
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
