//! `/responses` of OpenAI: requests, and the events of its streams.

use serde_json::{Map, Value, json};
use steward_core::message::{Message, Role};
use steward_core::model::{Connection, ModelChunk, ModelRequest};

use super::decode::{Decode, Fault, State, read_usage, text};
use super::quirks::Quirks;
use super::strict::is_strict;

/// The least that the interface takes as a limit, tokens.
const LEAST: u32 = 16;

/// The body of a streamed request. Nothing is stored at the provider. The interface knows neither
/// `stop` nor `seed`.
pub(super) fn body(connection: &Connection, request: &ModelRequest, quirks: &Quirks) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(connection.model));
    let input: Vec<Value> = request.messages.iter().flat_map(items).collect();
    body.insert("input".to_owned(), input.into());
    body.insert("stream".to_owned(), json!(true));
    body.insert("store".to_owned(), json!(false));
    if !quirks.no_temperature {
        let temperature = crate::native::rounded(request.temperature);
        body.insert("temperature".to_owned(), json!(temperature));
    }
    let limit = request.max_tokens.max(LEAST);
    body.insert("max_output_tokens".to_owned(), json!(limit));
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|spec| {
                json!({
                    "type": "function",
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": spec.parameters,
                    "strict": false,
                })
            })
            .collect();
        body.insert("tools".to_owned(), tools.into());
    }
    let schema = request.schema.as_ref();
    if let Some(schema) = schema.filter(|_| connection.capabilities.json_schema) {
        let strict = is_strict(schema);
        let format = json!({"type": "json_schema", "name": "output", "schema": schema, "strict": strict});
        body.insert("text".to_owned(), json!({"format": format}));
    }
    Value::Object(body)
}

fn items(message: &Message) -> Vec<Value> {
    let said = |role: &str| json!({"role": role, "content": message.text});
    match message.role {
        Role::System => vec![said("system")],
        Role::User => vec![said("user")],
        Role::Tool => vec![json!({
            "type": "function_call_output",
            "call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "output": message.text,
        })],
        Role::Assistant => {
            let mut items = Vec::new();
            if !message.text.is_empty() || message.tool_calls.is_empty() {
                items.push(said("assistant"));
            }
            items.extend(message.tool_calls.iter().map(|call| {
                json!({
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": call.arguments.to_string(),
                })
            }));
            items
        }
    }
}

/// Reads the events.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
    calls: Vec<Call>,
    any_text: bool,
}

#[derive(Debug)]
struct Call {
    place: Option<u64>,
    index: usize,
    /// Whether any of its arguments have come.
    told: bool,
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
        let kind = text(value.get("type")).unwrap_or_default();
        let delta = text(value.get("delta")).unwrap_or_default();
        let place = value.get("output_index").and_then(Value::as_u64);
        match kind.as_str() {
            "response.created" | "response.in_progress" => self.model(&value["response"]),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.any_text = true;
                self.state.push_text(&delta, &mut chunks);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.state.push_reasoning(&delta, &mut chunks);
            }
            // The parts of a summary are paragraphs.
            "response.reasoning_summary_part.added" if value["summary_index"] != 0 => {
                self.state.push_reasoning("\n\n", &mut chunks);
            }
            "response.output_item.added" => self.item(&value["item"], place, &mut chunks),
            "response.function_call_arguments.delta" => self.arguments(place, delta, &mut chunks),
            "response.function_call_arguments.done" => {
                self.rest(place, text(value.get("arguments")), &mut chunks);
            }
            "response.output_item.done" => {
                let item = &value["item"];
                self.item(item, place, &mut chunks);
                self.rest(place, text(item.get("arguments")), &mut chunks);
            }
            "response.completed" | "response.incomplete" => {
                self.end(&value["response"], &mut chunks);
            }
            "response.failed" | "response.cancelled" => {
                let why = &value["response"]["error"];
                let why = if why.is_null() { value } else { why };
                return Err(Fault::InBand(json!({"error": why})));
            }
            _ => {}
        }
        Ok(chunks)
    }

    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        value.get("output")?;
        let kind = match value["status"].as_str() {
            Some("failed") => "response.failed",
            _ => "response.completed",
        };
        Some(self.value(&json!({"type": kind, "response": value})))
    }
}

impl Decoder {
    fn model(&mut self, response: &Value) {
        if let Some(model) = text(response.get("model")) {
            self.state.model = model;
        }
    }

    /// Begins a call, if the item is one that has not begun.
    fn item(&mut self, item: &Value, place: Option<u64>, chunks: &mut Vec<ModelChunk>) {
        let known = self.calls.iter().any(|call| call.place == place);
        if item["type"] != "function_call" || known {
            return;
        }
        let (id, name) = (text(item.get("call_id")), text(item.get("name")));
        let index = self.state.push_call(id, name, String::new(), chunks);
        self.calls.push(Call { place, index, told: false });
    }

    fn arguments(&mut self, place: Option<u64>, piece: String, chunks: &mut Vec<ModelChunk>) {
        let call = self.calls.iter_mut().rfind(|call| call.place == place);
        if let Some(call) = call.filter(|_| !piece.is_empty()) {
            call.told = true;
            chunks.push(ModelChunk::ToolCall { index: call.index, id: None, name: None, arguments: piece });
        }
    }

    /// The arguments in one piece, where they have not come in several.
    fn rest(&mut self, place: Option<u64>, all: Option<String>, chunks: &mut Vec<ModelChunk>) {
        let untold = self.calls.iter().any(|c| c.place == place && !c.told);
        if let Some(all) = all.filter(|_| untold) {
            self.arguments(place, all, chunks);
        }
    }

    fn end(&mut self, response: &Value, chunks: &mut Vec<ModelChunk>) {
        self.model(response);
        let output = response["output"].as_array().cloned().unwrap_or_default();
        for (place, item) in (0..).zip(&output) {
            self.item(item, Some(place), chunks);
            self.rest(Some(place), text(item.get("arguments")), chunks);
            let parts = item["content"].as_array().into_iter().flatten();
            for part in parts.filter(|_| !self.any_text) {
                let piece = text(part.get("text")).or_else(|| text(part.get("refusal")));
                self.state.push_text(&piece.unwrap_or_default(), chunks);
            }
        }
        if response["usage"].is_object() {
            self.state.usage = read_usage(&response["usage"]);
        }
        let why = response["incomplete_details"]["reason"].as_str();
        let finish = match why {
            Some("max_output_tokens" | "max_tokens") => "length",
            Some(other) => other,
            None if self.state.calls > 0 => "tool_calls",
            None => "stop",
        };
        self.state.finish = Some(finish.to_owned());
        self.state.done = true;
    }
}
