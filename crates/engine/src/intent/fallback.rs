//! Arguments written by the model under the tool's schema, where the request does not tell them.

use futures::StreamExt;
use serde_json::{Value, json};
use steward_core::ConnectionId;
use steward_core::message::Message;
use steward_core::model::{Connection, ModelChunk, ModelRequest};
use steward_core::ports::Models;
use steward_core::tool::ToolSpec;

/// Longest reply, tokens.
const TOKENS: u32 = 256;
/// Longest wait, milliseconds.
const WAIT_MS: u64 = 60_000;
/// Longest text of the reply, bytes: a model without end is cut off.
const BYTES: usize = 16 << 10;

/// Valid arguments for a call of `tool`, with those of `known` kept as they are.
pub async fn completed(
    request: &str,
    tool: &ToolSpec,
    known: &Value,
    connection: &Connection,
    models: &dyn Models,
) -> Result<Value, String> {
    if !connection.capabilities.json_schema {
        return Err("the model cannot be held to a schema".to_owned());
    }
    let mut schema = (*tool.parameters).clone();
    // Only what is known or required: a small model fills in whatever it is offered.
    let required = schema["required"].clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, property| {
            if let Some(value) = known.get(name).filter(|value| !value.is_object()) {
                *property = json!({"const": value});
                return true;
            }
            required.as_array().is_some_and(|names| names.iter().any(|one| one == name))
        });
    }
    write(request, tool, schema, connection.id, models).await
}

async fn write(
    request: &str,
    tool: &ToolSpec,
    schema: Value,
    connection: ConnectionId,
    models: &dyn Models,
) -> Result<Value, String> {
    let system = include_str!("../../prompts/arguments.txt")
        .replace("{tool}", &tool.name)
        .replace("{description}", &tool.description);
    let asked = ModelRequest {
        messages: vec![Message::system(system), Message::user(request)],
        tools: Vec::new(),
        schema: Some(schema),
        temperature: 0.0,
        max_tokens: TOKENS,
        stop: Vec::new(),
        seed: None,
        timeout_ms: WAIT_MS,
    };
    let mut stream = models.stream(connection, asked).await.map_err(|error| error.to_string())?;
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        match chunk.map_err(|error| error.to_string())? {
            ModelChunk::Text(piece) => text.push_str(&piece),
            ModelChunk::End { .. } => break,
            ModelChunk::Reasoning(_) | ModelChunk::ToolCall { .. } | ModelChunk::Signature { .. } => {}
        }
        if text.len() > BYTES {
            return Err("the model's reply has no end".to_owned());
        }
    }
    let arguments: Value =
        serde_json::from_str(text.trim()).map_err(|error| format!("the model's arguments are no JSON: {error}"))?;
    steward_core::schema::validate(&tool.parameters, &arguments)?;
    Ok(arguments)
}
