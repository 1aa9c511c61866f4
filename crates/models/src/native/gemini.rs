//! Google's Gemini: `generateContent`.

use super::turns::{Part, Turn, object, system, turns};
use super::{Body, Untranslatable, rounded, thinking_tokens};
use crate::openai::{Decode, Fault, ReplyState, any, segment, text, version, with};
use serde_json::{Value, json};
use steward_core::message::{PictureSource, Role};
use steward_core::model::{Connection, Effort, ModelChunk, ModelRequest, ToolChoice, Usage};
use steward_core::schema;

const STOPS: usize = 5;

/// Google's word for calls without a signature, such as those of another model or a person. Models from the third
/// generation on refuse calls without any.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Below the server's root.
pub(crate) fn path(connection: &Connection, action: &str) -> String {
    let version = version(connection, "v1beta");
    let name = connection.model.trim();
    let model = match name.split_once('/') {
        Some((kind @ ("models" | "tunedModels"), name)) => format!("{kind}/{}", segment(name)),
        _ => format!("models/{}", segment(name)),
    };
    format!("{version}/{model}:{action}")
}

pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Body {
    let instructions = any(system(request).iter().map(|text| json!({"text": text})));
    let mut body = with(json!({}), json!({"systemInstruction": instructions.map(|parts| json!({"parts": parts}))}));
    let signed = !(connection.model.contains("gemini-1") || connection.model.contains("gemini-2"));
    let in_results = request.messages.iter().any(|one| one.role == Role::Tool && !one.pictures.is_empty());
    if in_results {
        return Err(Untranslatable::new("a picture in the result of a call"));
    }
    body["contents"] = turns(request).iter().map(|turn| content(turn, signed)).collect();
    let tools = any(request.tools.iter().map(|spec| {
        json!({
            "name": spec.name,
            "description": spec.description,
            "parametersJsonSchema": schema::as_tool_input(&spec.parameters),
        })
    }));
    let options = &request.options;
    if request.stop.len() > STOPS && options.exact {
        return Err(Untranslatable::new(format!("more than {STOPS} texts in `stop`")));
    }
    let schema = request.schema.as_ref().filter(|_| connection.capabilities.json_schema);
    let config = json!({
        "temperature": request.temperature.filter(|_| !plain).map(rounded),
        "topP": options.top_p.map(rounded),
        "maxOutputTokens": request.max_tokens,
        "stopSequences": any(request.stop.iter().take(STOPS)),
        // It is read as a signed number of 32 bits.
        "seed": request.seed.map(|seed| seed & (i32::MAX as u64)),
        "thinkingConfig": options.effort.map(|effort| thinking_config(&connection.model, effort)).transpose()?,
        "responseMimeType": schema.map(|_| "application/json"),
        "responseJsonSchema": schema,
    });
    let forced = match &options.tool_choice {
        ToolChoice::Required => Some(json!({"mode": "ANY"})),
        ToolChoice::Named(name) => Some(json!({"mode": "ANY", "allowedFunctionNames": [name]})),
        ToolChoice::None => Some(json!({"mode": "NONE"})),
        ToolChoice::Auto => None,
    };
    let forced = forced.filter(|_| tools.is_some()).map(|config| json!({"functionCallingConfig": config}));
    let tools = tools.map(|tools| json!([{"functionDeclarations": tools}]));
    let fields = json!({"tools": tools, "toolConfig": forced, "generationConfig": with(json!({}), config)});
    Ok(with(body, fields))
}

/// Models up to 2.5 take a number of tokens, later ones a word and always think.
fn thinking_config(model: &str, effort: Effort) -> Body {
    if model.contains("gemini-1") || model.contains("gemini-2.0") {
        return Err(Untranslatable::new("`reasoning_effort` (this model does not think)"));
    }
    if model.contains("gemini-2") {
        return Ok(json!({"thinkingBudget": thinking_tokens(effort)}));
    }
    let level = match effort {
        Effort::None => return Err(Untranslatable::new("`reasoning_effort` of `none` (this model always thinks)")),
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::XHigh => "high",
    };
    Ok(json!({"thinkingLevel": level}))
}

fn picture(source: &PictureSource) -> Value {
    match source {
        PictureSource::Data { media_type, base64 } => {
            json!({"inlineData": {"mimeType": media_type, "data": **base64}})
        }
        PictureSource::Url(url) => {
            let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
            let kinds = [(".png", "png"), (".jpg", "jpeg"), (".jpeg", "jpeg"), (".webp", "webp"), (".gif", "gif")];
            let kind = kinds.iter().find(|(end, _)| path.ends_with(end)).map(|(_, kind)| format!("image/{kind}"));
            json!({"fileData": with(json!({"fileUri": url}), json!({"mimeType": kind}))})
        }
    }
}

fn content(turn: &Turn<'_>, signed: bool) -> Value {
    let mut first_call = true;
    let parts: Vec<Value> = turn
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"text": text}),
            Part::Picture(source) => picture(source),
            Part::Call { id, call } => {
                let made = json!({"id": id, "name": call.name, "args": object(&call.arguments)});
                let mut part = json!({"functionCall": made});
                // Of parallel calls only the first is signed.
                let first = std::mem::take(&mut first_call);
                match &call.signature {
                    Some(signature) => part["thoughtSignature"] = json!(signature),
                    None if signed && first => part["thoughtSignature"] = json!(UNSIGNED),
                    None => {}
                }
                part
            }
            Part::Result { id, name, message } => {
                json!({"functionResponse": {"id": id, "name": name, "response": {"result": message.text}}})
            }
        })
        .collect();
    let role = if turn.by_model { "model" } else { "user" };
    json!({"role": role, "parts": parts})
}

/// Each event is a whole answer in small.
#[derive(Debug, Default)]
pub(super) struct Decoder;

impl Decode for Decoder {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault> {
        if let Some(model) = text(event.get("modelVersion")) {
            state.model = model;
        }
        if let Some(usage) = event.get("usageMetadata") {
            state.usage = read_usage(usage);
        }
        let candidate = &event["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            read_part(state, part);
        }
        let blocked = event["promptFeedback"]["blockReason"].as_str();
        if let Some(reason) = candidate["finishReason"].as_str().or(blocked) {
            state.finish = Some(finish(reason, blocked.is_some(), state.calls > 0));
        }
        Ok(())
    }

    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>> {
        if let Some(list) = reply.as_array() {
            // Without `alt=sse` the events come as one list.
            return Some(list.iter().try_for_each(|event| self.event(state, event)));
        }
        reply.get("candidates").or(reply.get("promptFeedback"))?;
        Some(self.event(state, reply))
    }
}

fn read_part(state: &mut ReplyState, part: &Value) {
    if let Some(piece) = text(part.get("text")) {
        if part["thought"] == true {
            state.push_reasoning(&piece);
        } else {
            state.push_text(&piece);
        }
    }
    if let Some(call) = part.get("functionCall") {
        let arguments = object(&call["args"]).to_string();
        let index = state.push_call(text(call.get("id")), text(call.get("name")), arguments);
        if let Some(signature) = text(part.get("thoughtSignature")) {
            state.push(ModelChunk::Signature { index, signature });
        }
    }
}

fn finish(reason: &str, blocked: bool, has_calls: bool) -> String {
    match reason {
        _ if blocked => "content_filter".to_owned(),
        "STOP" if has_calls => "tool_calls".to_owned(),
        "STOP" => "stop".to_owned(),
        "MAX_TOKENS" => "length".to_owned(),
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => "content_filter".to_owned(),
        other => other.to_lowercase(),
    }
}

fn read_usage(usage: &Value) -> Usage {
    let number = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        prompt_tokens: number("promptTokenCount") + number("toolUsePromptTokenCount"),
        cached_tokens: number("cachedContentTokenCount"),
        completion_tokens: number("candidatesTokenCount") + number("thoughtsTokenCount"),
        cost_micros: 0,
    }
}
