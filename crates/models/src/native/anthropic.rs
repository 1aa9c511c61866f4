use super::rounded;
use super::turns::{OUTPUT, Part, begin_call, finish, message, object, system, tools, turns};
use crate::openai::{Decode, Fault, ReplyState, any, text, with};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use steward_core::model::{Connection, ModelRequest, Usage};

/// The version of the interface that this is written for.
pub(super) fn headers() -> HeaderMap {
    let name = HeaderName::from_static("anthropic-version");
    HeaderMap::from_iter([(name, HeaderValue::from_static("2023-06-01"))])
}

/// The instructions and the newest message are marked for the cache, where the run's next step finds them.
pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Value {
    let mut instructions: Vec<Value> =
        system(request).iter().map(|text| json!({"type": "text", "text": text})).collect();
    if let Some(last) = instructions.last_mut() {
        end_cached_part(last);
    }
    let mut messages: Vec<Value> = turns(request).iter().map(|turn| message(turn, part)).collect();
    let newest = messages.last_mut().and_then(|m| m.get_mut("content"));
    if let Some(last) = newest.and_then(|content| content.as_array_mut()?.last_mut()) {
        end_cached_part(last);
    }
    let fields = json!({
        "model": connection.model,
        "max_tokens": request.max_tokens,
        "stream": true,
        // This interface takes no more than 1.
        "temperature": (!plain).then(|| rounded(request.temperature).min(1.0)),
        "system": any(instructions),
    });
    let mut body = with(json!({}), fields);
    body["messages"] = messages.into();
    let (tools, for_output) = tools(request, connection.capabilities.json_schema, tool);
    let fields = json!({
        "stop_sequences": any(request.stop.iter().filter(|stop| !stop.trim().is_empty())),
    });
    let mut body = with(body, fields);
    if let Some(tools) = tools {
        body["tools"] = tools.into();
    }
    if for_output {
        body["tool_choice"] = json!({"type": "tool", "name": OUTPUT});
    }
    body
}

/// What the provider keeps in its cache ends with this block.
fn end_cached_part(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn tool(name: &str, description: &str, schema: &Value) -> Value {
    json!({"name": name, "description": description, "input_schema": schema})
}

fn part(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Call { id, call } => {
            json!({"type": "tool_use", "id": id, "name": call.name, "input": object(&call.arguments)})
        }
        Part::Result { id, text, .. } => {
            json!({"type": "tool_result", "tool_use_id": id, "content": text})
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Arguments that came with the beginning of a call, by its index; used unless pieces follow.
    early: BTreeMap<Option<u64>, String>,
}

impl Decode for Decoder {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault> {
        let at = event.get("index").and_then(Value::as_u64);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let message = &event["message"];
                state.model = text(message.get("model")).unwrap_or_default();
                read_usage(state, &message["usage"]);
            }
            "content_block_start" => self.begin(state, &event["content_block"], at),
            "content_block_delta" => self.delta(state, &event["delta"], at),
            "content_block_stop" => {
                if let Some(early) = self.early.remove(&at) {
                    state.push_piece(at, early);
                }
            }
            "message_delta" => {
                read_usage(state, &event["usage"]);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    finish(state, reason);
                }
            }
            "message_stop" => state.done = true,
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>> {
        let blocks = reply.get("content")?.as_array()?;
        for (at, block) in (0..).zip(blocks) {
            self.begin(state, block, Some(at));
            if let Some(early) = self.early.remove(&Some(at)) {
                state.push_piece(Some(at), early);
            }
        }
        state.model = text(reply.get("model")).unwrap_or_default();
        read_usage(state, &reply["usage"]);
        finish(state, reply["stop_reason"].as_str().unwrap_or("end_turn"));
        Some(Ok(()))
    }
}

impl Decoder {
    fn begin(&mut self, state: &mut ReplyState, block: &Value, wire_index: Option<u64>) {
        let field = |name: &str| text(block.get(name));
        match block["type"].as_str() {
            Some("text") => state.push_text(&field("text").unwrap_or_default()),
            Some("thinking") => state.push_reasoning(&field("thinking").unwrap_or_default()),
            Some("tool_use") => {
                begin_call(state, wire_index, field("id"), field("name"));
                if let Some(input) = block.get("input").filter(|input| **input != json!({})) {
                    self.early.insert(wire_index, input.to_string());
                }
            }
            _ => {}
        }
    }

    fn delta(&mut self, state: &mut ReplyState, delta: &Value, wire_index: Option<u64>) {
        let field = |name: &str| text(delta.get(name)).unwrap_or_default();
        match delta["type"].as_str() {
            Some("text_delta") => state.push_text(&field("text")),
            Some("thinking_delta") => state.push_reasoning(&field("thinking")),
            Some("input_json_delta") => {
                let piece = field("partial_json");
                if !piece.is_empty() {
                    self.early.remove(&wire_index);
                    state.push_piece(wire_index, piece);
                }
            }
            _ => {}
        }
    }
}

/// Later figures replace earlier ones. Cached tokens are counted apart from the rest of the prompt.
fn read_usage(state: &mut ReplyState, usage: &Value) {
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    if let Some(fresh) = number("input_tokens") {
        let cached = number("cache_read_input_tokens").unwrap_or(0);
        let written = number("cache_creation_input_tokens").unwrap_or(0);
        state.usage = Usage { prompt_tokens: fresh + cached + written, cached_tokens: cached, ..state.usage };
    }
    if let Some(tokens) = number("output_tokens") {
        state.usage.completion_tokens = tokens;
    }
}
