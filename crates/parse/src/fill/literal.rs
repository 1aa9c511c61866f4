//! What is written out as it is meant: quotations, lists in brackets, formulas.

use super::request::{Request, What};
use regex::Regex;
use serde_json::Value;
use std::sync::OnceLock;

const PAIRS: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('`', '`')];

pub(super) fn find(request: &mut Request) {
    quotations(request);
    brackets(request);
    formulas(request);
}

fn quotations(request: &mut Request) {
    let text = request.text.clone();
    let mut at = 0;
    while at < text.len() {
        let Some(c) = text[at..].chars().next() else {
            break;
        };
        let Some((_, close)) = PAIRS.iter().find(|(open, _)| *open == c) else {
            at += c.len_utf8();
            continue;
        };
        let before = text[..at].chars().next_back();
        let opens = before.is_none_or(|c| !c.is_alphanumeric());
        let begun = at + c.len_utf8();
        let inner = text[begun..]
            .char_indices()
            .find(|(from, other)| {
                *other == *close && *from > 0 && {
                    let after = text[begun + from + close.len_utf8()..].chars().next();
                    !matches!(close, '\'' | '’') || after.is_none_or(|c| !c.is_alphanumeric())
                }
            })
            .map(|(len, _)| &text[begun..begun + len])
            .filter(|inner| opens && !inner.trim().is_empty() && inner.len() < 2000);
        let Some(inner) = inner else {
            at = begun;
            continue;
        };
        let end = begun + inner.len();
        let covered: Vec<usize> = request
            .tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| token.from >= begun && token.to <= end)
            .map(|(index, _)| index)
            .collect();
        if let (Some(first), Some(last)) = (covered.first(), covered.last()) {
            let shown = inner.trim().trim_end_matches(',').to_owned();
            request.add_as(*first, last + 1, What::Quoted, shown);
        }
        at = end + close.len_utf8();
    }
}

fn brackets(request: &mut Request) {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..request.tokens.len() {
        match request.tokens[at].text.as_str() {
            "[" | "(" => open.push(at),
            "]" | ")" => {
                let Some(from) = open.pop() else { continue };
                let square = request.tokens[from].is("[");
                let inner = request.slice(from, at + 1).to_owned();
                if let Some(items) = items(&inner, square) {
                    request.add(from, at + 1, What::List(items));
                }
            }
            _ => {}
        }
    }
}

/// The items of a list in brackets; in round ones only numbers are a list.
fn items(text: &str, square: bool) -> Option<Vec<Value>> {
    let inner = &text[1..text.len() - 1];
    if inner.len() > 20_000 {
        return None;
    }
    let as_json = format!("[{}]", inner.replace('(', "[").replace(')', "]").replace('\'', "\""));
    if let Ok(Value::Array(items)) = serde_json::from_str::<Value>(&as_json) {
        let numbers = items.len() > 1 && items.iter().all(Value::is_number);
        return (square || numbers).then_some(items);
    }
    if inner.contains(['[', '(', '{']) {
        return None;
    }
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let numbers: Vec<Value> = parts
        .iter()
        .map(|part| part.trim_start_matches("e.g."))
        .filter_map(|part| serde_json::from_str::<serde_json::Number>(part.trim()).ok())
        .map(Value::Number)
        .collect();
    if numbers.len() == parts.len() && numbers.len() > 1 {
        return Some(numbers);
    }
    square.then(|| parts.iter().map(|part| Value::from(part.trim_matches(['\'', '"']))).collect())
}

/// `3x^2 + 2x - 1`, `x**2`, `sin(x)`.
fn formulas(request: &mut Request) {
    static FORMULA: OnceLock<Option<Regex>> = OnceLock::new();
    let Some(formula) = FORMULA
        .get_or_init(|| {
            let term = r"(?:\d*\.?\d*(?:(?:sin|cos|tan|exp|log|ln|sqrt|pi|[a-z])\b)?(?:\([^()]{1,40}\)|(?:\*\*|\^)\(?-?[\w.]+\)?)?|\d+\.?\d*)";
            Regex::new(&format!(
                r"(?:\b|[-(])(?:{term})(?:\s*(?:\*\*|[-+*/^])\s*(?:{term}))*"
            ))
            .ok()
        })
        .as_ref()
    else {
        return;
    };
    let text = request.text.clone();
    let found: Vec<(usize, usize)> = formula.find_iter(&text).map(|found| (found.start(), found.end())).collect();
    for (from, to) in found {
        let shown = text[from..to].trim().trim_end_matches('.');
        let letters = shown.chars().any(|c| matches!(c, 'x' | 'y' | 't' | 'z' | 'n'));
        let marks = shown.contains(['^', '+', '*', '(']) || shown.contains(" - ");
        let from = from + (text[from..to].len() - text[from..to].trim_start().len());
        let to = from + shown.len();
        if !letters || !marks || shown.len() < 3 {
            continue;
        }
        let covered: Vec<usize> = (0..request.tokens.len())
            .filter(|at| request.tokens[*at].from < to && request.tokens[*at].to > from)
            .collect();
        if let (Some(first), Some(last)) = (covered.first(), covered.last()) {
            let whole = to + equal(&text[to..]);
            // `f(x) = x^3`: only a name for what follows.
            let name = whole > to && shown.len() == 4 && shown.contains('(');
            if !name {
                request.add_as(*first, last + 1, What::Formula, shown.to_owned());
            }
            let end = request.tokens.iter().rposition(|token| token.from < whole);
            if let (true, Some(end)) = (whole > to, end) {
                let shown = text[from..whole].to_owned();
                request.add_as(*first, end + 1, What::Formula, shown);
            }
        }
    }
}

/// Length of the other side of an equation: ` = 0`.
fn equal(rest: &str) -> usize {
    let Some(side) = rest.trim_start().strip_prefix('=') else {
        return 0;
    };
    let begun = rest.len() - side.len();
    let end = side
        .char_indices()
        .find(|(at, c)| {
            let letter = c.is_alphabetic()
                && side[at + c.len_utf8()..].chars().next().is_none_or(|next| !next.is_alphabetic())
                && !side[..*at].ends_with(char::is_alphabetic);
            !(letter || c.is_ascii_digit() || " .+-*/^()".contains(*c))
        })
        .map_or(side.len(), |(at, _)| at);
    let shown = side[..end].trim_end_matches([' ', '.', '-', '(']);
    if shown.trim().is_empty() { 0 } else { begun + shown.len() }
}
