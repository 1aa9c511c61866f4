//! References within one schema: what they name, and how they hold where the schema becomes part of another one.

use super::work::percent_decoded;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Keywords that name another part of the same schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords whose value is data, whatever it looks like.
const DATA: [&str; 5] = ["enum", "const", "default", "example", "examples"];
/// Keywords with an object of schemas by name.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords that only serve references, or say where the schema itself is.
const LEFT_OUT: [&str; 6] = ["$defs", "definitions", "$id", "$schema", "$anchor", "$dynamicAnchor"];

/// Most parts of one schema that are looked at.
const MAX_PARTS: usize = 256;

/// The part of `root` that `schema` refers to, if it does, and the reference.
pub fn referred<'a>(root: &'a Value, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
    let reference = REFERENCES.iter().find_map(|key| schema.get(key)?.as_str())?;
    Some((reference, resolve(root, reference)?))
}

/// The part of `root` that `reference` names; `None` if it lies elsewhere or is missing.
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let id = root["$id"].as_str().map(|id| id.trim_end_matches('#'));
    let local = id.and_then(|id| reference.strip_prefix(id)).unwrap_or(reference);
    if local.is_empty() || local == "#" {
        return Some(root);
    }
    let fragment = local.strip_prefix('#')?;
    if fragment.starts_with('/') { root.pointer(&percent_decoded(fragment)?) } else { anchored(root, fragment) }
}

fn anchored<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(map) => {
            let named =
                ["$anchor", "$dynamicAnchor"].iter().any(|key| map.get(*key).is_some_and(|value| value == name));
            if named { Some(schema) } else { map.values().find_map(|part| anchored(part, name)) }
        }
        Value::Array(all) => all.iter().find_map(|part| anchored(part, name)),
        _ => None,
    }
}

/// `schema` and all that applies to the same value without a choice: what it refers to, and the parts of its `allOf`.
pub(super) fn parts_of<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut parts = vec![schema];
    let mut at = 0;
    while let Some(part) = parts.get(at).copied() {
        let all = part["allOf"].as_array().into_iter().flatten();
        for next in referred(root, part).map(|(_, next)| next).into_iter().chain(all) {
            if parts.len() < MAX_PARTS && !parts.iter().any(|known| std::ptr::eq(*known, next)) {
                parts.push(next);
            }
        }
        at += 1;
    }
    parts
}

/// The schema with the fields that its own reference and `allOf` give it among its `properties`. Its definitions stay.
pub fn flattened(schema: &Value) -> Cow<'_, Value> {
    let parts = parts_of(schema, schema);
    let Some(fields) = schema.as_object().filter(|_| parts.len() > 1) else {
        return Cow::Borrowed(schema);
    };
    let mut fields: Map<String, Value> = fields.clone();
    for key in REFERENCES.iter().chain(&["allOf"]) {
        fields.remove(*key);
    }
    for part in parts.into_iter().skip(1).filter_map(Value::as_object) {
        for (key, value) in part {
            match (key.as_str(), fields.get_mut(key), value) {
                ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                    more.iter().for_each(|(name, field)| {
                        known.entry(name).or_insert_with(|| field.clone());
                    });
                }
                ("required", Some(Value::Array(known)), Value::Array(more)) => {
                    let new: Vec<Value> = more.iter().filter(|name| !known.contains(name)).cloned().collect();
                    known.extend(new);
                }
                (key, None, value) if key != "allOf" && !REFERENCES.contains(&key) => {
                    fields.insert(key.to_owned(), value.clone());
                }
                _ => {}
            }
        }
    }
    Cow::Owned(Value::Object(fields))
}

/// `schema` as a part of another schema, whose `$defs` become `definitions`: what its references name goes there, under
/// names that begin with `prefix`, and they lead to it. A reference that names nothing is left out.
pub fn embed(schema: &Value, prefix: &str, definitions: &mut Map<String, Value>) -> Value {
    let mut embedding = Embedding { root: schema, prefix, known: Vec::new(), definitions };
    let moved = embedding.schema(schema);
    let mut at = 0;
    while let Some((target, name)) = embedding.known.get(at).cloned() {
        let target = embedding.schema(target);
        embedding.definitions.insert(name, target);
        at += 1;
    }
    moved
}

struct Embedding<'a, 'd> {
    root: &'a Value,
    prefix: &'d str,
    /// What references name, and where it goes.
    known: Vec<(&'a Value, String)>,
    definitions: &'d mut Map<String, Value>,
}

impl<'a> Embedding<'a, '_> {
    fn schema(&mut self, schema: &'a Value) -> Value {
        let fields = match schema {
            Value::Object(fields) => fields,
            Value::Array(all) => return all.iter().map(|one| self.schema(one)).collect(),
            other => return other.clone(),
        };
        let mut moved = Map::new();
        for (key, value) in fields {
            let key = key.as_str();
            if LEFT_OUT.contains(&key) || (REFERENCES.contains(&key) && value.is_string()) {
                continue;
            }
            let value = match value {
                Value::Object(named) if NAMED.contains(&key) => {
                    named.iter().map(|(name, part)| (name.clone(), self.schema(part))).collect()
                }
                value if DATA.contains(&key) => value.clone(),
                value => self.schema(value),
            };
            moved.insert(key.to_owned(), value);
        }
        if let Some((reference, target)) = referred(self.root, schema) {
            let name = self.define(reference, target);
            moved.insert("$ref".to_owned(), json!(format!("#/$defs/{name}")));
        }
        Value::Object(moved)
    }

    /// The name under which the target of a reference is defined.
    fn define(&mut self, reference: &str, target: &'a Value) -> String {
        if let Some((_, name)) = self.known.iter().find(|(known, _)| std::ptr::eq(*known, target)) {
            return name.clone();
        }
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let wanted = if last.is_empty() { plain(self.prefix) } else { plain(&format!("{}_{last}", self.prefix)) };
        let mut name = wanted.clone();
        let mut number = 2;
        while self.definitions.contains_key(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        // What it stands for follows, since it may refer to itself.
        self.definitions.insert(name.clone(), Value::Null);
        self.known.push((target, name.clone()));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{embed, flattened};
    use crate::schema::{check, validate};
    use serde_json::{Map, Value, json};

    /// The schema within another one, as a call's arguments are.
    fn within(schema: &Value) -> Value {
        let mut definitions = Map::new();
        let arguments = embed(schema, "book", &mut definitions);
        json!({"type": "object", "properties": {"arguments": arguments}, "required": ["arguments"], "$defs": definitions})
    }

    fn tree() -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/Node"}, "definitions": {"type": "string"}},
            "required": ["root"],
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {
                        "name": {"$ref": "#/definitions/the%20name"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    },
                    "required": ["name"],
                    "additionalProperties": false,
                },
                "Unused": {"type": "string"},
            },
            "definitions": {"the name": {"type": "string", "enum": ["a", "$ref"]}},
        })
    }

    #[test]
    fn references_hold_in_another_schema() {
        let schema = within(&tree());
        assert_eq!(check(&schema), Ok(()));
        let good = json!({"arguments": {"root": {"name": "a", "children": [{"name": "$ref"}]}, "definitions": "x"}});
        assert_eq!(validate(&schema, &good), Ok(()));
        for bad in [json!({"root": {"name": "b"}}), json!({"root": {"name": "a", "children": [{"x": 1}]}}), json!({})] {
            assert!(validate(&schema, &json!({"arguments": bad})).is_err(), "{bad}");
        }
        let names: Vec<&String> = schema["$defs"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["book_Node", "book_the_20name"]);
    }

    #[test]
    fn the_whole_schema_an_anchor_and_what_is_elsewhere() {
        let schema = within(&json!({
            "$id": "https://example.org/own",
            "type": "object",
            "properties": {
                "again": {"$ref": "#"},
                "size": {"$ref": "https://example.org/own#size"},
                "gone": {"$ref": "https://example.org/other#/x"},
                "data": {"const": {"$ref": "#"}},
            },
            "additionalProperties": false,
            "$defs": {"any": {"$anchor": "size", "type": "integer"}},
        }));
        assert_eq!(check(&schema), Ok(()));
        let good = json!({"again": {"size": 2}, "gone": [1], "data": {"$ref": "#"}});
        assert_eq!(validate(&schema, &json!({"arguments": good})), Ok(()));
        assert!(validate(&schema, &json!({"arguments": {"again": {"size": "2"}}})).is_err());
    }

    #[test]
    fn fields_of_all_parts_are_the_schemas_own() {
        let schema = json!({
            "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
            "properties": {"c": {}},
            "$defs": {"Base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
        });
        let flat = flattened(&schema);
        assert_eq!((&flat["type"], &flat["allOf"]), (&json!("object"), &Value::Null));
        let names: Vec<&String> = flat["properties"].as_object().unwrap().keys().collect();
        assert_eq!((names.len(), &flat["required"]), (3, &json!(["b", "a"])));
        let plain = json!({"type": "object"});
        assert_eq!(*flattened(&plain), plain);
    }
}
