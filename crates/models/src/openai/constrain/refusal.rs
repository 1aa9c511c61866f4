//! What a refusal is about. The words are data.

use serde_json::Value;
use steward_core::model::ModelErrorClass;

use super::branches::{self, Branch};
use crate::openai::classify;
use crate::openai::quirks::unsupported;

const PHRASES: &str = include_str!("../../../data/constraint_phrases.txt");
/// Shortest text of a schema that counts as naming it.
const TELLING: usize = 4;

/// Whether the constraint may be what was refused.
pub(super) fn is_about_constraint(status: u16, raw: &str) -> bool {
    if !matches!(status, 400 | 422 | 500 | 501) {
        return false;
    }
    let refusal = classify::http(status, raw);
    if !matches!(refusal.class, ModelErrorClass::BadRequest | ModelErrorClass::Server) {
        return false;
    }
    let words = refusal.words.to_lowercase();
    // An error without a word is worth one try without the constraint.
    let says_nothing = matches!(words.trim(), "" | "bad request" | "invalid request");
    (says_nothing && status < 500) || PHRASES.lines().any(|line| is_in(line, &words))
}

fn is_in(line: &str, words: &str) -> bool {
    !line.is_empty() && words.contains(line)
}

/// Whether the field itself is not known there, whatever the schema.
pub(super) fn is_of_the_way(raw: &str, field: &str) -> bool {
    raw.contains(field) && unsupported(raw) && !raw.contains("schema for") && !raw.contains("context=")
}

/// Positions in `constrained` of the tools that the refusal names: by name, by their place in
/// `anyOf`, or by a pattern or format that only they have. Empty where that is none or all of several.
pub(super) fn named(raw: &str, constrained: &[Branch<'_>], schema: &Value) -> Vec<usize> {
    let all = branches::of(schema);
    let place = place(raw).and_then(|at| all.get(at));
    let found: Vec<usize> = (0..constrained.len())
        .filter(|at| {
            let one = &constrained[*at];
            place.is_some_and(|branch| branch.name == one.name)
                || is_word(raw, one.name)
                || telling(one.arguments).iter().any(|text| {
                    let elsewhere = |other: &Branch<'_>| telling(other.arguments).contains(text);
                    let others = constrained.iter().enumerate();
                    raw.contains(text) && !others.into_iter().any(|(n, other)| n != *at && elsewhere(other))
                })
        })
        .collect();
    // A server that repeats the whole schema names no one.
    if constrained.len() > 1 && found.len() == constrained.len() {
        return Vec::new();
    }
    found
}

/// The number after `anyOf`, as in `anyOf[2]`, `anyOf/2` or `'anyOf', '2'`.
fn place(raw: &str) -> Option<usize> {
    let rest = &raw[raw.find("anyOf")? + "anyOf".len()..];
    let rest = rest.trim_start_matches(['[', '/', '.', '\'', '"', ',', ' ']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn is_word(raw: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    raw.match_indices(name).any(|(at, _)| {
        let before = raw[..at].chars().next_back();
        let after = raw[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// Patterns and formats of a schema.
fn telling(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    collect(schema, &mut found);
    found
}

fn collect<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if matches!(key.as_str(), "pattern" | "format") && text.len() >= TELLING => {
                        found.push(text);
                    }
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}
