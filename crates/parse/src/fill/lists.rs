//! Candidates for arguments that are lists.

use super::assign::Candidate;
use super::candidates::{candidate, number, text};
use super::form::{Param, Type};
use super::request::{Span, What};
use super::score::Scorer;
use super::value;
use serde_json::Value;

pub(super) fn list(scorer: &Scorer<'_>, param: &Param, item: &Type, index: usize, span: &Span) -> Option<Candidate> {
    let cues = || scorer.cues(span.from, span.to, param);
    match (&span.what, item) {
        (What::List(values), _) => {
            let fits = values.iter().all(|value| is(item, value));
            let score = 2.0 + cues();
            if fits {
                let value = typed(item, &Value::Array(values.clone()));
                return Some(candidate(span, index, value, score));
            }
            // Texts are wanted and numbers stand there.
            (*item == Type::Text && values.iter().all(|v| !v.is_array())).then(|| {
                let texts = values.iter().map(|value| match value {
                    Value::String(text) => Value::from(text.clone()),
                    other => Value::from(other.to_string()),
                });
                candidate(span, index, texts.collect(), score - 0.5)
            })
        }
        (What::Group(members), Type::List(inner)) => {
            let rows: Option<Vec<Value>> = members
                .iter()
                .map(|member| match &scorer.request.spans[*member].what {
                    What::List(values) if values.iter().all(|value| is(inner, value)) => {
                        Some(typed(inner, &Value::Array(values.clone())))
                    }
                    _ => None,
                })
                .collect();
            rows.map(|rows| candidate(span, index, Value::Array(rows), 2.0 + cues()))
        }
        (What::Group(members), _) => {
            let mut values = Vec::new();
            let mut sum = 0.0;
            let mut most = f32::MIN;
            for (place, member) in members.iter().enumerate() {
                let own = &scorer.request.spans[*member];
                let found = match item {
                    Type::Integer | Type::Number => number(scorer, param, *member, own),
                    Type::Text if own.what == What::Phrase => {
                        let (first, last) = (place == 0, place + 1 == members.len());
                        best_form(scorer, param, own, first, last)
                    }
                    Type::Text => text(scorer, param, *member, own),
                    _ => None,
                }?;
                sum += found.score;
                most = most.max(found.score);
                values.push(found.value);
            }
            #[expect(clippy::cast_precision_loss, reason = "a short list")]
            let mean = sum / values.len() as f32;
            let mut score = 1.5 + 0.6 * mean.max(-1.0) + 0.4 * cues();
            let literal = members.iter().all(|member| scorer.request.spans[*member].what != What::Phrase);
            if literal && *item == Type::Text {
                score = score.max(most - 0.4);
            }
            if matches!(item, Type::Integer | Type::Number) {
                // Never less than one of them alone.
                score = score.max(most - 0.6);
            }
            Some(candidate(span, index, Value::Array(values), score))
        }
        (_, Type::Integer | Type::Number) => {
            let found = number(scorer, param, index, span)?;
            let value = Value::Array(vec![found.value]);
            Some(candidate(span, index, value, found.score - 0.8))
        }
        (_, Type::Text) => {
            let found = text(scorer, param, index, span)?;
            let value = Value::Array(vec![found.value]);
            Some(candidate(span, index, value, found.score - 0.5))
        }
        _ => None,
    }
}

/// All numbers of the request, where nothing but one list wants numbers.
pub(super) fn gathered(scorer: &Scorer<'_>, param: &Param, item: &Type) -> Option<Candidate> {
    let wanting = scorer
        .form
        .params
        .iter()
        .filter(|other| matches!(value::inner(&other.kind), Type::Integer | Type::Number))
        .count();
    if wanting != 1 || !matches!(item, Type::Integer | Type::Number) {
        return None;
    }
    let mut found = Vec::new();
    let (mut from, mut to) = (usize::MAX, 0);
    for span in &scorer.request.spans {
        if let What::Number(number) = &span.what
            && !(number.word || number.part || number.ordinal || number.often)
            && !scorer.request.in_literal(span.from)
        {
            found.push(value::number(number, param, scorer.words)?);
            from = from.min(span.from);
            to = to.max(span.to);
        }
    }
    (found.len() > 1).then(|| Candidate { value: Value::Array(found), score: 0.9, from, to, span: None, at: from })
}

/// A member of a row of words: the first may begin later than its run, the last may end sooner.
fn best_form(scorer: &Scorer<'_>, param: &Param, own: &Span, first: bool, last: bool) -> Option<Candidate> {
    scorer
        .request
        .spans
        .iter()
        .enumerate()
        .filter(|(_, span)| {
            span.what == What::Phrase
                && (span.from == own.from || (first && span.from > own.from))
                && (span.to == own.to || (last && span.to < own.to))
                && span.from >= own.from
                && span.to <= own.to
        })
        .filter_map(|(index, span)| text(scorer, param, index, span))
        .max_by(|a, b| a.score.total_cmp(&b.score))
}

fn is(kind: &Type, value: &Value) -> bool {
    match (kind, value) {
        (Type::Integer, Value::Number(number)) => {
            number.is_i64() || number.as_f64().is_some_and(|value| value.fract() == 0.0)
        }
        (Type::Number, Value::Number(_)) | (Type::Text, Value::String(_)) | (Type::Bool, Value::Bool(_)) => true,
        (Type::List(item), Value::Array(values)) => values.iter().all(|value| is(item, value)),
        _ => false,
    }
}

/// Whole numbers as such where they are wanted.
fn typed(item: &Type, value: &Value) -> Value {
    match value {
        Value::Array(values) => {
            let inner = match item {
                Type::List(inner) => inner,
                other => other,
            };
            values.iter().map(|value| typed(inner, value)).collect()
        }
        Value::Number(number) if *item == Type::Integer => {
            number.as_f64().and_then(|value| value::of(value, true)).unwrap_or_else(|| value.clone())
        }
        other => other.clone(),
    }
}
