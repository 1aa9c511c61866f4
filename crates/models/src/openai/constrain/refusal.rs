//! What a server's refusal of a schema is about. The phrases are data.

use crate::openai::classify::{self, unsupported};
use serde_json::{Value, json};
use steward_core::model::ModelErrorClass;

const PHRASES: &str = include_str!("../../../data/constraint_phrases.txt");
/// Shortest text of a schema that counts as naming it.
const TELLING: usize = 4;

pub(super) fn is_about_constraint(status: u16, raw: &str) -> bool {
    if !matches!(status, 400 | 422 | 500 | 501) {
        return false;
    }
    let refusal = classify::http(status, raw);
    if !matches!(refusal.class, ModelErrorClass::BadRequest | ModelErrorClass::Server) {
        return false;
    }
    let words = refusal.words.to_lowercase();
    // An error without a message is worth one try without the constraint.
    let says_nothing = matches!(words.trim(), "" | "bad request" | "invalid request");
    (says_nothing && status < 500) || PHRASES.lines().any(|line| is_in(line, &words))
}

fn is_in(line: &str, words: &str) -> bool {
    !line.is_empty() && words.contains(line)
}

/// Whether the server does not know the field itself, whatever the schema.
pub(super) fn is_of_the_way(raw: &str, field: &str) -> bool {
    raw.contains(field) && unsupported(raw) && !raw.contains("schema for") && !raw.contains("context=")
}

/// Positions in `constrained` of the tools that the refusal names: by name, by index in `anyOf`, or by a pattern or
/// format that only they have. Empty if it names none, or all of several.
pub(super) fn named(raw: &str, constrained: &[Branch<'_>], schema: &Value) -> Vec<usize> {
    let all = of(schema);
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
    // A server that repeats the whole schema names no tool.
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

// Each `{name: "one", arguments: {…}}` (in plans `{tool, args}`) in a schema is a tool's branch, whose arguments can
// be left open without touching the others.
/// Names of a branch's two properties.
const PAIRS: [(&str, &str); 2] = [("name", "arguments"), ("tool", "args")];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Branch<'a> {
    pub name: &'a str,
    pub arguments: &'a Value,
}

impl Branch<'_> {
    pub fn is_open(&self) -> bool {
        *self.arguments == json!({"type": "object"})
    }
}

pub(super) fn of(schema: &Value) -> Vec<Branch<'_>> {
    let mut found = Vec::new();
    walk(schema, &mut found);
    found
}

fn walk<'a>(schema: &'a Value, found: &mut Vec<Branch<'a>>) {
    if let Some((branch, _)) = branch(schema) {
        found.push(branch);
        return;
    }
    match schema {
        Value::Object(map) => map.values().for_each(|inner| walk(inner, found)),
        Value::Array(items) => items.iter().for_each(|inner| walk(inner, found)),
        _ => {}
    }
}

/// A branch, with the name of the property that holds its arguments.
fn branch(schema: &Value) -> Option<(Branch<'_>, &'static str)> {
    let properties = schema.get("properties")?;
    PAIRS.iter().find_map(|(name, arguments)| {
        let name = only(properties.get(name)?)?;
        let inner = properties.get(arguments)?;
        let branch = Branch { name, arguments: inner };
        Some((branch, *arguments))
    })
}

/// The only text that a schema allows.
fn only(schema: &Value) -> Option<&str> {
    match schema.get("enum").and_then(Value::as_array) {
        Some(values) if values.len() == 1 => values[0].as_str(),
        Some(_) => None,
        None => schema.get("const")?.as_str(),
    }
}

/// `schema` with the arguments left open in the branches where `open` is true, by position.
pub(super) fn opened(schema: &Value, open: &[bool]) -> Value {
    let mut schema = schema.clone();
    if open.contains(&true) {
        let mut at = 0;
        visit(&mut schema, &mut |arguments| {
            if open.get(at) == Some(&true) {
                *arguments = json!({"type": "object"});
            }
            at += 1;
        });
    }
    schema
}

/// `schema` with all branches open, for when the tools are not to blame.
pub(super) fn skeleton(schema: &Value) -> Value {
    let count = of(schema).len();
    opened(schema, &vec![true; count])
}

fn visit(schema: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    if let Some((_, arguments)) = branch(schema) {
        if let Some(inner) = schema.get_mut("properties").and_then(|properties| properties.get_mut(arguments)) {
            change(inner);
        }
        return;
    }
    match schema {
        Value::Object(map) => map.values_mut().for_each(|inner| visit(inner, change)),
        Value::Array(items) => items.iter_mut().for_each(|inner| visit(inner, change)),
        _ => {}
    }
}
