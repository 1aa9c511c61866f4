use crate::gateway::inbound::Inbound;
use crate::openai::{ChatMessage, OpenAiError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use steward_core::message::Message;
use steward_core::model::ModelRequest;
use steward_core::policy::RiskClass;
use steward_core::tool::{CallSource, EffectClass, ToolCall, ToolSpec};

#[derive(Debug)]
pub(in crate::gateway) struct Request {
    pub model: ModelRequest,
    pub stream: bool,
    pub include_usage: bool,
}

/// Longest answer where the request has no limit, tokens.
const ANSWER: u32 = 4096;

/// Fields that change nothing in the answer, and are taken whatever they hold.
const HARMLESS: [&str; 9] = [
    "model",
    "stream_options",
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "parallel_tool_calls",
];

/// Fields that can't be translated, with the values that ask for nothing.
fn asks_for_nothing(field: &str, value: &Value) -> bool {
    match field {
        "n" | "top_p" => value.as_f64() == Some(1.0),
        "presence_penalty" | "frequency_penalty" => value.as_f64() == Some(0.0),
        "logprobs" => value == &Value::Bool(false),
        "top_logprobs" => value.as_u64() == Some(0),
        "logit_bias" => value.as_object().is_some_and(Map::is_empty),
        "modalities" => value == &json!(["text"]),
        _ => false,
    }
}

#[derive(Deserialize)]
struct Body {
    messages: Vec<Spoken>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    temperature: Option<f32>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    tools: Option<Vec<Tool>>,
    #[serde(default)]
    tool_choice: Option<Value>,
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
    #[serde(flatten)]
    said: ChatMessage,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
    #[serde(default)]
    tool_call_id: Option<String>,
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

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Option<Value>,
}

/// Understands a chat request, or says which part of it has no translation.
pub(in crate::gateway) fn request(inbound: &Inbound, timeout_ms: u64) -> Result<Request, OpenAiError> {
    let body: Body = inbound.parsed()?;
    for (field, value) in &body.rest {
        let taken = value.is_null() || HARMLESS.contains(&field.as_str()) || asks_for_nothing(field, value);
        if !taken {
            return Err(untranslated(&format!("the field `{field}`"), "body"));
        }
    }
    let tools = tools(body.tools.unwrap_or_default(), body.tool_choice.as_ref())?;
    let messages = body.messages.into_iter().map(message);
    let model = ModelRequest {
        messages: messages.collect::<Result<_, _>>()?,
        tools,
        schema: schema(body.response_format)?,
        temperature: body.temperature.unwrap_or(1.0),
        max_tokens: body.max_completion_tokens.or(body.max_tokens).unwrap_or(ANSWER),
        stop: stop(body.stop)?,
        seed: body.seed,
        timeout_ms,
    };
    if model.messages.is_empty() {
        return Err(OpenAiError::invalid("there are no messages", "messages"));
    }
    Ok(Request { model, stream: body.stream.unwrap_or(false), include_usage: inbound.asked.include_usage })
}

fn untranslated(what: &str, param: &'static str) -> OpenAiError {
    OpenAiError::invalid(
        format!(
            "{what} can't be translated for the interface of this connection; leave it out, or choose a connection that speaks the OpenAI dialect"
        ),
        param,
    )
}

fn message(spoken: Spoken) -> Result<Message, OpenAiError> {
    let text = spoken.said.text()?;
    let calls = spoken.tool_calls.unwrap_or_default().into_iter().map(|call| {
        let arguments = serde_json::from_str(&call.function.arguments).unwrap_or_else(|_| json!({}));
        ToolCall {
            id: call.id,
            name: call.function.name,
            arguments,
            source: CallSource::Native,
            confidence: 1.0,
            signature: None,
        }
    });
    match spoken.said.role.as_str() {
        "system" | "developer" => Ok(Message::system(text)),
        "user" => Ok(Message::user(text)),
        "assistant" => Ok(Message::assistant(text).with_calls(calls.collect())),
        "tool" => match spoken.tool_call_id {
            Some(id) => Ok(Message::tool(id, text)),
            None => Err(OpenAiError::invalid(
                "a message of the role `tool` needs the `tool_call_id` that it answers",
                "messages",
            )),
        },
        other => Err(OpenAiError::invalid(format!("unknown role `{other}`"), "messages")),
    }
}

fn tools(tools: Vec<Tool>, choice: Option<&Value>) -> Result<Vec<ToolSpec>, OpenAiError> {
    match choice {
        None | Some(Value::Null) => {}
        Some(choice) if choice == "auto" => {}
        Some(choice) if choice == "none" => return Ok(Vec::new()),
        Some(_) => {
            return Err(untranslated("a `tool_choice` other than `auto` and `none`", "tool_choice"));
        }
    }
    let spec = |tool: Tool| match tool.function.filter(|_| tool.kind == "function") {
        Some(function) => Ok(ToolSpec {
            name: function.name,
            description: function.description,
            parameters: function.parameters.unwrap_or_else(|| json!({"type": "object", "properties": {}})).into(),
            effect: EffectClass::Write,
            risk: RiskClass::Read,
            sends_out: false,
            utterances: Arc::default(),
            result_limit: usize::MAX,
            skill: None,
        }),
        None => Err(untranslated(&format!("a tool of the type `{}`", tool.kind), "tools")),
    };
    tools.into_iter().map(spec).collect()
}

fn schema(format: Option<Value>) -> Result<Option<Value>, OpenAiError> {
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
    match stop {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(list) => serde_json::from_value(list)
            .map_err(|_| OpenAiError::invalid("`stop` must be a text or a list of texts", "stop")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::request;
    use crate::gateway::inbound::Inbound;
    use axum::http::HeaderMap;
    use serde_json::{Value, json};
    use steward_core::message::Role;
    use steward_core::passthrough_request::PassthroughRequest;

    fn inbound(mut body: Value) -> Inbound {
        body["model"] = json!("connection/claude");
        let bytes = body.to_string().into_bytes();
        Inbound { headers: HeaderMap::new(), asked: PassthroughRequest::of(&bytes).unwrap(), body: bytes.into() }
    }

    #[test]
    fn a_whole_conversation_is_understood() {
        let body = json!({
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"place\":\"Oslo\"}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            ],
            "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
            "tool_choice": "auto", "n": 1, "top_p": 1.0, "presence_penalty": 0, "user": "ann", "logprobs": null,
            "stop": "END", "seed": 7, "max_tokens": 12, "temperature": 0.5, "stream": true,
            "stream_options": {"include_usage": true},
            "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}},
        });
        let request = request(&inbound(body), 1000).unwrap();
        assert!(request.stream && request.include_usage);
        let model = request.model;
        let roles: Vec<Role> = model.messages.iter().map(|one| one.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool]);
        assert_eq!(model.messages[2].tool_calls[0].arguments, json!({"place": "Oslo"}));
        assert_eq!(model.messages[3].tool_call_id.as_deref(), Some("c1"));
        assert_eq!(model.tools[0].name, "weather");
        assert_eq!(model.schema, Some(json!({"type": "array"})));
        assert_eq!((model.stop, model.seed, model.max_tokens), (vec!["END".to_owned()], Some(7), 12));
    }

    #[test]
    fn what_has_no_translation_is_refused_by_name() {
        let cases = [
            (json!({"n": 2}), "`n`"),
            (json!({"logprobs": true}), "`logprobs`"),
            (json!({"audio": {"voice": "alloy"}}), "`audio`"),
            (json!({"modalities": ["text", "audio"]}), "`modalities`"),
            (json!({"logit_bias": {"1": 2}}), "`logit_bias`"),
            (json!({"top_p": 0.5}), "`top_p`"),
            (json!({"unheard_of": 1}), "`unheard_of`"),
            (json!({"tool_choice": "required"}), "`tool_choice`"),
            (json!({"tools": [{"type": "web_search"}]}), "`web_search`"),
            (json!({"response_format": {"type": "grammar"}}), "`response_format`"),
            (json!({"stop": 7}), "`stop`"),
            (json!({"messages": []}), "no messages"),
            (json!({"messages": [{"role": "tool", "content": "x"}]}), "`tool_call_id`"),
            (json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}), "`image_url`"),
        ];
        for (extra, part) in cases {
            let mut body = json!({"messages": [{"role": "user", "content": "hi"}]});
            for (name, value) in extra.as_object().unwrap() {
                body[name] = value.clone();
            }
            let error = request(&inbound(body), 1000).unwrap_err();
            assert_eq!(error.status, 400);
            assert!(error.message.contains(part), "{}", error.message);
        }
    }
}
