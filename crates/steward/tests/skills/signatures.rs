//! Gemini wants the sign of a thought back with the call that it led to, also after a crash.

use crate::api_routes::house::{House, text};
use crate::common::Server;
use crate::skills::desk::approve;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use steward_testkit::model_server::Script;

const SIGNATURE: &str = "CtIBAVSoXO6xd6ZD+/==";

/// Calls `write` first, and refuses the call without its signature.
fn gemini() -> (u16, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::<Mutex<Vec<Value>>>::default();
    let kept = seen.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let Some(body) = body(&mut stream) else {
                continue;
            };
            kept.lock().unwrap().push(body.clone());
            let (status, answer) = answer(&body);
            let kind = if status == 200 { "text/event-stream" } else { "application/json" };
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: {kind}\r\n\r\n");
            let _ = stream.write_all((head + &answer).as_bytes());
        }
    });
    (port, seen)
}

fn answer(body: &Value) -> (u16, String) {
    let contents = body["contents"].as_array().cloned().unwrap_or_default();
    let mut calls = contents
        .iter()
        .flat_map(|turn| turn["parts"].as_array().cloned().unwrap_or_default())
        .filter(|part| part["functionCall"].is_object())
        .peekable();
    let part = if calls.peek().is_none() {
        let args = json!({"path": "heron.md", "content": "grey\n"});
        json!({"functionCall": {"name": "write", "args": args}, "thoughtSignature": SIGNATURE})
    } else if calls.all(|part| part["thoughtSignature"] == SIGNATURE) {
        json!({"text": "It is written."})
    } else {
        let error = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Function call is missing a thought_signature"}});
        return (400, error.to_string());
    };
    let event = json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}], "modelVersion": "gemini-3-pro"});
    (200, format!("data: {event}\n\n"))
}

fn body(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 8192];
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |text| text.parse().unwrap());
        if bytes.len() >= at + 4 + length {
            return serde_json::from_slice(&bytes[at + 4..]).ok();
        }
    }
}

#[test]
fn geminis_signature_outlives_a_crash() {
    let (port, seen) = gemini();
    let house = House::new(Script::default());
    let made = house.post(
        "/api/connections",
        json!({
            "name": "gemini", "provider": "gemini", "base_url": format!("http://127.0.0.1:{port}/v1beta"),
            "model": "gemini-3-pro", "auth": {"kind": "api_key", "key": "AIza-for-tests"},
        }),
        201,
    );
    let path = format!("/api/connections/{}/default", text(&made["id"]));
    house.send(Method::POST, &path, None, 204);
    let (run, _) = house.chat("Write down that herons are grey.");
    house.wait(&run, "parked");

    let House { bench, server } = house;
    server.kill();
    let server = Server::start(&bench);
    let house = House { bench, server };
    approve(&house, &run);
    let detail = house.get(&format!("/api/runs/{run}"));
    assert_eq!(detail["outcome"]["status"], "completed", "{detail}");
    assert_eq!(house.bench.work.read("heron.md").unwrap(), "grey\n");
    assert!(seen.lock().unwrap().len() >= 2);
}
