//! Ollama's own `/api/chat`, which takes the context setting and keeps the model's thinking apart.

use serde_json::{Map, Value, json};
use steward_core::message::{Message, Role};
use steward_core::model::{Connection, ModelChunk, ModelRequest, Usage};

use super::turns::{name_of, object};
use super::{function, rounded};
use crate::openai::{Decode, Fault, State, text};

/// The body of a streamed request.
pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(connection.model));
    let messages = request.messages.iter();
    let messages: Vec<Value> = messages.map(|m| message(m, &request.messages)).collect();
    body.insert("messages".to_owned(), messages.into());
    body.insert("stream".to_owned(), json!(true));
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(function).collect();
        body.insert("tools".to_owned(), tools.into());
    }
    let schema = request.schema.as_ref();
    if let Some(schema) = schema.filter(|_| connection.capabilities.json_schema) {
        body.insert("format".to_owned(), schema.clone());
    }
    let mut options = Map::new();
    if !plain {
        let temperature = rounded(request.temperature);
        options.insert("temperature".to_owned(), json!(temperature));
    }
    options.insert("num_predict".to_owned(), json!(request.max_tokens));
    if !request.stop.is_empty() {
        options.insert("stop".to_owned(), json!(request.stop));
    }
    if let Some(seed) = request.seed {
        options.insert("seed".to_owned(), json!(seed & (i32::MAX as u64)));
    }
    if let Some(window) = connection.capabilities.num_ctx {
        options.insert("num_ctx".to_owned(), json!(window));
    }
    body.insert("options".to_owned(), Value::Object(options));
    Value::Object(body)
}

fn message(message: &Message, all: &[Message]) -> Value {
    let said = |role: &str| json!({"role": role, "content": message.text});
    match message.role {
        Role::System => said("system"),
        Role::User => said("user"),
        Role::Tool => {
            let name = name_of(message.tool_call_id.as_deref().unwrap_or_default(), all);
            json!({"role": "tool", "tool_name": name, "content": message.text})
        }
        Role::Assistant => {
            let mut turn = said("assistant");
            if !message.tool_calls.is_empty() {
                let calls = message
                    .tool_calls
                    .iter()
                    .map(|call| json!({"function": {"name": call.name, "arguments": object(&call.arguments)}}));
                turn["tool_calls"] = calls.collect();
            }
            turn
        }
    }
}

/// Reads the lines.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
}

impl Decode for Decoder {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn value(&mut self, value: &Value) -> Result<Vec<ModelChunk>, Fault> {
        let mut chunks = Vec::new();
        if let Some(model) = text(value.get("model")) {
            self.state.model = model;
        }
        let message = &value["message"];
        let field = |name: &str| text(message.get(name)).unwrap_or_default();
        self.state.push_reasoning(&field("thinking"), &mut chunks);
        self.state.push_text(&field("content"), &mut chunks);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let arguments = object(&function["arguments"]).to_string();
            let (id, name) = (text(call.get("id")), text(function.get("name")));
            self.state.push_call(id, name, arguments, &mut chunks);
        }
        if value["done"] == true {
            let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
            self.state.usage = Usage {
                prompt_tokens: number("prompt_eval_count"),
                completion_tokens: number("eval_count"),
                ..Usage::default()
            };
            let reason = value["done_reason"].as_str().unwrap_or("stop");
            let called = reason == "stop" && self.state.calls > 0;
            let reason = if called { "tool_calls" } else { reason };
            self.state.finish = Some(reason.to_owned());
            self.state.done = true;
        }
        Ok(chunks)
    }

    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        value.get("message")?;
        Some(self.value(value))
    }
}
