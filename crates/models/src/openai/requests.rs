//! Request bodies of the OpenAI dialect, what endpoints refuse in them, and lists of models.

use super::classify::unsupported;
use super::constrain::{self, SchemaMemory, UnexplainedRefusals};
use super::error_messages::Origin;
use crate::native::{OWN_LIMIT, longest_allowed, rounded};
use serde_json::{Value, json};
use steward_core::message::{Message, PictureSource, Piece, Role};
use steward_core::model::{Connection, ModelError, ModelRequest, Provider, ToolChoice};
use steward_core::ports::Scored;
use steward_core::schema;
use steward_core::tool::{ToolCall, ToolSpec};

/// `body` with those of `fields` that have a value.
pub(crate) fn with(mut body: Value, fields: Value) -> Value {
    if let (Some(body), Value::Object(fields)) = (body.as_object_mut(), fields) {
        body.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
    }
    body
}

/// `None` if there are none.
pub(crate) fn any<T>(items: impl IntoIterator<Item = T>) -> Option<Vec<T>> {
    let items: Vec<T> = items.into_iter().collect();
    (!items.is_empty()).then_some(items)
}

pub(super) fn chat_body(connection: &Connection, request: &ModelRequest, quirks: &Quirks) -> Value {
    let new_name = (connection.provider == Provider::OpenAi) != quirks.other_max_tokens;
    let max_tokens = if new_name { "max_completion_tokens" } else { "max_tokens" };
    // The built-in model's server takes no tools at all.
    let idle = connection.provider == Provider::Local && request.options.tool_choice == ToolChoice::None;
    let tools = any(request.tools.iter().filter(|_| !idle).map(tool_json));
    // Other servers allow several calls by default.
    let parallel = connection.provider == Provider::LlamaCpp && connection.capabilities.parallel_calls;
    let fields = json!({
        "stream": true,
        "stream_options": (!quirks.no_stream_options).then(|| json!({"include_usage": true})),
        "temperature": request.temperature.filter(|_| !quirks.no_temperature).map(rounded),
        (max_tokens): request.max_tokens,
        "top_p": request.options.top_p.map(rounded),
        "reasoning_effort": request.options.effort,
        "stop": any(&request.stop),
        // Servers read it as a signed number.
        "seed": request.seed.filter(|_| !quirks.no_seed).map(|seed| seed & (i64::MAX as u64)),
    });
    let mut body = with(prompt(connection, request), fields);
    if let Some(tools) = tools {
        body["tools"] = tools.into();
        if parallel || request.options.single_call {
            body["parallel_tool_calls"] = (!request.options.single_call).into();
        }
        match &request.options.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => body["tool_choice"] = json!("none"),
            ToolChoice::Required => body["tool_choice"] = json!("required"),
            ToolChoice::Named(name) => {
                body["tool_choice"] = json!({"type": "function", "function": {"name": name}});
            }
        }
    }
    if let Some(schema) = request.schema.as_ref().filter(|_| connection.capabilities.json_schema) {
        constrain::apply(&mut body, connection, schema, &quirks.constraints);
    }
    body
}

pub(super) fn score_body(connection: &Connection, request: &ModelRequest, candidates: &[String]) -> Value {
    let mut body = prompt(connection, request);
    body["candidates"] = json!(candidates);
    body
}

/// Model and messages. The local model continues a last message of its own, if there is one.
fn prompt(connection: &Connection, request: &ModelRequest) -> Value {
    let mut body = json!({});
    let mut messages = request.messages.as_slice();
    if connection.provider == Provider::Local {
        if let [rest @ .., last] = messages
            && last.role == Role::Assistant
            && last.tool_calls.is_empty()
        {
            messages = rest;
            body["assistant_prefix"] = json!(last.text);
        }
    } else {
        body["model"] = json!(connection.model);
    }
    body["messages"] = messages.iter().map(message_json).collect();
    body
}

/// A text, or parts where it has pictures.
fn content(message: &Message) -> Value {
    if message.pictures.is_empty() {
        return json!(message.text);
    }
    let parts = message.pieces().into_iter().map(|piece| match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Picture(source) => json!({"type": "image_url", "image_url": {"url": picture_url(source)}}),
    });
    parts.collect()
}

pub(super) fn picture_url(source: &PictureSource) -> String {
    match source {
        PictureSource::Data { media_type, base64 } => format!("data:{media_type};base64,{base64}"),
        PictureSource::Url(url) => url.clone(),
    }
}

pub(crate) fn message_json(message: &Message) -> Value {
    match message.role {
        Role::Tool => json!({
            "role": "tool",
            "tool_call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "content": content(message),
        }),
        Role::Assistant if !message.tool_calls.is_empty() => {
            let calls: Vec<Value> = message.tool_calls.iter().map(call_json).collect();
            let content = (!message.text.is_empty()).then_some(&message.text);
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        role => json!({"role": role, "content": content(message)}),
    }
}

pub(crate) fn call_json(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.to_string()},
    })
}

pub(crate) fn tool_json(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": schema::as_tool_input(&spec.parameters),
        },
    })
}

/// What one endpoint does not accept, learned from its refusals.
#[expect(clippy::struct_excessive_bools, reason = "four fields of a request, each taken or not")]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Quirks {
    pub no_stream_options: bool,
    /// It wants the other of `max_tokens` and `max_completion_tokens`.
    pub other_max_tokens: bool,
    /// It accepts only its default temperature.
    pub no_temperature: bool,
    pub no_seed: bool,
    /// Longest answer that it has told, tokens.
    pub longest: Option<u32>,
    pub constraints: SchemaMemory,
    pub unexplained: UnexplainedRefusals,
}

impl Quirks {
    /// Whether it has refused a form that replies are asked for in.
    pub fn refuses_forms(&self) -> bool {
        !(self.constraints.is_empty() && self.unexplained.is_empty())
    }

    /// `None` if the refusal teaches nothing new and is a real error.
    pub fn learn(&self, status: u16, body: &str, sent: &Value) -> Option<Self> {
        if !matches!(status, 400 | 422) {
            // Some servers fail with another status if they can't turn a schema into a grammar.
            let constraints = self.constraints.refused(status, body, sent)?;
            let next = Self { constraints, ..self.clone() };
            return (next != *self).then_some(next);
        }
        let refused = |field: &str| sent.get(field).is_some() && body.contains(field);
        let mut next = self.clone();
        if let Some(longest) = shorter_answer(body, sent).filter(|_| !is_about_window(body)) {
            next.longest = Some(longest);
        } else if refused("stream_options") || (sent.get("stream_options").is_some() && body.contains("include_usage"))
        {
            next.no_stream_options = true;
        } else if (sent.get("max_tokens").is_some() && body.contains("max_completion_tokens"))
            || (refused("max_completion_tokens") && unsupported(body))
        {
            // Never switched back: a server that refuses both would be asked for ever.
            next.other_max_tokens = true;
        } else if refused("temperature") && unsupported(body) {
            next.no_temperature = true;
        } else if refused("seed") && unsupported(body) {
            next.no_seed = true;
        } else if let Some(learned) = self.constraints.refused(status, body, sent) {
            next.constraints = learned;
        }
        (next != *self).then_some(next)
    }

    /// `None`: nothing new. Without this, tools held back after a refusal that named none would stay unconstrained.
    pub fn accepted(&self, sent: &Value, with_schema: bool) -> Option<Self> {
        let constraints = self.constraints.accepted(sent);
        let unexplained = self.unexplained.taken().filter(|_| with_schema);
        (constraints.is_some() || unexplained.is_some()).then(|| Self {
            constraints: constraints.unwrap_or_else(|| self.constraints.clone()),
            unexplained: unexplained.unwrap_or_else(|| self.unexplained.clone()),
            ..self.clone()
        })
    }
}

/// The longest answer that a refusal allows, if it is shorter than the limit that was sent without being asked for.
fn shorter_answer(body: &str, sent: &Value) -> Option<u32> {
    let own = sent[OWN_LIMIT].as_u64()?;
    longest_allowed(body).filter(|allowed| u64::from(*allowed) < own)
}

/// What a refused prompt leaves of the window for an answer whose limit nobody asked for, tokens.
pub(super) fn left_in_window(body: &str, sent: &Value) -> Option<u32> {
    shorter_answer(body, sent).filter(|_| is_about_window(body))
}

fn is_about_window(body: &str) -> bool {
    body.contains("context limit")
}

/// Any provider's list: `data[].id` of the dialect and Anthropic, `models[].name` of Gemini, Cohere and Ollama,
/// `modelSummaries[].modelId` of Bedrock.
pub(crate) fn model_names(value: &Value) -> Vec<String> {
    let places = ["data", "models", "modelSummaries"];
    let list = places.iter().find_map(|field| value.get(field)).unwrap_or(value);
    let models = list.as_array().into_iter().flatten();
    models
        .filter_map(|model| {
            let fields = ["id", "modelId", "name", "model"];
            let name = fields.iter().find_map(|field| model.get(field)?.as_str())?;
            let able = model.get("supportedGenerationMethods").and_then(Value::as_array);
            // Gemini also lists models that do not chat.
            let chats = able.is_none_or(|list| list.iter().any(|m| m == "generateContent"));
            chats.then(|| name.strip_prefix("models/").unwrap_or(name).to_owned())
        })
        .collect()
}

pub(super) fn read_scores(origin: &Origin, value: &Value) -> Result<Vec<Scored>, ModelError> {
    let list = value.get("scores").and_then(Value::as_array);
    let scores: Option<Vec<Scored>> = list.and_then(|list| list.iter().map(read_score).collect());
    scores.ok_or_else(|| {
        let error = origin.not_an_answer("something that holds no scores");
        origin.with_detail(error, &value.to_string())
    })
}

fn read_score(value: &Value) -> Option<Scored> {
    #[expect(clippy::cast_possible_truncation, reason = "six digits of a logarithm are enough")]
    let logprob = value.get("logprob_sum")?.as_f64()? as f32;
    Some(Scored {
        candidate: value.get("candidate")?.as_str()?.to_owned(),
        logprob,
        tokens: u32::try_from(value.get("tokens")?.as_u64()?).ok()?,
    })
}

#[cfg(test)]
mod quirks_tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Quirks;
    use serde_json::json;

    #[test]
    fn only_what_was_sent_is_learned() {
        let sent = json!({"stream_options": {}, "max_tokens": 1, "temperature": 0.2});
        let none = Quirks::default();
        let learn = |body: &str| none.learn(400, body, &sent);
        assert!(learn("Unrecognized request argument: stream_options").unwrap().no_stream_options);
        assert!(learn("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.").unwrap().other_max_tokens);
        assert!(learn("Unsupported value: 'temperature' does not support 0.2").unwrap().no_temperature);
        assert_eq!(learn("seed is not supported"), None);
        assert_eq!(learn("messages is wrong"), None);
        assert_eq!(none.learn(500, "stream_options", &sent), None);
        let known = learn("stream_options").unwrap();
        assert_eq!(known.learn(400, "stream_options", &sent), None, "never the same twice");
        let other = learn("Use 'max_completion_tokens'").unwrap();
        let sent = json!({"max_completion_tokens": 1});
        assert_eq!(
            other.learn(400, "max_completion_tokens is not supported", &sent),
            None,
            "a server that refuses both gets its error told"
        );
    }
}

#[cfg(test)]
mod listing_tests {
    use super::model_names;
    use serde_json::json;

    #[test]
    fn every_shape() {
        let check = |value, expect: &[&str]| assert_eq!(model_names(&value), expect, "{value}");
        check(json!({"data": [{"id": "a"}, {"id": "b"}]}), &["a", "b"]);
        check(json!([{"id": "a"}]), &["a"]);
        check(
            json!({"models": [
                {"name": "models/gemini-2.5-flash", "supportedGenerationMethods": ["generateContent"]},
                {"name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"]},
            ]}),
            &["gemini-2.5-flash"],
        );
        check(json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}), &["qwen3:8b"]);
        check(json!({"modelSummaries": [{"modelId": "x.y-v1:0", "modelName": "Y"}]}), &["x.y-v1:0"]);
        check(json!({"hello": 1}), &[]);
    }
}
