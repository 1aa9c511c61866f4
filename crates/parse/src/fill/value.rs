//! A span as the value that an argument wants.

use super::clock;
use super::date;
use super::form::{Param, Type};
use super::lexicon::{Class, Lexicon, Place};
use super::number::Number;
use super::request::{Span, What};
use serde_json::{Number as JsonNumber, Value, json};

/// A number in the argument's unit and share; `None` where it can't be of its type.
pub(super) fn number(number: &Number, param: &Param, words: &Lexicon) -> Option<Value> {
    let mut value = number.value;
    let whole = inner(&param.kind) == &Type::Integer;
    if number.percent && !param.percent && !whole {
        value /= 100.0;
    }
    if let Some(own) = number.unit.as_ref().and_then(|name| words.unit(name)) {
        let wanted: Vec<_> = param
            .units
            .iter()
            .filter_map(|name| words.unit(name))
            .filter(|unit| unit.dimension == own.dimension)
            .collect();
        if let Some(unit) = wanted.first()
            && !wanted.iter().any(|unit| unit.line == own.line)
        {
            value = round(value * own.size / unit.size);
        }
    }
    of(value, whole)
}

fn round(value: f64) -> f64 {
    let near = value.round();
    if (value - near).abs() < near.abs().max(1.0) * 1e-6 {
        return near;
    }
    (value * 1e6).round() / 1e6
}

/// A number as JSON.
pub(super) fn of(value: f64, whole: bool) -> Option<Value> {
    if whole {
        if value.fract() != 0.0 || value.abs() > 9e15 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
        return Some(json!(value as i64));
    }
    JsonNumber::from_f64(round_share(value)).map(Value::Number)
}

/// 7 % is 0.07, not 0.07000000000000001.
fn round_share(value: f64) -> f64 {
    let rounded = (value * 1e9).round() / 1e9;
    if (rounded - value).abs() < 1e-12 { rounded } else { value }
}

pub(super) fn inner(kind: &Type) -> &Type {
    match kind {
        Type::List(item) => inner(item),
        other => other,
    }
}

/// A text in the form that the argument's description shows.
pub(super) fn text(span: &Span, param: &Param, words: &Lexicon) -> String {
    let shown = span.text.trim().to_owned();
    match (&span.what, param.class) {
        (What::Date(found), class) => {
            if class == Some(Class::Month)
                && let Some(month) = found.month
                && param.pattern.is_none()
            {
                return date::capital(date::month_name(month));
            }
            let pattern = param.pattern.as_deref().unwrap_or("YYYY-MM-DD");
            date::format(found, pattern).unwrap_or(shown)
        }
        (What::Time(time), _) => param.clock.map_or(shown, |seconds| clock::format(*time, seconds)),
        (What::Moment(day, time), _) => {
            let mark = if param.description.contains("DDT") || param.description.contains("ISO") { "T" } else { " " };
            let day = date::format(day, param.pattern.as_deref().unwrap_or("YYYY-MM-DD"));
            let time = clock::format(*time, param.clock.unwrap_or(false));
            day.map_or(shown, |day| format!("{day}{mark}{time}"))
        }
        (What::Number(number), _) => {
            let digits = shown.split_whitespace().next().unwrap_or(&shown);
            if number.year || number.unit.is_none() { digits.to_owned() } else { shown }
        }
        (What::Formula, _) => formula(&shown, &param.description),
        (_, Some(Class::Currency)) => words.currency(&shown).cloned().unwrap_or(shown),
        (_, Some(Class::Place | Class::City | Class::State)) => place(shown, param, words),
        _ => shown,
    }
}

/// `Denver` where `Denver, CO` is shown as an example.
fn place(shown: String, param: &Param, words: &Lexicon) -> String {
    let lower = param.description.to_lowercase();
    let coded = param.examples.iter().any(|example| {
        example.rsplit_once(", ").is_some_and(|(_, code)| {
            let code = code.trim_end_matches('.');
            code.len() == 2 && code.chars().all(|c| c.is_ascii_uppercase())
        })
    });
    let both = lower.contains("city and state") || lower.contains("city, state");
    if param.class == Some(Class::State) && !both && !coded {
        return shown;
    }
    if let Some((city, region)) = shown.split_once(", ") {
        return match words.states.get(&region.to_lowercase()) {
            Some(code) if coded => format!("{city}, {code}"),
            _ => shown,
        };
    }
    match words.place(&shown) {
        Some(Place::City(code)) if coded || both => format!("{shown}, {code}"),
        _ => shown,
    }
}

/// A formula as a program wants it, where the description asks for that.
fn formula(shown: &str, description: &str) -> String {
    let lower = description.to_lowercase();
    let lambda = lower.contains("lambda");
    if !lambda && !lower.contains("python") {
        return shown.to_owned();
    }
    let mut out = String::new();
    let mut before = ' ';
    for c in shown.chars() {
        if c.is_alphabetic() && before.is_ascii_digit() || c == '(' && before.is_ascii_digit() {
            out.push('*');
        }
        if c == '^' {
            out.push_str("**");
        } else {
            out.push(c);
        }
        before = c;
    }
    let variable = ['x', 't', 'y', 'z', 'n'].into_iter().find(|letter| out.contains(*letter)).unwrap_or('x');
    if lambda { format!("lambda {variable}: {out}") } else { out }
}
