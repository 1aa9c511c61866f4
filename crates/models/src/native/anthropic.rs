use super::answer_limits::{Thinking, answer_limits};
use super::turns::{Choice, Part, begin_call, finish, message, object, offer, system, turns};
use super::{Body, Known, Untranslatable, rounded, thinking_tokens};
use crate::openai::{Decode, Fault, ReplyState, any, text, with};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use steward_core::message::{PictureSource, Piece, Role};
use steward_core::model::{Connection, Effort, ModelRequest, Usage};

/// The version of the interface that this is written for.
pub(super) fn headers() -> HeaderMap {
    let name = HeaderName::from_static("anthropic-version");
    HeaderMap::from_iter([(name, HeaderValue::from_static("2023-06-01"))])
}

/// The instructions and the newest message are marked for the cache, where the run's next step finds them.
pub(super) fn body(connection: &Connection, request: &ModelRequest, known: Known) -> Body {
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
    let limits = answer_limits(&connection.model);
    let own_limit = || known.longest.map_or(limits.most, |longest| longest.min(limits.most));
    let max_tokens = request.max_tokens.unwrap_or_else(own_limit);
    let fields = json!({
        "model": connection.model,
        "max_tokens": max_tokens,
        "stream": true,
        // This interface takes no more than 1.
        "temperature": request.temperature.filter(|_| !known.no_temperature).map(|value| rounded(value).min(1.0)),
        "top_p": request.options.top_p.map(rounded),
        "system": any(instructions),
    });
    let mut body = with(json!({}), fields);
    body["messages"] = messages.into();
    let offer = offer(request, connection.capabilities.json_schema, tool)?;
    let stops = request.stop.iter();
    if request.options.exact && stops.clone().any(|stop| stop.trim().is_empty()) {
        return Err(Untranslatable::new("a `stop` of blanks only"));
    }
    let fields = json!({"stop_sequences": any(stops.filter(|stop| !stop.trim().is_empty()))});
    let mut body = with(body, fields);
    if let Some(tools) = offer.tools {
        body["tools"] = tools.into();
        let mut choice = match offer.choice {
            Choice::Auto => json!({"type": "auto"}),
            Choice::Any => json!({"type": "any"}),
            Choice::One(name) => json!({"type": "tool", "name": name}),
            Choice::None => json!({"type": "none"}),
        };
        if request.options.single_call && offer.choice != Choice::None {
            choice["disable_parallel_tool_use"] = true.into();
        }
        if offer.choice != Choice::Auto || request.options.single_call {
            body["tool_choice"] = choice;
        }
    }
    if let Some(effort) = request.options.effort.filter(|effort| *effort != Effort::None) {
        if offer.for_output {
            return Err(Untranslatable::new("`reasoning_effort` together with a `response_format`"));
        }
        let thoughts = thinking(effort, limits.thinking, max_tokens, request)?;
        if let Some(what) = thoughts.get("thinking").and_then(|_| besides_thoughts(request)) {
            return Err(Untranslatable::new(format!("`reasoning_effort` together with {what}")));
        }
        return Ok(with(body, thoughts));
    }
    if request.temperature.is_some() && request.options.top_p.is_some() && !takes_both(&connection.model) {
        if request.options.exact {
            return Err(Untranslatable::new("`top_p` together with `temperature` (this model takes one of them)"));
        }
        body["top_p"].take();
        body = with(json!({}), body);
    }
    Ok(body)
}

/// What a model that thinks does not take besides.
pub(super) fn besides_thoughts(request: &ModelRequest) -> Option<&'static str> {
    let forced = !request.tools.is_empty() && request.options.tool_choice.is_forced();
    let differs = |value: f32| (value - 1.0).abs() > f32::EPSILON;
    match (request.temperature, request.options.top_p) {
        _ if forced => Some("a `tool_choice` that wants a call"),
        (Some(temperature), _) if differs(temperature) => Some("a `temperature` other than 1"),
        (_, Some(top_p)) if !(0.95..=1.0).contains(&top_p) => Some("a `top_p` below 0.95"),
        _ => None,
    }
}

/// Models from 4.1 on take a temperature or `top_p`.
fn takes_both(model: &str) -> bool {
    let name = model.rsplit(['.', '/']).find(|part| part.starts_with("claude")).unwrap_or(model);
    [
        "claude-2",
        "claude-3",
        "claude-instant",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2025",
        "claude-opus-4-0",
        "claude-opus-4-2025",
    ]
    .iter()
    .any(|older| name.starts_with(older))
}

/// The fields that have the model think. Between a call and its result nothing is asked for where thoughts would have to be
/// sent back, which the OpenAI dialect has no place for.
pub(super) fn thinking(effort: Effort, way: Thinking, max_tokens: u32, request: &ModelRequest) -> Body {
    const LEAST: u32 = 1024;
    match way {
        Thinking::None => Err(Untranslatable::new("`reasoning_effort` (this model does not think)")),
        Thinking::Effort => {
            let word = match effort {
                Effort::None | Effort::Minimal | Effort::Low => "low",
                Effort::Medium => "medium",
                Effort::High => "high",
                Effort::XHigh => "max",
            };
            Ok(json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": word}}))
        }
        Thinking::Budget if request.messages.last().is_some_and(|last| last.role == Role::Tool) => Ok(json!({})),
        Thinking::Budget if max_tokens <= LEAST => {
            Err(Untranslatable::new(format!("`reasoning_effort` with a limit of {LEAST} tokens or less")))
        }
        Thinking::Budget => {
            let budget = thinking_tokens(effort).min(max_tokens / 2).max(LEAST);
            Ok(json!({"thinking": {"type": "enabled", "budget_tokens": budget}}))
        }
    }
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
        Part::Picture(source) => picture(source),
        Part::Call { id, call } => {
            json!({"type": "tool_use", "id": id, "name": call.name, "input": object(&call.arguments)})
        }
        Part::Result { id, message, .. } if message.pictures.is_empty() => {
            json!({"type": "tool_result", "tool_use_id": id, "content": message.text})
        }
        Part::Result { id, message, .. } => {
            let pieces = message.pieces().into_iter().map(|piece| match piece {
                Piece::Text(text) => json!({"type": "text", "text": text}),
                Piece::Picture(source) => picture(source),
            });
            json!({"type": "tool_result", "tool_use_id": id, "content": pieces.collect::<Vec<Value>>()})
        }
    }
}

fn picture(source: &PictureSource) -> Value {
    let source = match source {
        PictureSource::Data { media_type, base64 } => {
            json!({"type": "base64", "media_type": media_type, "data": **base64})
        }
        PictureSource::Url(url) => json!({"type": "url", "url": url}),
    };
    json!({"type": "image", "source": source})
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
