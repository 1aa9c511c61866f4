//! Turns a behaviour into steps on the wire; pure.

use std::time::Duration;

use serde_json::{Value, json};

use super::http::{chunk, chunked_head, response};
use super::script::{Behaviour, Reply};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Send(Vec<u8>),
    Sleep(Duration),
    /// Until the client leaves.
    Hang,
    Reset,
    Close,
}

#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub model: String,
    pub stream: bool,
    pub usage: bool,
    /// Prefix of generated ids.
    pub number: usize,
}

const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: [(&str, &str); 2] = [("content-type", "text/event-stream"), ("cache-control", "no-cache")];

pub(super) fn json_response(status: u16, body: &Value) -> Vec<Action> {
    vec![Action::Send(response(status, &[JSON], body.to_string().as_bytes()))]
}

pub(super) fn of(behaviour: &Behaviour, asked: &Asked) -> Vec<Action> {
    match behaviour {
        Behaviour::Reply(reply) if asked.stream => streamed(events(reply, asked), &End::Whole),
        Behaviour::Reply(reply) => json_response(200, &whole(reply, asked)),
        Behaviour::Empty => of(&Behaviour::Reply(Reply::default()), asked),
        Behaviour::Status { status, body, retry_after } => {
            vec![Action::Send(error(*status, body, retry_after.as_deref()))]
        }
        Behaviour::HangBeforeHeaders => vec![Action::Hang],
        Behaviour::HangAfterHeaders => vec![Action::Send(chunked_head(200, &EVENTS)), Action::Hang],
        Behaviour::Reset => vec![Action::Reset],
        Behaviour::Cut { reply, clean } => {
            let end = if *clean { &End::Whole } else { &End::Cut };
            streamed(half(events(reply, asked)), end)
        }
        Behaviour::Stall { reply } => streamed(half(events(reply, asked)), &End::Hang),
        Behaviour::InvalidJson { reply } => {
            let mut list = half(events(reply, asked));
            list.push(event("{\"choices\": [{\"delta\": {\"content"));
            streamed(list, &End::Whole)
        }
        Behaviour::InBandError { reply, error } => {
            let mut list = half(events(reply, asked));
            list.push(event(&error.to_string()));
            streamed(list, &End::Whole)
        }
        Behaviour::Plain { content_type, body } => {
            let headers = [("content-type", content_type.as_str())];
            vec![Action::Send(response(200, &headers, body.as_bytes()))]
        }
        Behaviour::Raw { events } => streamed(vec![Event::now(events.clone())], &End::Whole),
    }
}

fn error(status: u16, body: &Value, retry_after: Option<&str>) -> Vec<u8> {
    let (kind, text) = match body {
        Value::Null => ("text/plain", String::new()),
        Value::String(text) => ("text/plain", text.clone()),
        json => ("application/json", json.to_string()),
    };
    let mut headers = vec![("content-type", kind)];
    headers.extend(retry_after.map(|value| ("retry-after", value)));
    response(status, &headers, text.as_bytes())
}

struct Event {
    wait: Duration,
    text: String,
}

impl Event {
    fn now(text: String) -> Self {
        Self { wait: Duration::ZERO, text }
    }
}

enum End {
    Whole,
    Cut,
    Hang,
}

fn event(data: &str) -> Event {
    Event::now(format!("data: {data}\n\n"))
}

fn streamed(events: Vec<Event>, end: &End) -> Vec<Action> {
    let mut actions = vec![Action::Send(chunked_head(200, &EVENTS))];
    for event in events {
        if !event.wait.is_zero() {
            actions.push(Action::Sleep(event.wait));
        }
        actions.push(Action::Send(chunk(event.text.as_bytes())));
    }
    actions.push(match end {
        End::Whole => Action::Send(chunk(b"")),
        End::Cut => Action::Close,
        End::Hang => Action::Hang,
    });
    actions
}

/// The first half, without an end event.
fn half(mut events: Vec<Event>) -> Vec<Event> {
    let content = events.len().saturating_sub(2);
    events.truncate(content.div_ceil(2).max(1));
    events
}

fn events(reply: &Reply, asked: &Asked) -> Vec<Event> {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    for piece in pieces(&reply.reasoning, reply.piece) {
        deltas.push(json!({reasoning_field(reply): piece}));
    }
    for piece in pieces(&reply.text, reply.piece) {
        deltas.push(json!({"content": piece}));
    }
    deltas.extend(call_deltas(reply, asked));
    let mut timed: Vec<Event> = deltas
        .iter()
        .enumerate()
        .map(|(position, delta)| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
            let mut event = event(&frame(asked, &json!([choice]), None).to_string());
            event.wait = Duration::from_millis(match position {
                0 => 0,
                1 => reply.first_ms,
                _ => reply.piece_ms,
            });
            event
        })
        .collect();
    let last = json!([{"index": 0, "delta": {}, "finish_reason": finish(reply)}]);
    timed.push(event(&frame(asked, &last, None).to_string()));
    if asked.usage && reply.usage.is_some() {
        timed.push(event(&frame(asked, &json!([]), Some(&usage(reply))).to_string()));
    }
    timed.push(event("[DONE]"));
    timed
}

/// The first pieces of all calls, then their arguments interleaved, as parallel calls may arrive.
fn call_deltas(reply: &Reply, asked: &Asked) -> Vec<Value> {
    let mut deltas = Vec::new();
    let mut rest = Vec::new();
    for (index, call) in reply.calls.iter().enumerate() {
        let id = call_id(reply, asked, index);
        deltas.push(json!({"tool_calls": [{
            "index": index, "id": id, "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]}));
        for (turn, piece) in pieces(&arguments(&call.arguments), reply.piece).into_iter().enumerate() {
            rest.push((turn, index, piece));
        }
    }
    rest.sort_by_key(|(turn, index, _)| (*turn, *index));
    deltas.extend(
        rest.into_iter()
            .map(|(_, index, piece)| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})),
    );
    deltas
}

fn whole(reply: &Reply, asked: &Asked) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if !reply.reasoning.is_empty() {
        message[reasoning_field(reply)] = json!(reply.reasoning);
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().enumerate().map(|(index, call)| {
            json!({
                "id": call_id(reply, asked, index), "type": "function",
                "function": {"name": call.name, "arguments": arguments(&call.arguments)},
            })
        });
        message["tool_calls"] = calls.collect();
    }
    json!({
        "id": format!("chatcmpl-{}", asked.number),
        "object": "chat.completion",
        "created": 0,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish(reply)}],
        "usage": reply.usage.map(|_| usage(reply)),
    })
}

fn frame(asked: &Asked, choices: &Value, usage: Option<&Value>) -> Value {
    let mut frame = json!({
        "id": format!("chatcmpl-{}", asked.number),
        "object": "chat.completion.chunk",
        "created": 0,
        "model": asked.model,
        "choices": choices,
    });
    if let Some(usage) = usage {
        frame["usage"] = usage.clone();
    }
    frame
}

fn usage(reply: &Reply) -> Value {
    let usage = reply.usage.unwrap_or_default();
    json!({
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}

fn finish(reply: &Reply) -> &str {
    match &reply.finish {
        Some(finish) => finish,
        None if reply.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn call_id(reply: &Reply, asked: &Asked, index: usize) -> String {
    let given = reply.calls.get(index).and_then(|call| call.id.clone());
    given.unwrap_or_else(|| format!("call_{}_{index}", asked.number))
}

fn arguments(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    }
}

fn reasoning_field(reply: &Reply) -> &str {
    match reply.reasoning_field.as_str() {
        "" => "reasoning_content",
        name => name,
    }
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    if size == 0 {
        return vec![text.to_owned()];
    }
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}
