//! Anthropic's messages.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use steward_core::model::{Connection, ModelChunk, ModelRequest, Usage};

use super::rounded;
use super::turns::{OUTPUT, Part, Turn, object, output_schema, system, turns};
use crate::openai::{Decode, Fault, State, text};

/// The version of the interface that this is written for.
pub(super) fn headers() -> HeaderMap {
    let name = HeaderName::from_static("anthropic-version");
    HeaderMap::from_iter([(name, HeaderValue::from_static("2023-06-01"))])
}

/// The body of a streamed request. The standing instructions and the newest message are marked, so
/// that the next step of a run finds what comes before them in the cache.
pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(connection.model));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens));
    body.insert("stream".to_owned(), json!(true));
    if !plain {
        // This interface takes no more than 1.
        let temperature = rounded(request.temperature).min(1.0);
        body.insert("temperature".to_owned(), json!(temperature));
    }
    let mut instructions: Vec<Value> =
        system(request).iter().map(|text| json!({"type": "text", "text": text})).collect();
    if let Some(last) = instructions.last_mut() {
        mark(last);
    }
    if !instructions.is_empty() {
        body.insert("system".to_owned(), instructions.into());
    }
    let mut messages: Vec<Value> = turns(request).iter().map(message).collect();
    let newest = messages.last_mut().and_then(|m| m.get_mut("content"));
    if let Some(last) = newest.and_then(|content| content.as_array_mut()?.last_mut()) {
        mark(last);
    }
    body.insert("messages".to_owned(), messages.into());
    let stops = request.stop.iter().filter(|stop| !stop.trim().is_empty());
    let stops: Vec<&String> = stops.collect();
    if !stops.is_empty() {
        body.insert("stop_sequences".to_owned(), json!(stops));
    }
    tools(&mut body, connection, request);
    Value::Object(body)
}

/// Ends what the provider keeps in its cache with this block.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn tools(body: &mut Map<String, Value>, connection: &Connection, request: &ModelRequest) {
    if let Some(schema) = output_schema(request, connection.capabilities.json_schema) {
        let tool = json!({
            "name": OUTPUT,
            "description": "Give the output in this form.",
            "input_schema": schema,
        });
        body.insert("tools".to_owned(), json!([tool]));
        let choice = json!({"type": "tool", "name": OUTPUT});
        body.insert("tool_choice".to_owned(), choice);
        return;
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|spec| {
            json!({
                "name": spec.name,
                "description": spec.description,
                "input_schema": spec.parameters,
            })
        });
        body.insert("tools".to_owned(), tools.collect());
    }
}

fn message(turn: &Turn<'_>) -> Value {
    let content: Vec<Value> = turn
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Call { id, call } => json!({
                "type": "tool_use",
                "id": id,
                "name": call.name,
                "input": object(&call.arguments),
            }),
            Part::Result { id, text, .. } => {
                json!({"type": "tool_result", "tool_use_id": id, "content": text})
            }
        })
        .collect();
    let role = if turn.by_model { "assistant" } else { "user" };
    json!({"role": role, "content": content})
}

/// Reads the events.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
    blocks: Vec<Block>,
    output: bool,
}

/// A call whose arguments come in pieces.
#[derive(Debug)]
struct Block {
    place: Option<u64>,
    /// `None`: its arguments are the output itself.
    index: Option<usize>,
    /// Arguments that came with its beginning; told unless pieces follow.
    early: Option<String>,
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
        let place = value.get("index").and_then(Value::as_u64);
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let message = &value["message"];
                self.state.model = text(message.get("model")).unwrap_or_default();
                self.usage(&message["usage"]);
            }
            "content_block_start" => self.begin(&value["content_block"], place, &mut chunks),
            "content_block_delta" => self.delta(&value["delta"], place, &mut chunks),
            "content_block_stop" => {
                let block = self.blocks.iter_mut().rfind(|block| block.place == place);
                if let Some(early) = block.and_then(|block| block.early.take()) {
                    self.arguments(place, early, &mut chunks);
                }
            }
            "message_delta" => {
                self.usage(&value["usage"]);
                if let Some(reason) = value["delta"]["stop_reason"].as_str() {
                    self.state.finish = Some(self.finish(reason));
                }
            }
            "message_stop" => self.state.done = true,
            _ => {}
        }
        Ok(chunks)
    }

    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        let blocks = value.get("content")?.as_array()?;
        let mut chunks = Vec::new();
        for (place, block) in (0..).zip(blocks) {
            self.begin(block, Some(place), &mut chunks);
            let early = self.blocks.last_mut().and_then(|block| block.early.take());
            self.arguments(Some(place), early.unwrap_or_default(), &mut chunks);
        }
        self.state.model = text(value.get("model")).unwrap_or_default();
        self.usage(&value["usage"]);
        let reason = value["stop_reason"].as_str().unwrap_or("end_turn");
        self.state.finish = Some(self.finish(reason));
        Some(Ok(chunks))
    }
}

impl Decoder {
    fn begin(&mut self, block: &Value, place: Option<u64>, chunks: &mut Vec<ModelChunk>) {
        let field = |name: &str| text(block.get(name));
        match block["type"].as_str() {
            Some("text") => self.state.push_text(&field("text").unwrap_or_default(), chunks),
            Some("thinking") => {
                let thought = field("thinking").unwrap_or_default();
                self.state.push_reasoning(&thought, chunks);
            }
            Some("tool_use") => {
                let (id, name) = (field("id"), field("name"));
                let index = if name.as_deref() == Some(OUTPUT) {
                    self.output = true;
                    None
                } else {
                    Some(self.state.push_call(id, name, String::new(), chunks))
                };
                let input = block.get("input").filter(|input| **input != json!({}));
                self.blocks.push(Block { place, index, early: input.map(Value::to_string) });
            }
            _ => {}
        }
    }

    fn delta(&mut self, delta: &Value, place: Option<u64>, chunks: &mut Vec<ModelChunk>) {
        let field = |name: &str| text(delta.get(name)).unwrap_or_default();
        match delta["type"].as_str() {
            Some("text_delta") => self.state.push_text(&field("text"), chunks),
            Some("thinking_delta") => self.state.push_reasoning(&field("thinking"), chunks),
            Some("input_json_delta") => self.arguments(place, field("partial_json"), chunks),
            _ => {}
        }
    }

    fn arguments(&mut self, place: Option<u64>, piece: String, chunks: &mut Vec<ModelChunk>) {
        let block = self.blocks.iter_mut().rfind(|block| block.place == place);
        let Some(block) = block.filter(|_| !piece.is_empty()) else {
            return;
        };
        block.early = None;
        match block.index {
            None => self.state.push_text(&piece, chunks),
            Some(index) => chunks.push(ModelChunk::ToolCall { index, id: None, name: None, arguments: piece }),
        }
    }

    fn finish(&self, reason: &str) -> String {
        let word = match reason {
            "end_turn" | "stop_sequence" => "stop",
            "tool_use" if self.output && self.state.calls == 0 => "stop",
            "tool_use" => "tool_calls",
            "max_tokens" | "model_context_window_exceeded" => "length",
            "refusal" => "content_filter",
            other => other,
        };
        word.to_owned()
    }

    /// Later figures replace earlier ones. What was read from the cache and what was written to it
    /// are counted apart from the rest of the prompt.
    fn usage(&mut self, usage: &Value) {
        let number = |name: &str| usage.get(name).and_then(Value::as_u64);
        if let Some(fresh) = number("input_tokens") {
            let cached = number("cache_read_input_tokens").unwrap_or(0);
            let written = number("cache_creation_input_tokens").unwrap_or(0);
            self.state.usage =
                Usage { prompt_tokens: fresh + cached + written, cached_tokens: cached, ..self.state.usage };
        }
        if let Some(tokens) = number("output_tokens") {
            self.state.usage.completion_tokens = tokens;
        }
    }
}
