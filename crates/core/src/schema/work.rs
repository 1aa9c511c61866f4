//! How much work a JSON Schema makes, found out before anything is checked by it. A few lines of a schema can ask for more
//! steps than there is time for: `allOf` of twice the same reference, thirty times in a row, are a thousand million steps. So
//! what a check would do is counted first, up to a limit, and refused beyond it.

use super::BACKTRACKS;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Longest schema, bytes of its texts and two for each other value.
const MAX_BYTES: usize = 256 << 10;
/// Deepest nesting of a schema's JSON.
const MAX_NESTING: usize = 128;
/// Most steps by one part of a schema for one value, which is in nothing and has nothing in it.
const MAX_STEPS_FOR_ONE: u64 = 20_000;
/// Most steps by a schema for given arguments: some tenths of a second at the most.
const MAX_STEPS: u64 = 250_000;
/// Most different patterns: each is compiled before anything is checked.
const MAX_PATTERNS: usize = 50;
/// How often one part of a schema may lead to the next, values within values included.
const MAX_DEPTH: usize = 256;
/// What a match of a pattern costs at the least that can go back.
const BACKTRACKING_STEPS: u64 = 200;

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords with one schema, or a list of them, for values within.
const WITHIN: [&str; 9] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
];
/// Keywords with an object of schemas for values within.
const WITHIN_NAMED: [&str; 2] = ["properties", "patternProperties"];
/// Keywords that look again at what the parts of their schema looked at, and how often.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
const ROUNDS_FOR_UNEVALUATED: usize = 3;

/// Refuses a schema that no arguments should be checked by: too long, nested too deeply, with references that don't lead to a
/// place in it or lead in a circle, or with parts that multiply.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let mut work = Work::new(schema)?;
    let mut seen: HashSet<*const Value> = HashSet::new();
    let mut waiting = vec![schema];
    let mut most = MAX_STEPS;
    while let Some(part) = waiting.pop() {
        if !seen.insert(std::ptr::from_ref(part)) {
            continue;
        }
        let limit = MAX_STEPS_FOR_ONE.min(most);
        work.left = limit;
        work.apply(part, On::Nothing, 0).map_err(Stop::of_schema)?;
        most -= limit - work.left;
        let Some(fields) = part.as_object() else { continue };
        waiting.extend(work.in_place(fields).map_err(Stop::of_schema)?);
        for key in WITHIN {
            match fields.get(key) {
                Some(Value::Array(parts)) => waiting.extend(parts),
                one => waiting.extend(one),
            }
        }
        waiting.extend(WITHIN_NAMED.iter().filter_map(|key| fields.get(*key)?.as_object()).flat_map(Map::values));
    }
    Ok(())
}

/// Refuses arguments that can't be checked by `schema` in time.
pub(super) fn check_with(schema: &Value, arguments: &Value) -> Result<(), String> {
    let mut work = Work::new(schema)?;
    work.left = MAX_STEPS;
    work.apply(schema, On::Value(arguments), 0).map_err(|stop| match stop {
        Stop::Steps | Stop::Depth => {
            "these arguments would take too many steps to check by the tool's own schema; give fewer of them, less deeply nested, or have the schema made simpler"
                .to_owned()
        }
        Stop::Reference(_) => stop.of_schema(),
    })
}

/// What a schema is applied to.
#[derive(Clone, Copy)]
enum On<'a> {
    /// Any value; what is within it is left out.
    Nothing,
    Value(&'a Value),
    /// The name of a field.
    Name(&'a str),
}

enum Stop {
    Steps,
    Depth,
    Reference(String),
}

impl Stop {
    fn of_schema(self) -> String {
        let why = match self {
            Self::Steps => {
                "its `allOf`, `anyOf`, `$ref` and the like multiply to too many steps; repeat less".to_owned()
            }
            Self::Depth => format!(
                "its `allOf`, `anyOf`, `$ref` and the like lead in a circle, or through more than {MAX_DEPTH} parts; let them end"
            ),
            Self::Reference(reference) => format!(
                "`{}` names no single place in it; use references such as `#/$defs/name`",
                reference.chars().take(120).collect::<String>()
            ),
        };
        unusable(&why)
    }
}

fn unusable(why: &str) -> String {
    format!("the tool's own schema can't be used: {why}")
}

struct Work<'a> {
    root: &'a Value,
    /// Places by the names that references may give them; `None`: several have that name.
    anchors: HashMap<&'a str, Option<&'a Value>>,
    left: u64,
}

impl<'a> Work<'a> {
    fn new(root: &'a Value) -> Result<Self, String> {
        let mut scan = Scan::default();
        scan.look(root, 0)?;
        if scan.references && (scan.ids || (scan.draft_4 && scan.draft_4_ids)) {
            return Err(unusable(
                "it has both references and an `$id` within; leave the inner `$id` out and use references such as `#/$defs/name`",
            ));
        }
        Ok(Self { root, anchors: scan.anchors, left: 0 })
    }

    /// Counts what checking the value by `schema` takes, as far as it is allowed.
    fn apply(&mut self, schema: &'a Value, on: On<'_>, depth: usize) -> Result<(), Stop> {
        let Some(fields) = schema.as_object() else {
            return self.take(1);
        };
        if depth > MAX_DEPTH {
            return Err(Stop::Depth);
        }
        self.take(weight(fields, on))?;
        let in_place = self.in_place(fields)?;
        let again = !in_place.is_empty() && UNEVALUATED.iter().any(|key| fields.contains_key(*key));
        for _ in 0..if again { ROUNDS_FOR_UNEVALUATED } else { 1 } {
            for part in &in_place {
                self.apply(part, on, depth + 1)?;
            }
        }
        match on {
            On::Value(Value::Object(values)) => self.within_object(fields, values, depth + 1),
            On::Value(Value::Array(values)) => self.within_array(fields, values, depth + 1),
            _ => Ok(()),
        }
    }

    fn take(&mut self, steps: u64) -> Result<(), Stop> {
        self.left = self.left.checked_sub(steps).ok_or(Stop::Steps)?;
        Ok(())
    }

    /// The schemas that apply to the same value.
    fn in_place(&self, fields: &'a Map<String, Value>) -> Result<Vec<&'a Value>, Stop> {
        let mut parts: Vec<&Value> = Vec::new();
        for (key, value) in fields {
            match (key.as_str(), value) {
                ("not" | "if" | "then" | "else", part) => parts.push(part),
                ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => parts.extend(all),
                // A list has names of fields.
                ("dependentSchemas" | "dependencies", Value::Object(named)) => {
                    parts.extend(named.values().filter(|part| !part.is_array()));
                }
                // The empty reference names the schema that it stands in, and asks for nothing.
                (key, Value::String(reference)) if REFERENCES.contains(&key) && !reference.is_empty() => {
                    parts.push(self.resolve(reference).ok_or_else(|| Stop::Reference(reference.clone()))?);
                }
                _ => {}
            }
        }
        Ok(parts)
    }

    fn within_object(
        &mut self,
        fields: &'a Map<String, Value>,
        values: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), Stop> {
        let properties = fields.get("properties").and_then(Value::as_object);
        let patterns = fields.get("patternProperties").and_then(Value::as_object);
        let others: Vec<&Value> =
            ["additionalProperties", "unevaluatedProperties"].iter().filter_map(|key| fields.get(*key)).collect();
        let names = fields.get("propertyNames");
        for (name, value) in values {
            if let Some(names) = names {
                self.apply(names, On::Name(name), depth)?;
            }
            for (pattern, part) in patterns.into_iter().flatten() {
                self.take(matching(pattern, name))?;
                self.apply(part, On::Value(value), depth)?;
            }
            match properties.and_then(|known| known.get(name)) {
                Some(part) => self.apply(part, On::Value(value), depth)?,
                None => others.iter().try_for_each(|part| self.apply(part, On::Value(value), depth))?,
            }
        }
        Ok(())
    }

    fn within_array(&mut self, fields: &'a Map<String, Value>, values: &[Value], depth: usize) -> Result<(), Stop> {
        let lists: Vec<&Vec<Value>> =
            ["prefixItems", "items"].iter().filter_map(|key| fields.get(*key)?.as_array()).collect();
        let keys = ["items", "additionalItems", "unevaluatedItems", "contains"];
        let each: Vec<&Value> =
            keys.iter().filter_map(|key| fields.get(*key)).filter(|part| !part.is_array()).collect();
        for (place, value) in values.iter().enumerate() {
            for part in lists.iter().filter_map(|list| list.get(place)).chain(each.iter().copied()) {
                self.apply(part, On::Value(value), depth)?;
            }
        }
        Ok(())
    }

    /// The one place in the schema that a reference names.
    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let id = self.root["$id"].as_str().map(|id| id.trim_end_matches('#'));
        let local = id.and_then(|id| reference.strip_prefix(id)).unwrap_or(reference);
        if local.is_empty() || local == "#" {
            return Some(self.root);
        }
        let fragment = local.strip_prefix('#')?;
        if fragment.starts_with('/') {
            return self.root.pointer(&percent_decoded(fragment)?);
        }
        self.anchors.get(fragment).copied().flatten()
    }
}

/// Steps of one schema for one value, what is within both left out.
fn weight(fields: &Map<String, Value>, on: On<'_>) -> u64 {
    let text = match on {
        On::Value(Value::String(text)) => text.as_str(),
        On::Name(name) => name,
        _ => "",
    };
    let object = matches!(on, On::Value(Value::Object(_)));
    let mut steps = 1 + text.len() as u64 / 1024;
    for (key, value) in fields {
        steps += match (key.as_str(), value, on) {
            ("enum", Value::Array(all), _) => all.len() as u64 / 16,
            ("required", Value::Array(all), _) if object => all.len() as u64 / 16,
            ("properties" | "dependentRequired", Value::Object(all), _) if object => all.len() as u64 / 16,
            ("pattern", Value::String(pattern), On::Value(Value::String(_)) | On::Name(_)) => matching(pattern, text),
            ("uniqueItems", Value::Bool(true), On::Value(Value::Array(all))) => all.len() as u64,
            _ => 0,
        };
    }
    steps
}

/// Steps of a match. Only with what looks around or back can one take more than one pass.
fn matching(pattern: &str, text: &str) -> u64 {
    let goes_back = ["(?=", "(?!", "(?<", "(?>", "(?("].iter().any(|part| pattern.contains(part))
        || pattern
            .as_bytes()
            .windows(2)
            .any(|pair| matches!(pair, [b'\\', b'0'..=b'9' | b'k' | b'K' | b'G'] | [b'+' | b'*' | b'?' | b'}', b'+']));
    let bytes = text.len() as u64;
    // At each place that it goes back to, it may look at all of the text.
    let back = if goes_back { BACKTRACKING_STEPS + bytes.min(BACKTRACKS as u64) * bytes / 4096 } else { 0 };
    1 + bytes / 256 + back
}

/// `None`: it is no text.
pub(super) fn percent_decoded(fragment: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(fragment.len()), fragment.as_bytes());
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|pair| hex::decode(pair).ok());
        match hex {
            Some(hex) => (bytes.extend(hex), rest = &after[2..]).1,
            None => (bytes.push(*first), rest = after).1,
        }
    }
    String::from_utf8(bytes).ok()
}

/// What the JSON of a schema has, wherever it stands.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that it has or not")]
#[derive(Default)]
struct Scan<'a> {
    bytes: usize,
    references: bool,
    /// Whether a part within is a schema of its own for references.
    ids: bool,
    draft_4: bool,
    draft_4_ids: bool,
    patterns: HashSet<&'a str>,
    anchors: HashMap<&'a str, Option<&'a Value>>,
}

impl<'a> Scan<'a> {
    fn look(&mut self, value: &'a Value, nesting: usize) -> Result<(), String> {
        self.bytes += 2;
        if nesting > MAX_NESTING {
            return Err(unusable(&format!("it is nested more than {MAX_NESTING} deep; make it flatter")));
        }
        match value {
            Value::String(text) => self.bytes += text.len(),
            Value::Array(all) => all.iter().try_for_each(|one| self.look(one, nesting + 1))?,
            Value::Object(fields) => {
                self.note(value, fields, nesting > 0);
                for (name, one) in fields {
                    self.bytes += name.len();
                    self.look(one, nesting + 1)?;
                }
            }
            _ => {}
        }
        if self.bytes > MAX_BYTES {
            return Err(unusable(&format!("it is longer than {} KiB; make it shorter", MAX_BYTES >> 10)));
        }
        if self.patterns.len() > MAX_PATTERNS {
            return Err(unusable(&format!("it has more than {MAX_PATTERNS} different patterns; leave some out")));
        }
        Ok(())
    }

    fn note(&mut self, value: &'a Value, fields: &'a Map<String, Value>, within: bool) {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        self.references |= REFERENCES.iter().any(|key| text(key).is_some());
        self.draft_4 |= text("$schema").is_some_and(|draft| draft.contains("draft-04") || draft.contains("draft-03"));
        self.draft_4_ids |= text("id").is_some_and(|id| within && !id.starts_with('#'));
        self.ids |= text("$id").is_some_and(|id| within && !id.starts_with('#'));
        self.patterns.extend(text("pattern"));
        let named = fields.get("patternProperties").and_then(Value::as_object);
        self.patterns.extend(named.into_iter().flat_map(Map::keys).map(String::as_str));
        let by_id = ["$id", "id"].into_iter().filter_map(text).filter_map(|id| id.strip_prefix('#'));
        for name in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text).chain(by_id) {
            let known = self.anchors.entry(name).or_insert(Some(value));
            if !known.is_some_and(|known| std::ptr::eq(known, value)) {
                *known = None;
            }
        }
    }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
