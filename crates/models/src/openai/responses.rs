//! `/responses` of OpenAI: requests, and the events of its streams.

use super::constrain::is_strict;
use super::decode::{Decode, Fault, ReplyState, read_usage, text};
use super::requests::{Quirks, any, picture_url, with};
use crate::native::rounded;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use steward_core::message::{Message, Piece, Role};
use steward_core::model::{Connection, ModelRequest, ToolChoice};
use steward_core::schema::as_tool_input;

/// Smallest limit that the interface takes, tokens.
const LEAST: u32 = 16;

/// Nothing is stored at the provider. The interface knows neither `stop` nor `seed`.
pub(super) fn body(connection: &Connection, request: &ModelRequest, quirks: &Quirks) -> Value {
    let input: Vec<Value> = request.messages.iter().flat_map(items).collect();
    let schema = request.schema.as_ref().filter(|_| connection.capabilities.json_schema);
    let tools = request.tools.iter().map(|spec| {
        json!({
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "parameters": as_tool_input(&spec.parameters),
            "strict": false,
        })
    });
    let format =
        |schema| json!({"type": "json_schema", "name": "output", "schema": schema, "strict": is_strict(schema)});
    let options = &request.options;
    let forced = match &options.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Named(name) => Some(json!({"type": "function", "name": name})),
    };
    let fields = json!({
        "top_p": options.top_p.map(rounded),
        "reasoning": options.effort.map(|effort| json!({"effort": effort})),
        "tool_choice": forced,
        "parallel_tool_calls": (options.single_call && !request.tools.is_empty()).then_some(false),
        "temperature": request.temperature.filter(|_| !quirks.no_temperature).map(rounded),
        "max_output_tokens": request.max_tokens.map(|most| most.max(LEAST)),
        "tools": any(tools),
        "text": schema.map(|schema| json!({"format": format(schema)})),
    });
    with(json!({"model": connection.model, "input": input, "stream": true, "store": false}), fields)
}

/// A text, or parts where it has pictures.
fn content(message: &Message) -> Value {
    if message.pictures.is_empty() {
        return json!(message.text);
    }
    let parts = message.pieces().into_iter().map(|piece| match piece {
        Piece::Text(text) => json!({"type": "input_text", "text": text}),
        Piece::Picture(source) => json!({"type": "input_image", "image_url": picture_url(source)}),
    });
    parts.collect()
}

fn items(message: &Message) -> Vec<Value> {
    let say = |role: &str| json!({"role": role, "content": content(message)});
    match message.role {
        Role::System => vec![say("system")],
        Role::User => vec![say("user")],
        Role::Tool => vec![json!({
            "type": "function_call_output",
            "call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "output": content(message),
        })],
        Role::Assistant => {
            let mut items = Vec::new();
            if !message.text.is_empty() || message.tool_calls.is_empty() {
                items.push(say("assistant"));
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

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The wire's indices of the calls, and of those whose arguments have begun.
    calls: BTreeSet<Option<u64>>,
    filled: BTreeSet<Option<u64>>,
    any_text: bool,
}

impl Decode for Decoder {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault> {
        let kind = text(event.get("type")).unwrap_or_default();
        let delta = text(event.get("delta")).unwrap_or_default();
        let at = event.get("output_index").and_then(Value::as_u64);
        match kind.as_str() {
            "response.created" | "response.in_progress" => read_model(state, &event["response"]),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.any_text = true;
                state.push_text(&delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => state.push_reasoning(&delta),
            // The parts of a summary are paragraphs.
            "response.reasoning_summary_part.added" if event["summary_index"] != 0 => state.push_reasoning("\n\n"),
            "response.output_item.added" => self.item(state, &event["item"], at),
            "response.function_call_arguments.delta" => self.arguments(state, at, delta),
            "response.function_call_arguments.done" => {
                self.all_arguments(state, at, text(event.get("arguments")));
            }
            "response.output_item.done" => {
                let item = &event["item"];
                self.item(state, item, at);
                self.all_arguments(state, at, text(item.get("arguments")));
            }
            "response.completed" | "response.incomplete" => self.end(state, &event["response"]),
            "response.failed" | "response.cancelled" => {
                let why = &event["response"]["error"];
                let why = if why.is_null() { event } else { why };
                return Err(Fault::InBand(json!({"error": why})));
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>> {
        reply.get("output")?;
        let kind = match reply["status"].as_str() {
            Some("failed") => "response.failed",
            _ => "response.completed",
        };
        Some(self.event(state, &json!({"type": kind, "response": reply})))
    }
}

impl Decoder {
    fn item(&mut self, state: &mut ReplyState, item: &Value, wire_index: Option<u64>) {
        if item["type"] == "function_call" && self.calls.insert(wire_index) {
            let index = state.push_call(text(item.get("call_id")), text(item.get("name")), String::new());
            state.open_call(wire_index, Some(index));
        }
    }

    fn arguments(&mut self, state: &mut ReplyState, wire_index: Option<u64>, piece: String) {
        if !piece.is_empty() && self.calls.contains(&wire_index) {
            self.filled.insert(wire_index);
            state.push_piece(wire_index, piece);
        }
    }

    /// All arguments, unless they have come in pieces.
    fn all_arguments(&mut self, state: &mut ReplyState, wire_index: Option<u64>, all: Option<String>) {
        if let Some(all) = all.filter(|_| !self.filled.contains(&wire_index)) {
            self.arguments(state, wire_index, all);
        }
    }

    fn end(&mut self, state: &mut ReplyState, response: &Value) {
        read_model(state, response);
        for (at, item) in (0..).zip(response["output"].as_array().into_iter().flatten()) {
            self.item(state, item, Some(at));
            self.all_arguments(state, Some(at), text(item.get("arguments")));
            let parts = item["content"].as_array().into_iter().flatten();
            for part in parts.filter(|_| !self.any_text) {
                let piece = text(part.get("text")).or_else(|| text(part.get("refusal")));
                state.push_text(&piece.unwrap_or_default());
            }
        }
        if response["usage"].is_object() {
            state.usage = read_usage(&response["usage"]);
        }
        let finish = match response["incomplete_details"]["reason"].as_str() {
            Some("max_output_tokens" | "max_tokens") => "length",
            Some(other) => other,
            None if state.calls > 0 => "tool_calls",
            None => "stop",
        };
        state.finish = Some(finish.to_owned());
        state.done = true;
    }
}

fn read_model(state: &mut ReplyState, response: &Value) {
    if let Some(model) = text(response.get("model")) {
        state.model = model;
    }
}
