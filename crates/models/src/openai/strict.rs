use serde_json::Value;

/// Whether `strict` may be asked for: every object closed, every property required. Otherwise
/// OpenAI refuses the request.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let closed = match map.get("properties") {
                Some(Value::Object(properties)) => {
                    let required = map.get("required").and_then(Value::as_array);
                    map.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties
                            .keys()
                            .all(|name| required.is_some_and(|list| list.iter().any(|item| item == name)))
                }
                _ => map.get("type").and_then(Value::as_str) != Some("object"),
            };
            closed && map.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_strict;
    use serde_json::json;

    #[test]
    fn open_objects_are_not_strict() {
        let inner = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let mut closed = inner.clone();
        closed["additionalProperties"] = json!(false);
        assert!(is_strict(&json!({"type": "string"})));
        assert!(!is_strict(&json!({"type": "object"})));
        assert!(!is_strict(&inner));
        assert!(is_strict(&closed));
        assert!(is_strict(&json!({"type": "array", "items": closed})));
        assert!(!is_strict(&json!({"anyOf": [closed, inner]})));
    }
}
