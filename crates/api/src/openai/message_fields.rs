//! Fields within the messages that an agent is sent: one that nobody here knows is refused by its name, as those beside the
//! messages are.

use crate::openai::OpenAiError;
use serde_json::Value;

/// Of a message. Clients send back what answers had; an agent reads the texts.
const MESSAGE: &[&str] = &[
    "role",
    "content",
    "name",
    "refusal",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "annotations",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "parsed",
    "cache_control",
];
/// Of an item of a response.
const ITEM: &[&str] = &["type", "id", "status", "phase", "role", "content", "name", "cache_control"];
/// Of a part of the content.
const PART: &[&str] = &["type", "text", "refusal", "annotations", "logprobs", "parsed", "cache_control"];

/// Refuses messages of chat completions with a field that an agent doesn't know.
pub(crate) fn check_messages(body: &Value) -> Result<(), OpenAiError> {
    check_list(body, "messages", MESSAGE)
}

/// As [`check_messages`], for the input of a response. Items that are no messages are refused by their type.
pub(crate) fn check_input(body: &Value) -> Result<(), OpenAiError> {
    check_list(body, "input", ITEM)
}

fn check_list(body: &Value, list: &str, known: &[&str]) -> Result<(), OpenAiError> {
    for (at, message) in items(&body[list]) {
        if !matches!(message["type"].as_str(), None | Some("message")) {
            continue;
        }
        let place = format!("{list}[{at}]");
        check(message, known, &place)?;
        for (at, part) in items(&message["content"]) {
            // Others are refused by their type.
            if part["text"].is_string() {
                check(part, PART, &format!("{place}.content[{at}]"))?;
            }
        }
    }
    Ok(())
}

fn items(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

fn check(given: &Value, known: &[&str], place: &str) -> Result<(), OpenAiError> {
    let mut fields = given.as_object().into_iter().flatten();
    let unknown = fields.find(|(field, value)| !value.is_null() && !known.contains(&field.as_str()));
    let Some((field, _)) = unknown else {
        return Ok(());
    };
    let field = format!("{place}.{}", field.chars().take(60).collect::<String>());
    Err(OpenAiError::invalid(
        format!(
            "an agent doesn't know the field `{field}`; leave it out, or ask a model without an agent: \
             `connection/<name>` of GET /v1/models"
        ),
        field,
    ))
}

#[cfg(test)]
mod tests {
    use super::{check_input, check_messages};
    use serde_json::{Value, json};

    #[test]
    fn an_unknown_field_is_refused_with_its_place() {
        let chat = |message: Value| check_messages(&json!({"messages": [{"role": "user", "content": "a"}, message]}));
        for (message, field) in [
            (json!({"role": "user", "content": "a", "foo": 1}), "messages[1].foo"),
            (json!({"role": "user", "content": "a", "audio": {"id": "x"}}), "messages[1].audio"),
            (
                json!({"role": "user", "content": [{"type": "text", "text": "a", "bar": 1}]}),
                "messages[1].content[0].bar",
            ),
        ] {
            let error = chat(message).err().map(|error| (error.param, error.status.as_u16()));
            assert_eq!(error, Some((Some(field.into()), 400)));
        }
        let input = json!({"input": [{"role": "user", "content": "a", "foo": 1}]});
        assert_eq!(check_input(&input).err().map(|error| error.param), Some(Some("input[0].foo".into())));
    }

    #[test]
    fn what_answers_have_is_taken() {
        for message in [
            json!({"role": "assistant", "content": "a", "audio": null, "refusal": null, "annotations": []}),
            json!({"role": "assistant", "content": null, "reasoning_content": "x", "tool_calls": [{"id": "c"}]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "a", "name": "look"}),
            json!({"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}),
        ] {
            assert_eq!(check_messages(&json!({"messages": [message]})), Ok(()), "{message}");
        }
        let item = json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [
            {"type": "output_text", "text": "a", "annotations": [], "logprobs": []}]});
        assert_eq!(check_input(&json!({"input": [item, {"type": "function_call", "call_id": "x"}]})), Ok(()));
        assert_eq!(check_input(&json!({"input": "a"})), Ok(()));
    }
}
