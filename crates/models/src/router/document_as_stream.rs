//! One document of an endpoint that was asked for a stream, as the events of one.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use steward_core::ports::Passage;

/// The events of an answer; `None`: it is none, or not of a kind that can be told in events.
pub(super) fn events_of(document: &[u8], passage: Passage, include_usage: bool) -> Option<Bytes> {
    let whole: Value = serde_json::from_slice(document).ok()?;
    let kind = match passage {
        Passage::ChatCompletions => "chat.completion.chunk",
        Passage::Completions => "text_completion",
        Passage::Responses | Passage::Embeddings => return None,
    };
    let choices = whole["choices"].as_array().filter(|choices| !choices.is_empty())?;
    let frame: Map<String, Value> = whole
        .as_object()?
        .iter()
        .filter(|(field, _)| !matches!(field.as_str(), "choices" | "usage" | "object"))
        .map(|(field, value)| (field.clone(), value.clone()))
        .chain([("object".to_owned(), json!(kind))])
        .collect();
    let mut events = String::new();
    let mut tell = |choices: Value, usage: Option<&Value>| {
        let mut chunk = frame.clone();
        chunk.insert("choices".to_owned(), choices);
        chunk.extend(usage.map(|usage| ("usage".to_owned(), usage.clone())));
        // Writing to a text can't fail.
        let _ = write!(events, "data: {}\n\n", Value::Object(chunk));
    };
    for (at, choice) in choices.iter().enumerate() {
        let mut told = choice.clone();
        if passage == Passage::ChatCompletions {
            let delta = delta(choice.get("message")?)?;
            tell(json!([{"index": at, "delta": delta, "finish_reason": null}]), None);
            told = json!({"delta": {}, "finish_reason": choice.get("finish_reason")});
        }
        told["index"] = json!(at);
        tell(json!([told]), None);
    }
    if let Some(usage) = whole.get("usage").filter(|usage| include_usage && usage.is_object()) {
        tell(json!([]), Some(usage));
    }
    events.push_str("data: [DONE]\n\n");
    Some(events.into())
}

/// A message whose calls have their numbers.
fn delta(message: &Value) -> Option<Value> {
    let mut delta = message.as_object()?.clone();
    for (at, call) in delta.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
        call["index"] = json!(at);
    }
    Some(Value::Object(delta))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::events_of;
    use serde_json::{Value, json};
    use steward_core::ports::Passage;

    fn told(document: &Value, passage: Passage, usage: bool) -> Option<Vec<Value>> {
        let events = events_of(document.to_string().as_bytes(), passage, usage)?;
        let text = String::from_utf8(events.to_vec()).unwrap();
        let data = text.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
        Some(data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data))).collect())
    }

    #[test]
    fn a_document_becomes_a_stream() {
        let calls = json!([{"id": "a", "function": {"name": "f", "arguments": "{}"}}]);
        let message = json!({"role": "assistant", "content": "Hi", "tool_calls": calls});
        let answer = json!({
            "id": "x", "object": "chat.completion", "model": "m", "usage": {"total_tokens": 3},
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        });
        let events = told(&answer, Passage::ChatCompletions, true).unwrap();
        assert_eq!(events.len(), 4);
        assert_eq!((&events[0]["object"], &events[0]["id"]), (&json!("chat.completion.chunk"), &json!("x")));
        assert_eq!(events[0]["choices"][0]["delta"]["content"], "Hi");
        assert_eq!(events[0]["choices"][0]["delta"]["tool_calls"][0]["index"], 0);
        assert_eq!((&events[0]["usage"], &events[2]["usage"]["total_tokens"]), (&Value::Null, &json!(3)));
        assert_eq!(events[1]["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(events[3], "[DONE]");
        assert_eq!(told(&answer, Passage::ChatCompletions, false).unwrap().len(), 3);
        let text = json!({"choices": [{"text": "Hi", "finish_reason": "stop"}]});
        let events = told(&text, Passage::Completions, false).unwrap();
        assert_eq!((events.len(), &events[0]["choices"][0]["text"]), (2, &json!("Hi")));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for other in [json!({"ok": true}), json!([]), json!({"choices": []}), json!({"choices": [{}]})] {
            assert_eq!(told(&other, Passage::ChatCompletions, true), None, "{other}");
        }
        assert_eq!(told(&json!({"object": "response", "output": []}), Passage::Responses, true), None);
    }
}
