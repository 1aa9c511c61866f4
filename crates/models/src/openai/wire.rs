//! Requests as the dialect writes them.

use serde_json::{Map, Value, json};
use steward_core::message::{Message, Role};
use steward_core::model::{Connection, ModelRequest, Provider};
use steward_core::tool::ToolSpec;

use super::constrain;
use super::quirks::Quirks;

/// The body of a streamed chat request.
pub(super) fn chat_body(connection: &Connection, request: &ModelRequest, quirks: &Quirks) -> Value {
    let mut body = prompt(connection, request);
    body.insert("stream".to_owned(), json!(true));
    if !quirks.no_stream_options {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if !quirks.no_temperature {
        // By way of f32 0.2 would be sent as 0.20000000298.
        let temperature = (f64::from(request.temperature) * 1000.0).round() / 1000.0;
        body.insert("temperature".to_owned(), json!(temperature));
    }
    let new_name = (connection.provider == Provider::OpenAi) != quirks.other_max_tokens;
    let limit = if new_name { "max_completion_tokens" } else { "max_tokens" };
    body.insert(limit.to_owned(), json!(request.max_tokens));
    if !request.stop.is_empty() {
        body.insert("stop".to_owned(), json!(request.stop));
    }
    if let Some(seed) = request.seed.filter(|_| !quirks.no_seed) {
        // Servers read it as a signed number.
        body.insert("seed".to_owned(), json!(seed & (i64::MAX as u64)));
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), tools.into());
        // Others allow several calls at once by themselves.
        if connection.provider == Provider::LlamaCpp && connection.capabilities.parallel_calls {
            body.insert("parallel_tool_calls".to_owned(), json!(true));
        }
    }
    if let Some(schema) = request.schema.as_ref().filter(|_| connection.capabilities.json_schema) {
        constrain::apply(&mut body, connection, schema, &quirks.constraints);
    }
    Value::Object(body)
}

/// The body of a request for likelihoods.
pub(super) fn score_body(connection: &Connection, request: &ModelRequest, candidates: &[String]) -> Value {
    let mut body = prompt(connection, request);
    body.insert("candidates".to_owned(), json!(candidates));
    Value::Object(body)
}

/// Model and messages. The local model goes on from a last message of its own, if there is one.
fn prompt(connection: &Connection, request: &ModelRequest) -> Map<String, Value> {
    let mut body = Map::new();
    let mut messages = request.messages.as_slice();
    if connection.provider == Provider::Local {
        if let [rest @ .., last] = messages
            && last.role == Role::Assistant
            && last.tool_calls.is_empty()
        {
            messages = rest;
            body.insert("assistant_prefix".to_owned(), json!(last.text));
        }
    } else {
        body.insert("model".to_owned(), json!(connection.model));
    }
    let messages: Vec<Value> = messages.iter().map(message).collect();
    body.insert("messages".to_owned(), messages.into());
    body
}

fn message(message: &Message) -> Value {
    match message.role {
        Role::System => json!({"role": "system", "content": message.text}),
        Role::User => json!({"role": "user", "content": message.text}),
        Role::Tool => json!({
            "role": "tool",
            "tool_call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "content": message.text,
        }),
        Role::Assistant if message.tool_calls.is_empty() => {
            json!({"role": "assistant", "content": message.text})
        }
        Role::Assistant => {
            let calls: Vec<Value> = message
                .tool_calls
                .iter()
                .map(|call| {
                    json!({
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments.to_string()},
                    })
                })
                .collect();
            let content = (!message.text.is_empty()).then_some(&message.text);
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        },
    })
}
