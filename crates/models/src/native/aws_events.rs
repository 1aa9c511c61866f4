//! Amazon's binary event stream: a length, headers and a JSON payload, each with a checksum.

use serde_json::{Value, json};

use crate::openai::BadFrame;

/// Largest message, bytes.
const LIMIT: usize = 16 << 20;
/// Two lengths and their checksum.
const PRELUDE: usize = 12;
/// The type number of a header that is a string.
const STRING: u8 = 7;

/// Gives each message as `{"<event type>": payload}`, an exception as `{"error": …}`.
#[derive(Debug, Default)]
pub(crate) struct AwsParser {
    held: Vec<u8>,
}

impl AwsParser {
    /// The messages that `bytes` completed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, BadFrame> {
        self.held.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut at = 0;
        while let Some((message, length)) = first(&self.held[at..])? {
            events.push(message.to_string());
            at += length;
        }
        self.held.drain(..at);
        Ok(events)
    }
}

/// The first message of `bytes` and its length; `None` if it is not complete.
fn first(bytes: &[u8]) -> Result<Option<(Value, usize)>, BadFrame> {
    if bytes.len() < PRELUDE {
        return Ok(None);
    }
    if crc32fast::hash(&bytes[..8]) != number(&bytes[8..]) {
        return Err(BadFrame::Corrupt);
    }
    let total = usize::try_from(number(bytes)).unwrap_or(usize::MAX);
    let headers = usize::try_from(number(&bytes[4..])).unwrap_or(usize::MAX);
    if total > LIMIT {
        return Err(BadFrame::TooLarge);
    }
    if total < PRELUDE + 4 || headers > total - PRELUDE - 4 {
        return Err(BadFrame::Corrupt);
    }
    let Some(message) = bytes.get(..total) else {
        return Ok(None);
    };
    let (body, sum) = message.split_at(total - 4);
    if crc32fast::hash(body) != number(sum) {
        return Err(BadFrame::Corrupt);
    }
    let (headers, payload) = body[PRELUDE..].split_at(headers);
    Ok(Some((event(headers, payload), total)))
}

fn event(headers: &[u8], payload: &[u8]) -> Value {
    let found = strings(headers);
    let header = |name: &str| {
        let pair = found.iter().find(|(known, _)| known == name);
        pair.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    let data = serde_json::from_slice(payload).unwrap_or_else(|_| json!(String::from_utf8_lossy(payload)));
    match header(":message-type") {
        "exception" => {
            let kind = header(":exception-type");
            let words = data.get("message").or(data.get("Message"));
            json!({"error": {"type": kind, "message": words.unwrap_or(&data)}})
        }
        "error" => {
            json!({"error": {"type": header(":error-code"), "message": header(":error-message")}})
        }
        _ => json!({header(":event-type"): data}),
    }
}

/// The headers that are strings; Bedrock has no others. Reading stops at what is not understood.
fn strings(mut bytes: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((&length, rest)) = bytes.split_first() {
        let Some((name, rest)) = rest.split_at_checked(usize::from(length)) else {
            break;
        };
        let Some((&[STRING, high, low], rest)) = rest.split_first_chunk::<3>() else {
            break;
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let Some((value, rest)) = rest.split_at_checked(length) else {
            break;
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        found.push((text(name), text(value)));
        bytes = rest;
    }
    found
}

/// The big-endian number that `bytes` begins with.
fn number(bytes: &[u8]) -> u32 {
    match bytes.first_chunk::<4>() {
        Some(first) => u32::from_be_bytes(*first),
        None => 0,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// A message as Bedrock writes it.
    pub fn message(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut head = Vec::new();
        for (name, value) in headers {
            head.push(u8::try_from(name.len()).unwrap());
            head.extend(name.bytes());
            head.push(STRING);
            head.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
            head.extend(value.bytes());
        }
        let total = u32::try_from(PRELUDE + head.len() + payload.len() + 4).unwrap();
        let mut out = total.to_be_bytes().to_vec();
        out.extend(u32::try_from(head.len()).unwrap().to_be_bytes());
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out.extend(head);
        out.extend(payload.bytes());
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out
    }

    #[test]
    fn messages_cut_anywhere() {
        let event = message(&[(":message-type", "event"), (":event-type", "messageStart")], r#"{"role":"assistant"}"#);
        let fault = message(
            &[(":message-type", "exception"), (":exception-type", "throttlingException")],
            r#"{"message":"slow down"}"#,
        );
        let all = [event, fault].concat();
        let expect = [
            r#"{"messageStart":{"role":"assistant"}}"#,
            r#"{"error":{"type":"throttlingException","message":"slow down"}}"#,
        ];
        for cut in 0..=all.len() {
            let mut parser = AwsParser::default();
            let mut events = parser.feed(&all[..cut]).unwrap();
            events.extend(parser.feed(&all[cut..]).unwrap());
            assert_eq!(events, expect, "cut at {cut}");
        }
    }

    #[test]
    fn broken_messages_are_told() {
        let good = message(&[(":event-type", "x")], "{}");
        for at in [0, 5, 9, good.len() - 6, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            assert_eq!(AwsParser::default().feed(&bad), Err(BadFrame::Corrupt), "{at}");
        }
        assert_eq!(AwsParser::default().feed(b"<html>no stream</html>"), Err(BadFrame::Corrupt));
    }
}
