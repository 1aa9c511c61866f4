//! The shapes, and Amazon's binary form of them.

use crate::wires::server::Answer;
use serde_json::Value;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "shapes", name].iter().collect()
}

pub fn exists(name: &str) -> bool {
    path(name).exists()
}

pub fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub fn json(name: &str) -> Value {
    serde_json::from_str(&read(name)).unwrap()
}

/// A streamed answer as its provider sends it.
pub fn answer(name: &str) -> Answer {
    let text = read(name);
    match name.rsplit('.').next() {
        Some("sse") => Answer::ok("text/event-stream; charset=utf-8", text),
        Some("jsonl") => Answer::ok("application/x-ndjson", text),
        Some("events") => Answer::ok("application/vnd.amazon.eventstream", binary(&text)),
        _ => Answer::ok("application/json", text),
    }
}

fn binary(text: &str) -> Vec<u8> {
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap());
    events.flat_map(|event: Value| message(&event)).collect()
}

fn message(event: &Value) -> Vec<u8> {
    let mut head = Vec::new();
    let names = event.as_object().unwrap().iter();
    for (name, value) in names.filter(|(name, _)| name.starts_with(':')) {
        let value = value.as_str().unwrap();
        head.push(u8::try_from(name.len()).unwrap());
        head.extend(name.bytes());
        head.push(7);
        head.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        head.extend(value.bytes());
    }
    let payload = event["payload"].to_string();
    let mut out = u32::try_from(16 + head.len() + payload.len()).unwrap().to_be_bytes().to_vec();
    out.extend(u32::try_from(head.len()).unwrap().to_be_bytes());
    out.extend(sum(&out).to_be_bytes());
    out.extend(head);
    out.extend(payload.bytes());
    out.extend(sum(&out).to_be_bytes());
    out
}

/// The checksum of gzip.
fn sum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
        }
    }
    !sum
}
