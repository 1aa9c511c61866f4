//! Amazon Bedrock's Converse.

use serde_json::{Map, Value, json};
use steward_core::model::{Connection, ModelChunk, ModelRequest, Usage};

use super::rounded;
use super::turns::{OUTPUT, Part, Turn, object, output_schema, system, turns};
use crate::openai::{Decode, Fault, State, segment, text};

/// Where the model answers.
pub(super) fn path(connection: &Connection) -> String {
    format!("model/{}/converse-stream", segment(connection.model.trim()))
}

/// The body of a request.
pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Value {
    let mut body = Map::new();
    let instructions: Vec<Value> = system(request).iter().map(|text| json!({"text": text})).collect();
    if !instructions.is_empty() {
        body.insert("system".to_owned(), instructions.into());
    }
    let messages: Vec<Value> = turns(request).iter().map(message).collect();
    body.insert("messages".to_owned(), messages.into());
    let mut config = Map::new();
    config.insert("maxTokens".to_owned(), json!(request.max_tokens));
    if !plain {
        let temperature = rounded(request.temperature).min(1.0);
        config.insert("temperature".to_owned(), json!(temperature));
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences".to_owned(), json!(request.stop));
    }
    body.insert("inferenceConfig".to_owned(), Value::Object(config));
    if let Some(schema) = output_schema(request, connection.capabilities.json_schema) {
        let tool = tool(OUTPUT, "Give the output in this form.", schema);
        let choice = json!({"tool": {"name": OUTPUT}});
        let config = json!({"tools": [tool], "toolChoice": choice});
        body.insert("toolConfig".to_owned(), config);
    } else if !request.tools.is_empty() {
        let specs = request.tools.iter();
        let tools: Vec<Value> = specs.map(|spec| tool(&spec.name, &spec.description, &spec.parameters)).collect();
        body.insert("toolConfig".to_owned(), json!({"tools": tools}));
    }
    Value::Object(body)
}

fn tool(name: &str, description: &str, schema: &Value) -> Value {
    let mut spec = json!({"name": name, "inputSchema": {"json": schema}});
    // An empty one is refused.
    if !description.is_empty() {
        spec["description"] = json!(description);
    }
    json!({"toolSpec": spec})
}

fn message(turn: &Turn<'_>) -> Value {
    let content: Vec<Value> = turn
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"text": text}),
            Part::Call { id, call } => {
                let input = object(&call.arguments);
                json!({"toolUse": {"toolUseId": id, "name": call.name, "input": input}})
            }
            Part::Result { id, text, .. } => {
                json!({"toolResult": {"toolUseId": id, "content": [{"text": text}]}})
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
    /// Place of each call's block, and its index; `None`: its arguments are the output itself.
    calls: Vec<(Option<u64>, Option<usize>)>,
    output: bool,
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
        let Some((kind, event)) = value.as_object().and_then(|map| map.iter().next()) else {
            return Ok(chunks);
        };
        let place = event.get("contentBlockIndex").and_then(Value::as_u64);
        match kind.as_str() {
            "contentBlockStart" => {
                if let Some(call) = event["start"].get("toolUse") {
                    self.begin(call, place, &mut chunks);
                }
            }
            "contentBlockDelta" => self.delta(&event["delta"], place, &mut chunks),
            "messageStop" => {
                let reason = event["stopReason"].as_str().unwrap_or("end_turn");
                self.state.finish = Some(self.finish(reason));
            }
            // It comes last.
            "metadata" => {
                self.usage(&event["usage"]);
                self.state.done = true;
            }
            _ => {}
        }
        Ok(chunks)
    }

    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        let blocks = value.pointer("/output/message/content")?.as_array()?;
        let mut chunks = Vec::new();
        for (place, block) in (0..).zip(blocks) {
            if let Some(call) = block.get("toolUse") {
                self.begin(call, Some(place), &mut chunks);
                let input = json!({"toolUse": {"input": call["input"].to_string()}});
                self.delta(&input, Some(place), &mut chunks);
            } else if let Some(reasoning) = block.pointer("/reasoningContent/reasoningText") {
                self.delta(&json!({"reasoningContent": reasoning}), None, &mut chunks);
            } else {
                self.delta(block, None, &mut chunks);
            }
        }
        self.usage(&value["usage"]);
        let reason = value["stopReason"].as_str().unwrap_or("end_turn");
        self.state.finish = Some(self.finish(reason));
        Some(Ok(chunks))
    }
}

impl Decoder {
    fn begin(&mut self, call: &Value, place: Option<u64>, chunks: &mut Vec<ModelChunk>) {
        let (id, name) = (text(call.get("toolUseId")), text(call.get("name")));
        let index = if name.as_deref() == Some(OUTPUT) {
            self.output = true;
            None
        } else {
            Some(self.state.push_call(id, name, String::new(), chunks))
        };
        self.calls.push((place, index));
    }

    fn delta(&mut self, delta: &Value, place: Option<u64>, chunks: &mut Vec<ModelChunk>) {
        if let Some(piece) = text(delta.get("text")) {
            self.state.push_text(&piece, chunks);
        }
        if let Some(piece) = text(delta.pointer("/reasoningContent/text")) {
            self.state.push_reasoning(&piece, chunks);
        }
        let Some(arguments) = text(delta.pointer("/toolUse/input")) else {
            return;
        };
        match self.calls.iter().rfind(|(known, _)| *known == place) {
            Some((_, Some(index))) => {
                chunks.push(ModelChunk::ToolCall { index: *index, id: None, name: None, arguments });
            }
            Some((_, None)) => self.state.push_text(&arguments, chunks),
            None => {}
        }
    }

    fn finish(&self, reason: &str) -> String {
        let word = match reason {
            "end_turn" | "stop_sequence" => "stop",
            "tool_use" if self.output && self.state.calls == 0 => "stop",
            "tool_use" => "tool_calls",
            "max_tokens" | "model_context_window_exceeded" => "length",
            "content_filtered" | "guardrail_intervened" => "content_filter",
            other => other,
        };
        word.to_owned()
    }

    /// What was read from the cache and what was written to it are counted apart.
    fn usage(&mut self, usage: &Value) {
        let number = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        let cached = number("cacheReadInputTokens");
        self.state.usage = Usage {
            prompt_tokens: number("inputTokens") + cached + number("cacheWriteInputTokens"),
            cached_tokens: cached,
            completion_tokens: number("outputTokens"),
            cost_micros: 0,
        };
    }
}
