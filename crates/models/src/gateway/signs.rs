//! Signs in the bytes of an answer: whether content has begun, whether it came to its end. Searched for, not parsed,
//! since the bytes go on as they are.

use memchr::memmem;
use serde_json::Value;
use steward_core::ports::Passage;

/// Fields whose text is content, or the start of it.
const CONTENT: [&[u8]; 9] = [
    b"\"content\"",
    b"\"text\"",
    b"\"delta\"",
    b"\"arguments\"",
    b"\"reasoning_content\"",
    b"\"reasoning\"",
    b"\"refusal\"",
    b"\"finish_reason\"",
    b"\"name\"",
];
/// Ends of streams.
const DONE: &[u8] = b"[DONE]";
const ENDS: [&[u8]; 3] = [b"\"response.completed\"", b"\"response.incomplete\"", b"\"response.failed\""];

/// Whether these events of a stream hold content, or say that there will be none.
pub(super) fn has_content(events: &[u8], passage: Passage) -> bool {
    has_end(events, passage) || CONTENT.iter().any(|field| filled(events, field))
}

/// Whether these events hold the end of a stream.
pub(super) fn has_end(events: &[u8], passage: Passage) -> bool {
    let holds = |sign: &[u8]| memmem::find(events, sign).is_some();
    match passage {
        Passage::Responses => ENDS.iter().any(|sign| holds(sign)) || holds(DONE),
        _ => holds(DONE) || filled(events, b"\"finish_reason\""),
    }
}

/// Whether `field` (with its quotes) stands somewhere with a text that isn't empty.
fn filled(events: &[u8], field: &[u8]) -> bool {
    memmem::find_iter(events, field).any(|at| {
        let rest = &events[at + field.len()..];
        let mut rest = rest.iter().filter(|byte| **byte != b' ');
        rest.next() == Some(&b':') && rest.next() == Some(&b'"') && rest.next().is_some_and(|byte| *byte != b'"')
    })
}

/// The error object that stands where the first content should.
pub(super) fn error_event(events: &[u8]) -> Option<Value> {
    memmem::find(events, b"\"error\"")?;
    let text = String::from_utf8_lossy(events);
    text.lines().filter_map(|line| line.strip_prefix("data:")).find_map(|data| error_object(data.as_bytes()))
}

/// An answer that is nothing but an error.
pub(super) fn error_object(body: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let told = value.get("error").is_some_and(|error| !error.is_null());
    let answered = ["choices", "data", "output", "delta"].iter().any(|field| value.get(field).is_some());
    (told && !answered).then_some(value)
}

/// Whether it looks like one JSON document, from its begin to its end.
pub(super) fn looks_whole(body: &[u8]) -> bool {
    let body = body.trim_ascii();
    matches!((body.first(), body.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
}

#[cfg(test)]
mod tests {
    use super::{error_event, has_content, has_end, looks_whole};
    use steward_core::ports::Passage::{ChatCompletions, Responses};

    #[test]
    fn content_is_told_from_what_comes_before_it() {
        let cases: [(&str, bool); 10] = [
            (r#"data: {"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#, false),
            (": keep-alive\n\n", false),
            (r#"data: {"choices":[{"delta":{"content":"Hi"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"content": "Hi"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"content":"\n"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"reasoning_content":"Hm"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":""}}]}}]}"#, true),
            (r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#, true),
            (r#"data: {"choices":[],"usage":null}"#, false),
            ("data: [DONE]", true),
        ];
        for (events, expected) in cases {
            assert_eq!(has_content(events.as_bytes(), ChatCompletions), expected, "{events}");
        }
        let created = br#"data: {"type":"response.created","response":{"status":"in_progress","error":null}}"#;
        assert!(!has_content(created, Responses));
        assert!(has_content(br#"data: {"type":"response.output_text.delta","delta":"Hi"}"#, Responses));
        assert!(has_end(br#"data: {"type":"response.completed"}"#, Responses));
        assert!(!has_end(br#"data: {"choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#, ChatCompletions));
    }

    #[test]
    fn errors_in_the_place_of_content() {
        assert!(error_event(b"data: {\"error\":{\"message\":\"overloaded\"}}\n\n").is_some());
        assert!(error_event(b"event: error\ndata: {\"type\":\"error\",\"error\":\"x\"}\n\n").is_some());
        assert!(error_event(b"data: {\"choices\":[],\"error\":{\"a\":1}}\n\n").is_none());
        assert!(error_event(b"data: {\"error\":null}\n\n").is_none());
        assert!(error_event(b"data: {\"error\":{\n\n").is_none());
    }

    #[test]
    fn halves_are_not_whole() {
        assert!(looks_whole(b" {\"a\":1}\n"));
        assert!(looks_whole(b"[]"));
        for half in ["", "{\"a\":1", "<html></html>", "{\"a\":[1]", "oops }"] {
            assert!(!looks_whole(half.as_bytes()), "{half}");
        }
    }
}
