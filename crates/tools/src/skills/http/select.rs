//! Parts of JSON, by JSONPath (RFC 9535).

use crate::error::ToolsError;
use serde_json::Value;
use serde_json_path::JsonPath;

/// Whether a path can be read.
pub(in crate::skills) fn check(path: &str) -> Result<(), String> {
    JsonPath::parse(path)
        .map(|_| ())
        .map_err(|error| format!("`{path}` is no JSONPath ({error}); write it as $.items[*].name"))
}

/// What `path` finds: the value itself where the path can find but one, else the list.
pub(in crate::skills) fn select(path: &str, value: &Value) -> Result<Value, ToolsError> {
    let parsed =
        JsonPath::parse(path).map_err(|error| ToolsError::Refused(format!("`{path}` is no JSONPath: {error}")))?;
    let mut found = parsed.query(value).all();
    let many = ["*", "..", "?", ":", ","].iter().any(|sign| path.contains(sign));
    match found.len() {
        0 if !many => {
            Err(ToolsError::Refused(format!("the answer holds nothing at {path}; it may have another form today")))
        }
        1 if !many => Ok(found.remove(0).clone()),
        _ => Ok(Value::Array(found.into_iter().cloned().collect())),
    }
}
