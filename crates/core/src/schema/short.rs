//! Arguments in a short form for a model.

use super::references::{parts_of, referred};
use serde_json::Value;

/// Schemas within each other from which inner objects are only named.
const MAX_OBJECT_DEPTH: usize = 16;
/// Schemas within each other that are looked at.
const MAX_DEPTH: usize = 64;
/// Length from which inner objects and variants are only named, characters.
const MAX_LENGTH: usize = 4000;

/// The arguments of `schema` in a short form for a model: `{"path": string, "limit"?: integer}`. References are followed; an
/// object that holds others like itself is written once.
pub fn in_short(schema: &Value) -> String {
    let parts = parts_of(schema, schema);
    let open = parts.iter().map(|part| (*part, "")).collect();
    let mut short = Short { root: schema, open, written: 0 };
    let choice = short.choice(&parts);
    match choice.filter(|_| !parts.iter().any(|part| part["properties"].is_object())) {
        Some(choice) => choice,
        None => short.object(&parts),
    }
}

struct Short<'a> {
    root: &'a Value,
    /// The objects that are being written, with the names that references give them.
    open: Vec<(&'a Value, &'a str)>,
    written: usize,
}

impl<'a> Short<'a> {
    fn object(&mut self, parts: &[&'a Value]) -> String {
        let required = |name: &str| {
            let mut lists = parts.iter().filter_map(|part| part["required"].as_array());
            lists.any(|names| names.iter().any(|value| value == name))
        };
        let mut fields: Vec<(&'a String, &'a Value)> = Vec::new();
        for (name, field) in parts.iter().filter_map(|part| part["properties"].as_object()).flatten() {
            if !fields.iter().any(|(known, _)| *known == name) {
                fields.push((name, field));
            }
        }
        let mut written = Vec::new();
        for (name, field) in fields {
            let optional = if required(name) { "" } else { "?" };
            self.written += name.len() + 4;
            written.push(format!("\"{name}\"{optional}: {}", self.value(field)));
        }
        format!("{{{}}}", written.join(", "))
    }

    fn value(&mut self, schema: &'a Value) -> String {
        if self.open.len() > MAX_DEPTH {
            return "any".to_owned();
        }
        let parts = parts_of(self.root, schema);
        if let Some((_, name)) =
            self.open.iter().find(|(known, _)| parts.iter().any(|part| std::ptr::eq(*known, *part)))
        {
            return if name.is_empty() { "the same object".to_owned() } else { format!("{name} as above") };
        }
        let name = parts.iter().find_map(|part| referred(self.root, part));
        let name = name.map(|(reference, _)| reference.rsplit(['/', '#']).next().unwrap_or_default());
        let depth = self.open.len();
        self.open.extend(parts.iter().map(|part| (*part, name.unwrap_or_default())));
        let text = self.kind(&parts);
        self.open.truncate(depth);
        self.written += text.len().min(16);
        text
    }

    fn kind(&mut self, parts: &[&'a Value]) -> String {
        let found = |key: &str| parts.iter().map(|part| &part[key]).find(|value| !value.is_null());
        if let Some(values) = found("enum").and_then(Value::as_array) {
            return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
        }
        if let Some(value) = parts.iter().find_map(|part| part.get("const")) {
            return value.to_string();
        }
        if found("properties").is_none()
            && let Some(choice) = self.choice(parts)
        {
            return choice;
        }
        match found("type") {
            Some(Value::Array(kinds)) => {
                let kinds: Vec<String> =
                    kinds.iter().filter_map(Value::as_str).map(|kind| self.typed(kind, parts)).collect();
                kinds.join(" | ")
            }
            Some(Value::String(kind)) => self.typed(kind, parts),
            _ if found("properties").is_some() => self.typed("object", parts),
            _ if found("items").is_some() => self.typed("array", parts),
            _ => "any".to_owned(),
        }
    }

    fn typed(&mut self, kind: &str, parts: &[&'a Value]) -> String {
        let parts_with = |key: &str| parts.iter().map(|part| &part[key]).find(|value| value.is_object());
        match kind {
            "array" => match parts_with("items") {
                Some(items) => {
                    let items = self.value(items);
                    if items.contains(" | ") && !items.starts_with('{') {
                        format!("array of ({items})")
                    } else {
                        format!("array of {items}")
                    }
                }
                None => "array of any".to_owned(),
            },
            "object" if self.open.len() > MAX_OBJECT_DEPTH || self.written > MAX_LENGTH => "object".to_owned(),
            "object" if parts_with("properties").is_some() => self.object(parts),
            "object" => match parts_with("additionalProperties") {
                Some(values) => format!("object with values of {}", self.value(values)),
                None => "object".to_owned(),
            },
            other => other.to_owned(),
        }
    }

    /// The variants that the value may have, if there are any that say more than which fields are needed.
    fn choice(&mut self, parts: &[&'a Value]) -> Option<String> {
        if self.written > MAX_LENGTH {
            return None;
        }
        let variants = parts.iter().find_map(|part| part["anyOf"].as_array().or_else(|| part["oneOf"].as_array()))?;
        let mut written: Vec<String> = Vec::new();
        for variant in variants {
            let text = self.value(variant);
            if !written.contains(&text) {
                written.push(text);
            }
        }
        written.iter().any(|text| text != "any").then(|| written.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::in_short;
    use serde_json::{Value, json};

    fn check(schema: &Value, expected: &str) {
        assert_eq!(in_short(schema), expected, "{schema}");
    }

    #[test]
    fn references_are_followed() {
        let definitions = json!({
            "Money": {"type": "object", "properties": {"amount": {"type": "number"}, "currency": {"enum": ["EUR", "USD"]}}, "required": ["amount"]},
            "Line": {"type": "object", "properties": {"price": {"$ref": "#/$defs/Money"}, "count": {"type": "integer"}}},
        });
        let schema = json!({
            "type": "object",
            "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "required": ["lines"],
            "$defs": definitions,
        });
        check(
            &schema,
            r#"{"lines": array of {"price"?: {"amount": number, "currency"?: "EUR" | "USD"}, "count"?: integer}, "note"?: string | null}"#,
        );
        let whole = json!({"$ref": "#/definitions/Order", "definitions": {"Order": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}});
        check(&whole, r#"{"id": string}"#);
    }

    #[test]
    fn an_object_like_itself_is_written_once() {
        let node = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}, "name": {"type": "string"}}, "required": ["name"]});
        let schema =
            json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}});
        check(&schema, r#"{"root"?: {"children"?: array of Node as above, "name": string}}"#);
        let own = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        check(&own, r#"{"next"?: the same object}"#);
    }

    #[test]
    fn parts_and_variants_are_all_shown() {
        let schema = json!({
            "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": {"type": ["integer", "null"]}}, "required": ["b"]}],
            "$defs": {"Base": {"type": "object", "properties": {"a": {"type": "string"}}}},
        });
        check(&schema, r#"{"b": integer | null, "a"?: string}"#);
        let shape = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "square"}}},
        ]});
        check(&shape, r#"{"kind": "circle", "r"?: number} | {"kind"?: "square"}"#);
        let one_of_two = json!({"type": "object", "properties": {"x": {}, "y": {"type": "object", "additionalProperties": {"type": "number"}}}, "oneOf": [{"required": ["x"]}, {"required": ["y"]}]});
        check(&one_of_two, r#"{"x"?: any, "y"?: object with values of number}"#);
        check(&json!({"type": "object"}), "{}");
    }
}
