//! Schemas in forms that those understand who know less of JSON Schema: writers of grammars, and interfaces of models.

use super::references::{REFERENCES, flattened, referred};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Keywords with a choice among schemas.
const CHOICES: [&str; 2] = ["anyOf", "oneOf"];
/// Keywords that interfaces refuse at the top of what a tool takes.
const REFUSED: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "enum"];
/// Keywords that check nothing.
const NOTES: [&str; 4] = ["title", "description", "default", "examples"];
/// Deepest nesting that is looked into.
const DEEPEST: usize = 64;

/// What a tool takes, as every interface takes it: an object's schema without a choice at its top. The fields of all choices
/// are there, and those that all of them need are needed; arguments are checked by the whole schema all the same.
pub fn as_tool_input(schema: &Value) -> Cow<'_, Value> {
    let choice = |fields: &Map<String, Value>| REFUSED.iter().chain(&REFERENCES).any(|key| fields.contains_key(*key));
    match schema.as_object() {
        Some(fields) if schema["type"] == "object" && !choice(fields) => return Cow::Borrowed(schema),
        Some(_) => {}
        None => return Cow::Owned(json!({"type": "object", "properties": {}})),
    }
    let mut fields = flattened(schema).as_object().cloned().unwrap_or_default();
    for key in CHOICES {
        let Some(Value::Array(parts)) = fields.remove(key) else { continue };
        let parts: Vec<Value> = parts
            .iter()
            .map(|part| flattened(referred(schema, part).map_or(part, |(_, target)| target)).into_owned())
            .collect();
        add_choice(&mut fields, &parts);
    }
    for key in REFUSED {
        fields.remove(key);
    }
    fields.insert("type".to_owned(), json!("object"));
    fields.entry("properties").or_insert_with(|| json!({}));
    Cow::Owned(Value::Object(fields))
}

fn add_choice(fields: &mut Map<String, Value>, parts: &[Value]) {
    let mut properties = fields.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, field) in parts.iter().filter_map(|part| part["properties"].as_object()).flatten() {
        match properties.get(name) {
            // What it is depends on the choice.
            Some(known) if known != field => {
                let both = json!({"anyOf": [known, field]});
                properties.insert(name.clone(), both);
            }
            Some(_) => {}
            None => {
                properties.insert(name.clone(), field.clone());
            }
        }
    }
    fields.insert("properties".to_owned(), Value::Object(properties));
    let needed = |part: &Value| part["required"].as_array().cloned().unwrap_or_default();
    let mut of_all = parts.first().map(needed).unwrap_or_default();
    of_all.retain(|name| parts.iter().all(|part| needed(part).contains(name)));
    if !of_all.is_empty() {
        add_required(fields, &of_all);
    }
}

fn add_required(fields: &mut Map<String, Value>, more: &[Value]) {
    let mut known = fields.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let new: Vec<Value> = more.iter().filter(|name| !known.contains(name)).cloned().collect();
    known.extend(new);
    fields.insert("required".to_owned(), known.into());
}

/// The same schema without `allOf`, and with what stands beside a choice in each of its parts: writers of grammars leave out
/// either. What can't be brought together stays as it is.
pub fn merged(schema: &Value) -> Cow<'_, Value> {
    if is_merged(schema, 0) { Cow::Borrowed(schema) } else { Cow::Owned(merge_within(schema, 0)) }
}

fn is_beside_choice(fields: &Map<String, Value>) -> bool {
    fields.contains_key("properties") && CHOICES.iter().any(|key| fields.get(*key).is_some_and(Value::is_array))
}

fn is_merged(schema: &Value, depth: usize) -> bool {
    match schema {
        _ if depth > DEEPEST => true,
        Value::Object(fields) => {
            !fields.get("allOf").is_some_and(Value::is_array)
                && !is_beside_choice(fields)
                && fields.values().all(|part| is_merged(part, depth + 1))
        }
        Value::Array(parts) => parts.iter().all(|part| is_merged(part, depth + 1)),
        _ => true,
    }
}

fn merge_within(schema: &Value, depth: usize) -> Value {
    let fields = match schema {
        _ if depth > DEEPEST => return schema.clone(),
        Value::Object(fields) => fields,
        Value::Array(parts) => return parts.iter().map(|part| merge_within(part, depth + 1)).collect(),
        other => return other.clone(),
    };
    let mut fields: Map<String, Value> =
        fields.iter().map(|(key, part)| (key.clone(), merge_within(part, depth + 1))).collect();
    if let Some(Value::Array(parts)) = fields.get("allOf").cloned()
        && let Some(whole) = all_of(&fields, &parts)
    {
        fields = whole;
    }
    distribute(fields)
}

/// The fields with all parts of their `allOf` among them.
fn all_of(fields: &Map<String, Value>, parts: &[Value]) -> Option<Map<String, Value>> {
    let mut whole = fields.clone();
    whole.remove("allOf");
    for part in parts {
        whole = both(&whole, part.as_object()?)?;
    }
    // Beside a reference nothing else is read.
    let alone = whole.keys().all(|key| REFERENCES.contains(&key.as_str()) || NOTES.contains(&key.as_str()));
    (alone || !REFERENCES.iter().any(|key| whole.contains_key(*key))).then_some(whole)
}

/// What holds where both hold; `None`: that can't be said in one schema.
fn both(one: &Map<String, Value>, other: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut whole = one.clone();
    for (key, value) in other {
        let Some(known) = whole.get(key).cloned() else {
            whole.insert(key.clone(), value.clone());
            continue;
        };
        let (is_larger, is_number) = (known.as_f64() > value.as_f64(), known.is_number() && value.is_number());
        let told = match (key.as_str(), &known, value) {
            (_, known, value) if known == value => known.clone(),
            (key, known, _) if NOTES.contains(&key) => known.clone(),
            ("required", Value::Array(_), Value::Array(more)) => {
                add_required(&mut whole, more);
                continue;
            }
            ("properties", Value::Object(known), Value::Object(more)) => {
                let mut all = known.clone();
                for (name, field) in more {
                    let field = match all.get(name) {
                        Some(Value::Object(known)) => Value::Object(both(known, field.as_object()?)?),
                        Some(known) if known != field => return None,
                        _ => field.clone(),
                    };
                    all.insert(name.clone(), field);
                }
                Value::Object(all)
            }
            ("enum", Value::Array(known), Value::Array(more)) => {
                known.iter().filter(|value| more.contains(value)).cloned().collect()
            }
            ("type", Value::String(known), Value::Array(kinds)) if kinds.iter().any(|kind| kind == known) => {
                json!(known)
            }
            ("type", Value::Array(kinds), Value::String(kind)) if kinds.iter().any(|known| known == kind) => {
                json!(kind)
            }
            ("minLength" | "minItems" | "minimum" | "exclusiveMinimum" | "minProperties", known, value)
                if is_number =>
            {
                if is_larger {
                    known.clone()
                } else {
                    value.clone()
                }
            }
            ("maxLength" | "maxItems" | "maximum" | "exclusiveMaximum" | "maxProperties", known, value)
                if is_number =>
            {
                if is_larger {
                    value.clone()
                } else {
                    known.clone()
                }
            }
            _ => return None,
        };
        whole.insert(key.clone(), told);
    }
    Some(whole)
}

/// Gives each part of a choice what stands beside it.
fn distribute(fields: Map<String, Value>) -> Value {
    if !is_beside_choice(&fields) {
        return Value::Object(fields);
    }
    let Some((key, Value::Array(parts))) = CHOICES.iter().find_map(|key| Some((*key, fields.get(*key)?.clone())))
    else {
        return Value::Object(fields);
    };
    let (mut outer, mut beside) = (Map::new(), Map::new());
    for (name, value) in &fields {
        match name.as_str() {
            name if name == key => {}
            "$defs" | "definitions" | "$schema" | "$id" | "title" | "description" => {
                outer.insert(name.clone(), value.clone());
            }
            "type" => {
                outer.insert(name.clone(), value.clone());
                beside.insert(name.clone(), value.clone());
            }
            _ => {
                beside.insert(name.clone(), value.clone());
            }
        }
    }
    let refers = |part: &Map<String, Value>| REFERENCES.iter().any(|key| part.contains_key(*key));
    let with_all = |part: &Value| part.as_object().filter(|part| !refers(part)).and_then(|part| both(&beside, part));
    let Some(parts) = parts.iter().map(with_all).collect::<Option<Vec<_>>>() else {
        return Value::Object(fields);
    };
    outer.insert(key.to_owned(), parts.into_iter().map(distribute).collect());
    Value::Object(outer)
}

#[cfg(test)]
mod tests {
    use super::{as_tool_input, merged};
    use serde_json::{Value, json};

    #[test]
    fn parts_that_hold_together_are_one() {
        for (given, expected) in [
            (json!({"allOf": [{"type": "string"}, {"minLength": 2}]}), json!({"type": "string", "minLength": 2})),
            (
                json!({"allOf": [{"minLength": 2, "maxLength": 9}, {"minLength": 3, "maxLength": 5}], "type": "string"}),
                json!({"type": "string", "minLength": 3, "maxLength": 5}),
            ),
            (
                json!({"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"type": ["string", "null"]}], "type": "string"}),
                json!({"type": "string", "enum": ["b"]}),
            ),
            (
                json!({"description": "It.", "allOf": [{"$ref": "#/$defs/a"}]}),
                json!({"description": "It.", "$ref": "#/$defs/a"}),
            ),
            (
                json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"a": {"minLength": 1}, "b": {}}, "required": ["b", "a"]}]}),
                json!({"properties": {"a": {"type": "string", "minLength": 1}, "b": {}}, "required": ["a", "b"]}),
            ),
        ] {
            assert_eq!(*merged(&json!({"properties": {"x": given}})), json!({"properties": {"x": expected}}));
        }
        for as_it_is in [
            json!({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"type": "object", "properties": {"a": {}}}),
        ] {
            assert_eq!(*merged(&as_it_is), as_it_is);
        }
    }

    #[test]
    fn what_stands_beside_a_choice_holds_for_each_part() {
        let given = json!({
            "type": "object", "properties": {"k": {"type": "integer"}, "a": {}, "b": {}}, "required": ["k"], "$defs": {},
            "anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}],
        });
        let told = merged(&given);
        assert_eq!((&told["type"], told.get("properties"), &told["$defs"]), (&json!("object"), None, &json!({})));
        let parts = told["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        let needed: Vec<&Value> = parts.iter().map(|part| &part["required"]).collect();
        assert_eq!(needed, [&json!(["k", "a"]), &json!(["k", "b"])]);
        assert_eq!(parts[1]["properties"]["b"], json!({"type": "string"}));
        assert_eq!(parts[0]["properties"]["k"], json!({"type": "integer"}));
    }

    #[test]
    fn tools_take_objects_without_a_choice_at_the_top() {
        let branches = json!([
            {"properties": {"a": {"type": "string"}, "n": {"type": "integer"}}, "required": ["a", "n"]},
            {"$ref": "#/$defs/other"},
        ]);
        let other = json!({"properties": {"b": {"type": "integer"}, "n": {"type": "integer"}}, "required": ["b", "n"]});
        for key in ["oneOf", "anyOf"] {
            let given = json!({key: branches, "$defs": {"other": other}});
            let told = as_tool_input(&given);
            assert_eq!((&told["type"], told.get(key), &told["required"]), (&json!("object"), None, &json!(["n"])));
            let names: Vec<&String> =
                told["properties"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
            assert_eq!(names.len(), 3, "{told}");
        }
        let all = json!({"allOf": [{"properties": {"a": {}}, "required": ["a"]}]});
        assert_eq!(*as_tool_input(&all), json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}));
        let untyped = json!({"properties": {"a": {}}});
        assert_eq!(*as_tool_input(&untyped), json!({"type": "object", "properties": {"a": {}}}));
        assert_eq!(*as_tool_input(&json!({})), json!({"type": "object", "properties": {}}));
        let plain = json!({"type": "object"});
        assert_eq!(*as_tool_input(&plain), plain);
    }
}
