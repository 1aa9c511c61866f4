//! The tools as prompt text.

use serde_json::Value;
use std::fmt::Write as _;
use steward_core::tool::ToolSpec;

/// `template` with the list of tools in the place of `{tools}`.
pub(super) fn with_tools(template: &str, tools: &[ToolSpec]) -> String {
    let mut list = String::new();
    for spec in tools {
        let _ = writeln!(list, "- {}: {}", spec.name, spec.description.trim());
        let _ = writeln!(list, "  arguments: {}", arguments(&spec.parameters));
    }
    template.replacen("{tools}", list.trim_end(), 1)
}

/// `{"path": string, "limit"?: integer}`: far fewer tokens than the schema.
fn arguments(schema: &Value) -> String {
    let required = |name: &str| {
        let list = schema["required"].as_array();
        list.is_some_and(|names| names.iter().any(|value| value == name))
    };
    let fields: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| {
            let optional = if required(name) { "" } else { "?" };
            format!("\"{name}\"{optional}: {}", kind(field))
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn kind(field: &Value) -> String {
    if let Some(values) = field["enum"].as_array() {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return values.join(" | ");
    }
    match &field["type"] {
        Value::String(name) if name == "array" => format!("array of {}", kind(&field["items"])),
        Value::String(name) => name.clone(),
        _ => "any".to_owned(),
    }
}
