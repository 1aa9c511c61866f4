//! Cohere's chat, version 2.

use serde_json::{Map, Value, json};
use steward_core::message::{Message, Role};
use steward_core::model::{Connection, ModelChunk, ModelRequest, Usage};

use super::{function, rounded};
use crate::openai::{Decode, Fault, State, text};

/// Most stop sequences that it takes.
const STOPS: usize = 5;

/// The body of a streamed request.
pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(connection.model));
    body.insert("stream".to_owned(), json!(true));
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    body.insert("messages".to_owned(), messages.into());
    if !plain {
        let temperature = rounded(request.temperature);
        body.insert("temperature".to_owned(), json!(temperature));
    }
    body.insert("max_tokens".to_owned(), json!(request.max_tokens));
    let stops: Vec<&String> = request.stop.iter().take(STOPS).collect();
    if !stops.is_empty() {
        body.insert("stop_sequences".to_owned(), json!(stops));
    }
    if let Some(seed) = request.seed {
        body.insert("seed".to_owned(), json!(seed & (i64::MAX as u64)));
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(function).collect();
        body.insert("tools".to_owned(), tools.into());
    } else if let Some(schema) = &request.schema
        && connection.capabilities.json_schema
    {
        // It refuses a schema beside tools.
        let format = json!({"type": "json_object", "json_schema": schema});
        body.insert("response_format".to_owned(), format);
    }
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    let said = |role: &str| json!({"role": role, "content": message.text});
    match message.role {
        Role::System => said("system"),
        Role::User => said("user"),
        Role::Tool => json!({
            "role": "tool",
            "tool_call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "content": message.text,
        }),
        Role::Assistant if message.tool_calls.is_empty() => said("assistant"),
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
            let mut turn = json!({"role": "assistant", "tool_calls": calls});
            // What it says before calls is its plan.
            if !message.text.trim().is_empty() {
                turn["tool_plan"] = json!(message.text);
            }
            turn
        }
    }
}

/// Reads the events.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
    calls: Vec<(Option<u64>, usize)>,
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
        let delta = &value["delta"];
        let message = &delta["message"];
        let place = value.get("index").and_then(Value::as_u64);
        match value["type"].as_str().unwrap_or_default() {
            "content-start" | "content-delta" => self.content(&message["content"], &mut chunks),
            "tool-plan-delta" => {
                let piece = text(message.get("tool_plan")).unwrap_or_default();
                self.state.push_reasoning(&piece, &mut chunks);
            }
            "tool-call-start" => {
                let call = &message["tool_calls"];
                let index = self.call(call, &mut chunks);
                self.calls.push((place, index));
            }
            "tool-call-delta" => {
                let known = self.calls.iter().rfind(|(known, _)| *known == place);
                let arguments = text(message["tool_calls"]["function"].get("arguments"));
                if let (Some((_, index)), Some(arguments)) = (known, arguments) {
                    chunks.push(ModelChunk::ToolCall { index: *index, id: None, name: None, arguments });
                }
            }
            "message-end" => {
                self.usage(&delta["usage"]);
                self.end(delta)?;
                self.state.done = true;
            }
            _ => {}
        }
        Ok(chunks)
    }

    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        let message = value.get("message").filter(|message| message.is_object())?;
        let mut chunks = Vec::new();
        let plan = text(message.get("tool_plan")).unwrap_or_default();
        self.state.push_reasoning(&plan, &mut chunks);
        for part in message["content"].as_array().into_iter().flatten() {
            self.content(part, &mut chunks);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, &mut chunks);
        }
        self.usage(&value["usage"]);
        Some(self.end(value).map(|()| chunks))
    }
}

impl Decoder {
    fn content(&mut self, content: &Value, chunks: &mut Vec<ModelChunk>) {
        let field = |name: &str| text(content.get(name)).unwrap_or_default();
        self.state.push_reasoning(&field("thinking"), chunks);
        self.state.push_text(&field("text"), chunks);
    }

    fn call(&mut self, call: &Value, chunks: &mut Vec<ModelChunk>) -> usize {
        let function = &call["function"];
        let arguments = text(function.get("arguments")).unwrap_or_default();
        let (id, name) = (text(call.get("id")), text(function.get("name")));
        self.state.push_call(id, name, arguments, chunks)
    }

    /// Why it ended; a failure is one of the reasons.
    fn end(&mut self, end: &Value) -> Result<(), Fault> {
        let reason = end["finish_reason"].as_str().unwrap_or("COMPLETE");
        let word = match reason {
            "COMPLETE" | "STOP_SEQUENCE" => "stop",
            "MAX_TOKENS" => "length",
            "TOOL_CALL" => "tool_calls",
            "ERROR" | "ERROR_TOXIC" | "ERROR_LIMIT" | "TIMEOUT" => {
                let words = text(end.get("error")).unwrap_or_else(|| reason.to_owned());
                let kind = reason.to_lowercase();
                return Err(Fault::InBand(json!({"error": {"type": kind, "message": words}})));
            }
            other => &other.to_lowercase(),
        };
        self.state.finish = Some(word.to_owned());
        Ok(())
    }

    fn usage(&mut self, usage: &Value) {
        let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
        let either = |name: &str| {
            number(&format!("/tokens/{name}")).or_else(|| number(&format!("/billed_units/{name}"))).unwrap_or(0)
        };
        self.state.usage = Usage {
            prompt_tokens: either("input_tokens"),
            cached_tokens: number("/cached_tokens").unwrap_or(0),
            completion_tokens: either("output_tokens"),
            cost_micros: 0,
        };
    }
}
