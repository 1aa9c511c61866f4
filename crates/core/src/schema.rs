//! Arguments and the JSON Schemas that they are checked by. A schema may come from anywhere: a skill, a package, an MCP
//! server, a client. So what it may cost is bounded here, once for all who check by one.

mod merged;
mod references;
mod short;
mod work;

pub use merged::{as_tool_input, merged};
pub use references::{embed, flattened, referred};
pub use short::in_short;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// How often a match of a pattern may go back. What needs more fails.
const BACKTRACKS: usize = 20_000;
/// Most memory of a compiled pattern, bytes.
const PATTERN_BYTES: usize = 4 << 20;

/// Refuses a schema that can't be used, before somebody keeps it: broken, too long, or too much work. The error says what to
/// do. What only certain arguments make too much work, [`validate`] refuses.
pub fn check(schema: &Value) -> Result<(), String> {
    compiled(schema).map(drop)
}

/// Refuses arguments that don't fit. The error names the field and what was expected.
pub fn validate(schema: &Value, arguments: &Value) -> Result<(), String> {
    validate_except(schema, arguments, &[])
}

/// Like [`validate`], but skips the top-level fields in `open` (context-marked, still empty).
pub fn validate_except(schema: &Value, arguments: &Value, open: &[String]) -> Result<(), String> {
    if !arguments.is_object() {
        return Err(format!("arguments must be a JSON object, not {}", kind(arguments)));
    }
    work::check_with(schema, arguments)?;
    let validator = compiled_as_it_is(schema)?;
    let problems: Vec<String> = validator
        .iter_errors(arguments)
        .filter_map(|error| {
            let path = error.instance_path().to_string();
            let field = path.trim_start_matches('/').split('/').next().unwrap_or("").to_owned();
            if open.contains(&field) {
                return None;
            }
            let place = if path.is_empty() {
                "arguments".to_owned()
            } else {
                format!("`{}`", path.trim_start_matches('/').replace('/', "."))
            };
            Some(format!("{place}: {error}"))
        })
        .take(3)
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

/// What checks single values, such as texts, by a schema.
pub(crate) fn compiled(schema: &Value) -> Result<Validator, String> {
    work::check(schema)?;
    compiled_as_it_is(schema)
}

fn compiled_as_it_is(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(PATTERN_BYTES);
    jsonschema::options()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| format!("the tool's own schema is broken: {error}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::{check, validate, validate_except};
    use serde_json::json;

    #[test]
    fn a_broken_schema_is_named() {
        for broken in
            [json!({"type": "objekt"}), json!({"pattern": "("}), json!({"$schema": "https://example.org/own"})]
        {
            let why = check(&broken).unwrap_err();
            assert!(why.starts_with("the tool's own schema is broken"), "{why}");
        }
    }

    #[test]
    fn names_the_field() {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string", "minLength": 1}, "n": {"type": "integer"}}, "required": ["path"], "additionalProperties": false});
        assert!(validate(&schema, &json!({"path": "a"})).is_ok());
        assert!(validate(&schema, &json!({"path": "a", "n": "x"})).unwrap_err().contains("`n`"));
        assert!(validate(&schema, &json!({})).unwrap_err().contains("path"));
        assert!(validate(&schema, &json!({"path": ""})).is_err());
        assert!(validate_except(&schema, &json!({"path": ""}), &["path".into()]).is_ok());
        assert!(validate(&schema, &json!([])).unwrap_err().contains("an array"));
    }
}
