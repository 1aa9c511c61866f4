//! From an assignment to calls.

use super::Likeness;
use super::assign::{Candidate, assign};
use super::form::{Form, Param};
use super::lexicon::Lexicon;
use super::request::Request;
use super::several::several;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Arguments of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// A JSON object.
    pub arguments: Value,
    /// How sure each argument is, 0 to 1; nested ones by `outer.inner`.
    pub sure: BTreeMap<String, f32>,
    /// Required arguments that nothing was found for.
    pub open: Vec<String>,
    /// The share of the request's words with a meaning of their own that the tool's words or the
    /// arguments account for, 0 to 1.
    pub explained: f32,
    required: Vec<String>,
}

impl Call {
    /// How sure the least sure required argument is; `None` where none is required.
    pub fn least_required(&self) -> Option<f32> {
        if !self.open.is_empty() {
            return Some(0.0);
        }
        self.required.iter().filter_map(|name| self.sure.get(name)).copied().reduce(f32::min)
    }

    /// How sure the required arguments are on the whole, open ones as 0; `None` where none is required.
    pub fn mean_required(&self) -> Option<f32> {
        let sum: f32 = self.required.iter().filter_map(|name| self.sure.get(name)).sum();
        let count = f32::from(u16::try_from(self.required.len()).unwrap_or(u16::MAX));
        (count > 0.0).then(|| sum / count)
    }

    /// How many arguments are required.
    pub fn required(&self) -> usize {
        self.required.len()
    }

    /// The least sure argument's share; 1 where there are none, 0 where one is open.
    pub fn confidence(&self) -> f32 {
        if !self.open.is_empty() {
            return 0.0;
        }
        self.sure.values().copied().fold(1.0, f32::min)
    }
}

/// The calls of one tool that a request asks for, at least one.
pub fn calls(request: &Request, form: &Form, likeness: Likeness<'_>) -> Vec<Call> {
    let assigned = assign(request, form, likeness);
    several(request, form, &assigned).iter().map(|taken| call(request, form, taken)).collect()
}

/// The share of words that are the tool's own or stand in what was taken.
fn explained(request: &Request, form: &Form, taken: &[Option<Candidate>]) -> f32 {
    let words = Lexicon::get();
    let (mut all, mut known) = (0_u16, 0_u16);
    for (at, token) in request.tokens.iter().enumerate() {
        let plain =
            token.is_content(words) && !words.weak.contains(&token.lower) && !words.verbs.contains(&token.lower);
        if !plain {
            continue;
        }
        all += 1;
        let read = taken.iter().flatten().any(|one| (one.from..one.to).contains(&at));
        known += u16::from(read || form.knows(&token.stem));
    }
    if all == 0 {
        return 0.5;
    }
    f32::from(known) / f32::from(all)
}

fn call(request: &Request, form: &Form, taken: &[Option<Candidate>]) -> Call {
    let mut arguments = Map::new();
    let mut sure = BTreeMap::new();
    let mut open = Vec::new();
    for (param, taken) in form.params.iter().zip(taken) {
        match taken {
            Some(candidate) => {
                put(&mut arguments, &param.path, candidate.value.clone());
                sure.insert(param.label(), share(candidate.score));
            }
            None if param.required => open.push(param.label()),
            None => {}
        }
    }
    Call {
        arguments: Value::Object(arguments),
        sure,
        open,
        explained: explained(request, form, taken),
        required: form.params.iter().filter(|param| param.required).map(Param::label).collect(),
    }
}

/// A score as a share of 1.
fn share(score: f32) -> f32 {
    (1.0 / (1.0 + (-(score - 0.5)).exp())).clamp(0.02, 0.99)
}

fn put(map: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            map.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inner = map.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}
