use serde_json::Value;

/// Names in an answer of `/v1/models`.
pub(super) fn names(value: &Value) -> Vec<String> {
    let list = value.get("data").or(Some(value)).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|model| model.get("id").and_then(Value::as_str))
        .map(str::to_owned)
        .collect()
}
