use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};

#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    question: Vec<Vec<Turn>>,
    function: Vec<Function>,
}

#[derive(Debug, Deserialize)]
struct Turn {
    role: String,
    content: String,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
}

#[derive(Debug, Clone)]
pub struct Case {
    pub id: String,
    pub system: String,
    pub request: String,
    pub tools: Vec<ToolSpec>,
}

pub fn read(lines: Value) -> anyhow::Result<Vec<Case>> {
    let lines: Vec<Line> = serde_json::from_value(lines)?;
    Ok(lines
        .into_iter()
        .map(|line| {
            let said = |role: &str| {
                let texts: Vec<&str> = line
                    .question
                    .iter()
                    .flatten()
                    .filter(|turn| (turn.role == "system") == (role == "system"))
                    .map(|turn| turn.content.as_str())
                    .collect();
                texts.join("\n")
            };
            Case {
                system: said("system"),
                request: said("user"),
                id: line.id,
                tools: line.function.into_iter().map(tool).collect(),
            }
        })
        .collect())
}

fn tool(function: Function) -> ToolSpec {
    ToolSpec {
        name: function.name,
        description: function.description,
        parameters: schema(&function.parameters, true).into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill: None,
    }
}

/// The benchmark's type names in JSON Schema; the same table as the package has for OpenAI.
fn schema(own: &Value, top: bool) -> Value {
    let Some(given) = own.as_object() else {
        return json!({"type": "object", "properties": {}});
    };
    let mut out = Map::new();
    for (key, value) in given {
        match key.as_str() {
            "type" => {
                let name = value.as_str().unwrap_or("any");
                match name {
                    "dict" | "object" | "HashMap" => out.insert(key.clone(), json!("object")),
                    "array" | "list" | "tuple" | "ArrayList" | "Array" => out.insert(key.clone(), json!("array")),
                    "float" | "number" | "double" => out.insert(key.clone(), json!("number")),
                    "integer" | "long" | "Bigint" => out.insert(key.clone(), json!("integer")),
                    "boolean" | "bool" | "Boolean" => out.insert(key.clone(), json!("boolean")),
                    "any" | "Any" => None,
                    _ => out.insert(key.clone(), json!("string")),
                };
            }
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                let fields: Map<String, Value> =
                    fields.map(|(name, field)| (name.clone(), schema(field, false))).collect();
                out.insert(key.clone(), Value::Object(fields));
            }
            "items" | "additionalProperties" if value.is_object() => {
                out.insert(key.clone(), schema(value, false));
            }
            "description" | "enum" | "default" | "required" | "format" | "minimum" | "maximum" | "minItems"
            | "maxItems" | "pattern"
                if !value.is_null() =>
            {
                out.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
    if top {
        out.insert("type".to_owned(), json!("object"));
        out.entry("properties").or_insert_with(|| json!({}));
    }
    Value::Object(out)
}

/// Numbers as the checker expects them: JSON has one kind of number, the checker tells `3` from `3.0` in lists.
pub fn floats(schema: &Value, value: Value) -> Value {
    match value {
        Value::Number(number) if schema["type"] == "number" => {
            number.as_f64().map_or(Value::Number(number), Value::from)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| floats(&schema["items"], item)).collect()),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| {
                    let value = floats(&schema["properties"][&name], value);
                    (name, value)
                })
                .collect(),
        ),
        other => other,
    }
}
