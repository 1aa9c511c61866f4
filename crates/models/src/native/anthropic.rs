use super::rounded;
use super::turns::{OUTPUT, Part, finish_word, message, object, output_schema, system, turns};
use crate::openai::{Decode, Fault, ReplyState, text};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use steward_core::model::{Connection, ModelRequest, Usage};

/// The version of the interface that this is written for.
pub(super) fn headers() -> HeaderMap {
    let name = HeaderName::from_static("anthropic-version");
    HeaderMap::from_iter([(name, HeaderValue::from_static("2023-06-01"))])
}

/// The instructions and the newest message are marked for the cache, where the run's next step finds them.
pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Value {
    let mut body = json!({"model": connection.model, "max_tokens": request.max_tokens, "stream": true});
    if !plain {
        // This interface takes no more than 1.
        body["temperature"] = json!(rounded(request.temperature).min(1.0));
    }
    let mut instructions: Vec<Value> =
        system(request).iter().map(|text| json!({"type": "text", "text": text})).collect();
    if let Some(last) = instructions.last_mut() {
        end_cached_part(last);
        body["system"] = instructions.into();
    }
    let mut messages: Vec<Value> = turns(request).iter().map(|turn| message(turn, part)).collect();
    let newest = messages.last_mut().and_then(|m| m.get_mut("content"));
    if let Some(last) = newest.and_then(|content| content.as_array_mut()?.last_mut()) {
        end_cached_part(last);
    }
    body["messages"] = messages.into();
    let stops: Vec<&String> = request.stop.iter().filter(|stop| !stop.trim().is_empty()).collect();
    if !stops.is_empty() {
        body["stop_sequences"] = json!(stops);
    }
    if let Some(schema) = output_schema(request, connection.capabilities.json_schema) {
        body["tools"] = json!([tool(OUTPUT, "Give the output in this form.", schema)]);
        body["tool_choice"] = json!({"type": "tool", "name": OUTPUT});
    } else if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|spec| tool(&spec.name, &spec.description, &spec.parameters));
        body["tools"] = tools.collect();
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
    blocks: Vec<Block>,
    /// Whether the model used the tool that stands for the output.
    output: bool,
}

/// A call whose arguments come in pieces.
#[derive(Debug)]
struct Block {
    wire_index: Option<u64>,
    /// `None`: its arguments are the output itself.
    call: Option<usize>,
    /// Arguments that came with its beginning; used unless pieces follow.
    early: Option<String>,
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
                let block = self.blocks.iter_mut().rfind(|block| block.wire_index == at);
                if let Some(early) = block.and_then(|block| block.early.take()) {
                    self.arguments(state, at, early);
                }
            }
            "message_delta" => {
                read_usage(state, &event["usage"]);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    state.finish = Some(finish_word(reason, self.output && state.calls == 0));
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
            let early = self.blocks.last_mut().and_then(|block| block.early.take());
            self.arguments(state, Some(at), early.unwrap_or_default());
        }
        state.model = text(reply.get("model")).unwrap_or_default();
        read_usage(state, &reply["usage"]);
        let reason = reply["stop_reason"].as_str().unwrap_or("end_turn");
        state.finish = Some(finish_word(reason, self.output && state.calls == 0));
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
                let (id, name) = (field("id"), field("name"));
                let is_output = name.as_deref() == Some(OUTPUT);
                self.output |= is_output;
                let call = (!is_output).then(|| state.push_call(id, name, String::new()));
                let input = block.get("input").filter(|input| **input != json!({}));
                self.blocks.push(Block { wire_index, call, early: input.map(Value::to_string) });
            }
            _ => {}
        }
    }

    fn delta(&mut self, state: &mut ReplyState, delta: &Value, wire_index: Option<u64>) {
        let field = |name: &str| text(delta.get(name)).unwrap_or_default();
        match delta["type"].as_str() {
            Some("text_delta") => state.push_text(&field("text")),
            Some("thinking_delta") => state.push_reasoning(&field("thinking")),
            Some("input_json_delta") => self.arguments(state, wire_index, field("partial_json")),
            _ => {}
        }
    }

    fn arguments(&mut self, state: &mut ReplyState, wire_index: Option<u64>, piece: String) {
        let block = self.blocks.iter_mut().rfind(|block| block.wire_index == wire_index);
        let Some(block) = block.filter(|_| !piece.is_empty()) else {
            return;
        };
        block.early = None;
        match block.call {
            None => state.push_text(&piece),
            Some(index) => state.push_arguments(index, piece),
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
