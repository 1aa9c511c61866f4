//! Everything that an argument might be.

use super::assign::Candidate;
use super::choice;
use super::form::{Param, Type};
use super::formula::coefficients;
use super::lexicon::{Class, Lexicon, Place};
use super::lists::{gathered, list};
use super::request::{Span, What};
use super::score::Scorer;
use super::stem::kin;
use super::value;
use serde_json::Value;

/// Candidates looked at when a request may want several calls.
const OTHERS: usize = 60;

/// What an argument might be, best first.
pub(super) fn candidates(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = match &param.kind {
        Type::Integer if !param.codes.is_empty() => coded(scorer, param),
        Type::Bool => booleans(scorer, param),
        Type::Text | Type::Integer | Type::Number if !param.choices.is_empty() => chosen(scorer, param),
        Type::Text => {
            let told = choice::told(scorer, param);
            // A word that the description has a short name for is not its own value.
            let short =
                |span: &Span| told.iter().any(|(_, score, at)| *score > 4.0 && (span.from..span.to).contains(at));
            let mut found = spans(scorer, |index, span| text(scorer, param, index, span).filter(|_| !short(span)));
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
        Type::List(item) if !param.choices.is_empty() && **item == Type::Text => subset(scorer, param),
        Type::List(item) => {
            let mut found = spans(scorer, |index, span| list(scorer, param, item, index, span));
            found.extend(spans(scorer, |index, span| coefficients(param, item, index, span)));
            found.extend(gathered(scorer, param, item));
            found
        }
        Type::Other => Vec::new(),
    };
    out.sort_by(|a, b| b.score.total_cmp(&a.score));
    out.truncate(OTHERS);
    out
}

/// Numbers that stand for something, by the words for it; `service_id: 2 for ironing`.
fn coded(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let tokens = &scorer.request.tokens;
    let shared = |word: &String| {
        let times = param.codes.iter().filter(|(_, told)| told.contains(word));
        param.codes.len() > 1 && times.count() == param.codes.len()
    };
    let mut out: Vec<Candidate> = param
        .codes
        .iter()
        .filter_map(|(code, told)| {
            let own: Vec<&String> = told.iter().filter(|word| !shared(word)).collect();
            let hits: Vec<usize> =
                own.iter().filter_map(|word| tokens.iter().position(|token| kin(&token.stem, word))).collect();
            let at = *hits.first()?;
            #[expect(clippy::cast_precision_loss, reason = "a few words")]
            let share = hits.len() as f32 / own.len() as f32;
            Some(Candidate { at, ..loose(Value::from(*code), 1.0 + 3.0 * share) })
        })
        .collect();
    if out.is_empty() {
        out = spans(scorer, |index, span| number(scorer, param, index, span));
        out.extend(settled(param));
    }
    out
}

/// A value that is read from no place in particular.
fn loose(value: Value, score: f32) -> Candidate {
    Candidate { value, score, from: 0, to: 0, span: None, at: 0 }
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
    let named = scorer.form.params.iter().any(|param| param.is_number() && !param.units.is_empty());
    let mut units = scorer.request.spans.iter().filter_map(|span| match &span.what {
        What::Number(number) => number.unit.as_ref(),
        _ => None,
    });
    let first = units.next().filter(|_| !named)?;
    let measure = scorer.words.unit(first).is_some_and(|unit| !matches!(unit.dimension.as_str(), "time" | "money"));
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
            (Some(Class::State), Some(Place::City(code))) => scorer.words.state_names.get(code).cloned(),
            (Some(Class::Country), Some(Place::City(_))) => Some("United States".to_owned()),
            (Some(Class::Country), Some(Place::World(country))) => Some(country.clone()),
            _ => None,
        };
        out.extend(found.map(|name| loose(Value::from(name), 1.2)));
    }
    out
}

fn spans(scorer: &Scorer<'_>, of: impl Fn(usize, &Span) -> Option<Candidate>) -> Vec<Candidate> {
    scorer.request.spans.iter().enumerate().filter_map(|(index, span)| of(index, span)).collect()
}

pub(super) fn candidate(span: &Span, index: usize, value: Value, score: f32) -> Candidate {
    Candidate { value, score, from: span.from, to: span.to, span: Some(index), at: span.from }
}

pub(super) fn text(scorer: &Scorer<'_>, param: &Param, index: usize, span: &Span) -> Option<Candidate> {
    let score = scorer.text(span, param)?;
    let value = value::text(span, param, scorer.words);
    Some(candidate(span, index, Value::from(value), score))
}

pub(super) fn number(scorer: &Scorer<'_>, param: &Param, index: usize, span: &Span) -> Option<Candidate> {
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
            // Several arguments may each want a part of one day.
            Some(Candidate { to: span.from, ..candidate(span, index, Value::from(part), 2.5) })
        }
        _ => None,
    }
}

fn booleans(scorer: &Scorer<'_>, param: &Param) -> Vec<Candidate> {
    let made =
        |value: bool, score: f32| Candidate { value: Value::Bool(value), score, from: 0, to: 0, span: None, at: 0 };
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
    if let (true, Some((yes, sure))) = (out.is_empty(), choice::yes_or_no(scorer, param)) {
        let words = if yes { ["true", "yes"] } else { ["false", "no"] };
        let said = param
            .choices
            .iter()
            .find(|choice| choice.as_str().is_some_and(|text| words.contains(&text.to_lowercase().as_str())));
        out.extend(said.map(|value| loose(value.clone(), sure + 1.2)));
    }
    if out.is_empty() && param.required {
        let told = param.default.as_ref().filter(|default| param.choices.contains(default));
        let value = told.cloned();
        out.extend(value.map(|value| Candidate { value, score: 0.1, from: 0, to: 0, span: None, at: 0 }));
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
    let values: Vec<Value> = hits.iter().map(|(index, _)| param.choices[*index].clone()).collect();
    vec![Candidate { value: Value::Array(values), score: best, from: 0, to: 0, span: None, at: 0 }]
}
