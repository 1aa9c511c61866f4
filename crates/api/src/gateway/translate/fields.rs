//! What the parts of a request may have: a field that would be lost is refused by its name.

use super::tools::untranslated;
use crate::openai::OpenAiError;
use serde_json::{Map, Value};
use steward_core::message::{Message, Role};

/// A mark for the provider's cache changes nothing in an answer; Steward sets its own.
const CACHE: &str = "cache_control";

/// Of a message of chat completions. Clients send back what answers had.
const MESSAGE: &[&str] = &[
    "role",
    "content",
    "refusal",
    "tool_calls",
    "tool_call_id",
    "audio",
    "function_call",
    "name",
    "annotations",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "parsed",
    CACHE,
];
const CALL: &[&str] = &["id", "type", "function", "index"];
const CALLED: &[&str] = &["name", "arguments", "parsed_arguments"];
const TOOL: &[&str] = &["type", "function", CACHE];
const FUNCTION: &[&str] = &["type", "name", "description", "parameters", "strict", CACHE];
/// `file_id` is refused in words of its own.
const PART: &[&str] = &["type", "text", "refusal", "image_url", "file_id", "detail", "annotations", "logprobs", CACHE];
const PICTURE: &[&str] = &["url", "detail"];
/// Of an item of a response.
const ITEM: &[&str] =
    &["type", "id", "status", "phase", "role", "content", "name", "call_id", "arguments", "output", CACHE];

/// Refuses a message of chat completions with a field that nobody here knows. `place`: where it stands.
pub(super) fn check_message(message: &Value, place: &str) -> Result<(), OpenAiError> {
    check(message, MESSAGE, place)?;
    for (at, call) in list(&message["tool_calls"]) {
        let place = format!("{place}.tool_calls[{at}]");
        check(call, CALL, &place)?;
        check(&call["function"], CALLED, &format!("{place}.function"))?;
    }
    check_content(&message["content"], &format!("{place}.content"))
}

pub(super) fn check_tool(tool: &Value, place: &str) -> Result<(), OpenAiError> {
    if tool["type"] != "function" {
        return Ok(());
    }
    // Responses have the function's fields in the tool itself.
    if tool.get("function").is_none() {
        return check(tool, FUNCTION, place);
    }
    check(tool, TOOL, place)?;
    check(&tool["function"], FUNCTION, &format!("{place}.function"))
}

/// Reasoning has no place here whatever it holds.
pub(super) fn check_item(item: &Value, place: &str) -> Result<(), OpenAiError> {
    if !matches!(item["type"].as_str(), None | Some("message" | "function_call" | "function_call_output")) {
        return Ok(());
    }
    check(item, ITEM, place)?;
    check_content(&item["content"], &format!("{place}.content"))?;
    check_content(&item["output"], &format!("{place}.output"))
}

/// Only of parts that are translated at all: others are refused by their type.
fn check_content(content: &Value, place: &str) -> Result<(), OpenAiError> {
    for (at, part) in list(content) {
        let kind = part["type"].as_str().unwrap_or_default();
        if matches!(kind, "text" | "input_text" | "output_text" | "refusal" | "image_url" | "input_image") {
            let place = format!("{place}[{at}]");
            check(part, PART, &place)?;
            check(&part["image_url"], PICTURE, &format!("{place}.image_url"))?;
        }
    }
    Ok(())
}

fn list(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

fn check(given: &Value, known: &[&str], place: &str) -> Result<(), OpenAiError> {
    let unknown = |fields: &Map<String, Value>| {
        let mut lost = fields.iter().filter(|(field, value)| !value.is_null() && !known.contains(&field.as_str()));
        lost.next().map(|(field, _)| field.clone())
    };
    match given.as_object().and_then(unknown) {
        Some(field) => Err(untranslated(&format!("the field `{field}` in `{place}`"), format!("{place}.{field}"))),
        None => Ok(()),
    }
}

/// Refuses messages that no provider takes: none of a person, a result without its call, a call without its result.
pub(super) fn check_conversation(messages: &[Message], param: &'static str) -> Result<(), OpenAiError> {
    let refuse = |why: String| Err(OpenAiError::invalid(why, param));
    if messages.iter().all(|message| message.role == Role::System) {
        return refuse("there are no messages but instructions; add one of the user".to_owned());
    }
    let unanswered = |id: &str| {
        format!(
            "the call `{id}` has no result; send one for each call right after it, with its id, or leave the call out"
        )
    };
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message.role {
            Role::Assistant => {
                if let Some(id) = open.first() {
                    return refuse(unanswered(id));
                }
                open = message.tool_calls.iter().map(|call| call.id.as_str()).collect();
            }
            Role::Tool => {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                let Some(at) = open.iter().position(|known| *known == id) else {
                    return refuse(format!(
                        "there is a result of the call `{id}`, but no such call right before it; send the message with \
                         the call as well, or leave the result out"
                    ));
                };
                open.remove(at);
            }
            Role::System | Role::User => {}
        }
    }
    match open.first() {
        Some(id) => refuse(unanswered(id)),
        None => Ok(()),
    }
}
