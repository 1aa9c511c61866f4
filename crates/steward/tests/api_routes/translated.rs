//! Other programs at connections through `/v1`: what a provider of another interface gets and gives, and how refusals arrive.

use crate::api_routes::house::{House, client, frames};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use steward_testkit::model_server::{Behaviour, Script};

/// A provider that answers every request alike and keeps what it was sent.
struct Provider {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

#[derive(Clone)]
struct Seen {
    /// In lower case.
    head: String,
    body: Value,
}

impl Provider {
    fn start(status: u16, kind: &'static str, answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let kept = seen.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut head = String::new();
                while reader.read_line(&mut head).unwrap() > 2 {}
                let head = head.to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                let mut body = vec![0; length.unwrap_or(0)];
                reader.read_exact(&mut body).unwrap();
                kept.lock().unwrap().push(Seen { head, body: serde_json::from_slice(&body).unwrap_or_default() });
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                    answer.len()
                );
                let _gone = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, seen }
    }

    fn events(events: &[Value]) -> Self {
        let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message"));
        Self::start(200, "text/event-stream", events.iter().map(line).collect())
    }

    fn refusing(status: u16) -> Self {
        Self::start(status, "application/json", json!({"error": {"message": "not for you", "type": "x"}}).to_string())
    }

    /// Adds it to the house as a connection.
    fn join(&self, house: &House, name: &str, provider: &str) {
        let base = if provider == "anthropic" { self.url.clone() } else { format!("{}/v1", self.url) };
        let input = json!({"name": name, "provider": provider, "base_url": base, "model": "claude-sonnet-4-5", "auth": {"kind": "none"}});
        house.post("/api/connections", input, 201);
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// Anthropic's events of a thought, a text and a call.
fn call_of_claude() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"model": "claude-x", "usage": {"input_tokens": 9, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "shell", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"command\":\"ls\"}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 12}}),
        json!({"type": "message_stop"}),
    ]
}

/// Status, headers and text.
fn send(
    house: &House,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> (u16, reqwest::header::HeaderMap, String) {
    let mut request = client().post(format!("{}{path}", house.server.url)).bearer_auth(&house.server.key).json(body);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    house.bench.runtime.block_on(async {
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.headers().clone(), response.text().await.unwrap())
    })
}

#[test]
fn responses_and_chats_are_translated_for_claude() {
    let house = House::new(Script::default());
    let claude = Provider::events(&call_of_claude());
    claude.join(&house, "claude", "anthropic");
    let shell = json!({"type": "function", "name": "shell", "parameters": {"type": "object"}});
    let picture = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let body = json!({
        "model": "connection/claude", "input": [{"role": "user", "content": [{"type": "input_text", "text": "What is there?"}, picture]}],
        "instructions": "You code.", "tools": [shell], "tool_choice": "required", "parallel_tool_calls": false, "stream": true, "store": false,
    });
    let (status, answer) = house.call(Method::POST, "/v1/responses", Some(body.clone()));
    assert_eq!(status, 200, "{answer}");
    let events = frames(&answer);
    let (first, last) = (&events[0], events.last().unwrap());
    assert_eq!((&first["type"], &last["type"]), (&json!("response.created"), &json!("response.completed")));
    let output = &last["response"]["output"];
    assert_eq!(output[0]["content"][0]["text"], "I look.");
    assert_eq!((&output[1]["call_id"], &output[1]["arguments"]), (&json!("toolu_1"), &json!("{\"command\":\"ls\"}")));
    assert_eq!(last["response"]["usage"]["total_tokens"], 21);
    let asked = claude.seen()[0].body.clone();
    assert_eq!(asked["tool_choice"], json!({"type": "any", "disable_parallel_tool_use": true}));
    assert_eq!((&asked["max_tokens"], &asked["temperature"]), (&json!(64_000), &Value::Null), "the model's own");
    assert_eq!(asked["messages"][0]["content"][1]["source"]["media_type"], "image/png");

    let mut whole = body;
    whole["stream"] = json!(false);
    let (status, answer) = house.call(Method::POST, "/v1/responses", Some(whole));
    assert_eq!((status, &answer["output"][1]["name"]), (200, &json!("shell")));

    let named = json!({"type": "function", "function": {"name": "shell"}});
    let chat = json!({
        "model": "connection/claude", "messages": [{"role": "user", "content": "Look"}], "tool_choice": named, "top_p": 0.5,
        "tools": [{"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}],
    });
    let (status, answer) = house.call(Method::POST, "/v1/chat/completions", Some(chat));
    assert_eq!((status, &answer["choices"][0]["finish_reason"]), (200, &json!("tool_calls")), "{answer}");
    let asked = claude.seen()[2].body.clone();
    assert_eq!((&asked["tool_choice"]["name"], &asked["top_p"]), (&json!("shell"), &json!(0.5)));

    let effort = json!({"model": "connection/claude", "messages": [{"role": "user", "content": "Look"}], "reasoning_effort": "low", "max_tokens": 500});
    let (status, answer) = house.call(Method::POST, "/v1/chat/completions", Some(effort));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(status == 400 && message.contains("`reasoning_effort`"), "{answer}");
    assert_eq!(claude.seen().len(), 3, "nobody was asked");
}

#[test]
fn a_call_asks_its_provider_once_and_keeps_its_status() {
    let house = House::new(Script::default());
    for (status, expected) in [(403, 403), (401, 401), (429, 429), (503, 502)] {
        for provider in ["compatible", "anthropic"] {
            let upstream = Provider::refusing(status);
            let name = format!("{provider}-{status}");
            upstream.join(&house, &name, provider);
            let body = json!({"model": format!("connection/{name}"), "messages": [{"role": "user", "content": "Hi"}]});
            let (found, _, answer) = send(&house, "/v1/chat/completions", &[], &body);
            assert_eq!((found, upstream.seen().len()), (expected, 1), "{name}: {answer}");
        }
    }
}

#[test]
fn a_stream_that_begins_with_a_failure_goes_to_the_fallback() {
    let good = json!({"choices": [{"delta": {"content": "Hello"}, "finish_reason": null}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let house = House::new(Script::default());
    Provider::events(&[good, end]).join(&house, "good", "compatible");
    let failures = [
        json!({"error": {"message": "overloaded", "code": 502}, "choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": "error"}]}),
        json!({"choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}),
        json!({"choices": [{"error": {"message": "gone"}, "delta": {}, "finish_reason": null}]}),
    ];
    for (number, failure) in failures.iter().enumerate() {
        let name = format!("bad-{number}");
        Provider::events(std::slice::from_ref(failure)).join(&house, &name, "compatible");
        let body = json!({"model": format!("connection/{name}"), "messages": [{"role": "user", "content": "Hi"}], "stream": true});
        let (status, headers, answer) = send(&house, "/v1/chat/completions", &[("x-steward-fallback", "good")], &body);
        assert_eq!((status, headers["x-steward-connection"].to_str().unwrap()), (200, "good"), "{answer}");
        assert!(answer.contains("Hello") && !answer.contains("error"), "{answer}");
        let (status, _, answer) = send(&house, "/v1/chat/completions", &[], &body);
        assert_eq!(status, 502, "{answer}");
    }
}

#[test]
fn a_fallback_of_another_interface_is_asked_too() {
    let house = House::new(Script::default());
    Provider::refusing(503).join(&house, "down", "compatible");
    Provider::events(&call_of_claude()).join(&house, "claude", "anthropic");
    let body = json!({"model": "connection/down", "messages": [{"role": "user", "content": "Hi"}]});
    let (status, headers, answer) = send(&house, "/v1/chat/completions", &[("x-steward-fallback", "claude")], &body);
    assert_eq!((status, headers["x-steward-connection"].to_str().unwrap()), (200, "claude"), "{answer}");
}

#[test]
fn headers_that_go_on_and_the_number_of_an_answer() {
    let house = House::new(Script::always(Behaviour::text("Hello.")));
    let upstream =
        Provider::start(200, "application/json", json!({"choices": [{"message": {"content": "Hi"}}]}).to_string());
    upstream.join(&house, "up", "compatible");
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let headers = [
        ("idempotency-key", "k-1"),
        ("openai-beta", "assistants=v2"),
        ("openai-organization", "org-other"),
        ("x-client-request-id", "c-1"),
        ("cookie", "a=b"),
    ];
    let (status, answered, _) =
        send(&house, "/v1/chat/completions", &headers, &json!({"model": "connection/up", "messages": messages}));
    assert!(status == 200 && answered.contains_key("x-request-id"));
    let head = upstream.seen()[0].head.clone();
    for kept in ["idempotency-key: k-1", "openai-beta: assistants=v2", "x-client-request-id: c-1"] {
        assert!(head.contains(kept), "{head}");
    }
    assert!(!head.contains("org-other") && !head.contains("cookie"), "{head}");
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let body = json!({"model": "steward", "messages": messages, "input": "Hi"});
        let (_, first, _) = send(&house, path, &[], &body);
        let (_, second, _) = send(&house, path, &[], &body);
        assert_ne!(first["x-request-id"], second["x-request-id"], "{path}");
    }
}
