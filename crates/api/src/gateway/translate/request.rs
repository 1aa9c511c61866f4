//! A chat request in our own words. What has no counterpart is refused by its name.

use super::content::content;
use super::fields::{check_conversation, check_message, check_tool};
use super::tools::{Function, ToolNames, drop_idle, offer, untranslated};
use crate::dialect::{HARMLESS, NEUTRAL_IN_CHAT, is_neutral};
use crate::gateway::inbound::Inbound;
use crate::openai::OpenAiError;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use steward_core::message::{Message, Role};
use steward_core::model::{Effort, ModelRequest, RequestOptions};
use steward_core::tool::{CallSource, ToolCall};

#[derive(Debug)]
pub(in crate::gateway) struct Request {
    pub model: ModelRequest,
    pub stream: bool,
    pub include_usage: bool,
    /// What an answer of `/v1/responses` repeats of its request.
    pub echo: Map<String, Value>,
    pub names: ToolNames,
}

/// Most texts of `stop`, as OpenAI takes them.
const STOPS: usize = 4;

/// Fields that can't be translated, with the values that ask for nothing.
fn asks_for_nothing(field: &str, value: &Value) -> bool {
    let neutral = NEUTRAL_IN_CHAT.iter().find(|(pointer, _)| pointer.strip_prefix('/') == Some(field));
    neutral.is_some_and(|(_, neutral)| is_neutral(neutral, value))
}

#[derive(Deserialize)]
struct Body {
    messages: Vec<Value>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    temperature: Option<f32>,
    #[serde(default)]
    top_p: Option<f32>,
    #[serde(default)]
    reasoning_effort: Option<String>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Option<Value>,
    #[serde(default)]
    parallel_tool_calls: Option<bool>,
    #[serde(default)]
    response_format: Option<Value>,
    #[serde(default)]
    stop: Option<Value>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Spoken {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
    #[serde(default)]
    tool_call_id: Option<String>,
    /// Parts of older or other kinds of messages, which would be lost.
    #[serde(default)]
    audio: Value,
    #[serde(default)]
    function_call: Value,
}

#[derive(Deserialize)]
struct Call {
    id: String,
    function: Called,
}

#[derive(Deserialize)]
struct Called {
    name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct Tool {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    function: Option<Function>,
}

/// Understands a chat request, or says which part of it has no translation.
pub(in crate::gateway) fn request(inbound: &Inbound, timeout_ms: u64) -> Result<Request, OpenAiError> {
    let body: Body = inbound.parsed()?;
    refuse_untranslated(&body.rest, asks_for_nothing)?;
    let tools = body.tools.unwrap_or_default().into_iter().enumerate().map(|(at, tool)| {
        check_tool(&tool, &format!("tools[{at}]"))?;
        let Tool { kind, function } = understood(tool, "tools", at)?;
        match function {
            Some(function) if kind == "function" => Ok(function),
            _ => Err(untranslated(&format!("a tool of the type `{kind}`"), "tools")),
        }
    });
    let choice = body.tool_choice.unwrap_or_default();
    let (mut tools, mut tool_choice, names) =
        offer(tools.collect::<Result<_, _>>()?, &choice, &choice["function"]["name"])?;
    let given = body.messages.into_iter().enumerate().map(|(at, spoken)| {
        check_message(&spoken, &format!("messages[{at}]"))?;
        message(understood(spoken, "messages", at)?)
    });
    let messages: Vec<Message> = given.collect::<Result<_, _>>()?;
    check_conversation(&messages, "messages")?;
    drop_idle(&mut tools, &mut tool_choice, &messages);
    let model = ModelRequest {
        messages,
        tools,
        schema: schema(body.response_format.as_ref())?,
        temperature: body.temperature,
        max_tokens: body.max_completion_tokens.or(body.max_tokens),
        stop: stop(body.stop)?,
        seed: body.seed,
        timeout_ms,
        options: RequestOptions {
            tool_choice,
            single_call: body.parallel_tool_calls == Some(false),
            top_p: body.top_p,
            effort: body.reasoning_effort.map(|word| effort(&word, "reasoning_effort")).transpose()?,
            exact: true,
        },
    };
    let stream = body.stream.unwrap_or(false);
    Ok(Request { model, stream, include_usage: inbound.asked.include_usage, echo: Map::new(), names })
}

fn understood<T: serde::de::DeserializeOwned>(given: Value, list: &'static str, at: usize) -> Result<T, OpenAiError> {
    serde_json::from_value(given)
        .map_err(|error| OpenAiError::invalid(format!("`{list}[{at}]` is not understood: {error}"), list))
}

pub(super) fn refuse_untranslated(
    rest: &Map<String, Value>,
    asks_for_nothing: fn(&str, &Value) -> bool,
) -> Result<(), OpenAiError> {
    let taken =
        |field: &str, value: &Value| value.is_null() || HARMLESS.contains(&field) || asks_for_nothing(field, value);
    match rest.iter().find(|(field, value)| !taken(field, value)) {
        Some((field, _)) => Err(untranslated(&format!("the field `{field}`"), field.clone())),
        None => Ok(()),
    }
}

pub(super) fn effort(word: &str, param: &'static str) -> Result<Effort, OpenAiError> {
    serde_json::from_value(json!(word)).map_err(|_| {
        let known = "`none`, `minimal`, `low`, `medium`, `high` and `xhigh`";
        OpenAiError::invalid(format!("`{word}` is no reasoning effort; there are {known}"), param)
    })
}

/// A message that may have pictures only where providers take them.
pub(super) fn said(role: Role, given: &Value, param: &'static str) -> Result<Message, OpenAiError> {
    let (text, pictures) = content(given, param)?;
    if !pictures.is_empty() && !matches!(role, Role::User | Role::Tool) {
        return Err(untranslated("a picture in a message that is not the user's", param));
    }
    Ok(Message { role, text, pictures, ..Message::user("") })
}

pub(super) fn call(id: String, name: &str, arguments: &str) -> ToolCall {
    let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
    ToolCall::new(id, ToolNames::sent(name), arguments, CallSource::Native)
}

fn message(spoken: Spoken) -> Result<Message, OpenAiError> {
    for (part, name) in [(&spoken.audio, "audio"), (&spoken.function_call, "function_call")] {
        if !part.is_null() {
            return Err(untranslated(&format!("`{name}` of a message"), "messages"));
        }
    }
    let say = |role| said(role, &spoken.content, "messages");
    match spoken.role.as_str() {
        "system" | "developer" => say(Role::System),
        "user" => say(Role::User),
        "assistant" => {
            let mut message = say(Role::Assistant)?;
            if message.text.is_empty() {
                message.text = spoken.refusal.unwrap_or_default();
            }
            let calls = spoken.tool_calls.unwrap_or_default().into_iter();
            Ok(message
                .with_calls(calls.map(|made| call(made.id, &made.function.name, &made.function.arguments)).collect()))
        }
        "tool" => match spoken.tool_call_id.clone() {
            Some(id) => Ok(Message { tool_call_id: Some(id), ..say(Role::Tool)? }),
            None => Err(OpenAiError::invalid(
                "a message of the role `tool` needs the `tool_call_id` that it answers",
                "messages",
            )),
        },
        other => Err(OpenAiError::invalid(format!("unknown role `{other}`"), "messages")),
    }
}

fn schema(format: Option<&Value>) -> Result<Option<Value>, OpenAiError> {
    let Some(format) = format.filter(|format| !format.is_null()) else {
        return Ok(None);
    };
    match format["type"].as_str() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(json!({"type": "object"}))),
        Some("json_schema") => Ok(Some(format["json_schema"]["schema"].clone())),
        _ => Err(untranslated("this `response_format`", "response_format")),
    }
}

fn stop(stop: Option<Value>) -> Result<Vec<String>, OpenAiError> {
    let stops: Vec<String> = match stop {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![text],
        Some(list) => serde_json::from_value(list)
            .map_err(|_| OpenAiError::invalid("`stop` must be a text or a list of texts", "stop"))?,
    };
    if stops.len() > STOPS {
        return Err(OpenAiError::invalid(format!("`stop` takes at most {STOPS} texts"), "stop"));
    }
    Ok(stops)
}

#[cfg(test)]
#[path = "request_tests.rs"]
pub(super) mod tests;
