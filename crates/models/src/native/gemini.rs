//! Google's Gemini: `generateContent`.

use serde_json::{Map, Value, json};
use steward_core::model::{Connection, ModelChunk, ModelRequest, Usage};

use super::rounded;
use super::turns::{Part, Turn, object, system, turns};
use crate::openai::{Decode, Fault, State, segment, text, version};

/// Most stop sequences that it takes.
const STOPS: usize = 5;
/// Google's word for calls that have no signature, as those that another model or a person made. Models
/// from the third generation on refuse calls without any.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Where the model answers, below the server's root.
pub(crate) fn path(connection: &Connection, action: &str) -> String {
    let version = version(connection, "v1beta");
    let name = connection.model.trim();
    let model = match name.split_once('/') {
        Some((kind @ ("models" | "tunedModels"), name)) => format!("{kind}/{}", segment(name)),
        _ => format!("models/{}", segment(name)),
    };
    format!("{version}/{model}:{action}")
}

/// The body of a request.
pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Value {
    let mut body = Map::new();
    let instructions = system(request);
    if !instructions.is_empty() {
        let parts: Vec<Value> = instructions.iter().map(|text| json!({"text": text})).collect();
        body.insert("systemInstruction".to_owned(), json!({"parts": parts}));
    }
    let signed = !(connection.model.contains("gemini-1") || connection.model.contains("gemini-2"));
    let contents: Vec<Value> = turns(request).iter().map(|turn| content(turn, signed)).collect();
    body.insert("contents".to_owned(), contents.into());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|spec| {
                json!({
                    "name": spec.name,
                    "description": spec.description,
                    "parametersJsonSchema": spec.parameters,
                })
            })
            .collect();
        let declared = json!([{"functionDeclarations": tools}]);
        body.insert("tools".to_owned(), declared);
    }
    let mut config = Map::new();
    if !plain {
        let temperature = rounded(request.temperature);
        config.insert("temperature".to_owned(), json!(temperature));
    }
    config.insert("maxOutputTokens".to_owned(), json!(request.max_tokens));
    let stops: Vec<&String> = request.stop.iter().take(STOPS).collect();
    if !stops.is_empty() {
        config.insert("stopSequences".to_owned(), json!(stops));
    }
    if let Some(seed) = request.seed {
        // It is read as a signed number of 32 bits.
        config.insert("seed".to_owned(), json!(seed & (i32::MAX as u64)));
    }
    let schema = request.schema.as_ref();
    if let Some(schema) = schema.filter(|_| connection.capabilities.json_schema) {
        config.insert("responseMimeType".to_owned(), json!("application/json"));
        config.insert("responseJsonSchema".to_owned(), schema.clone());
    }
    body.insert("generationConfig".to_owned(), Value::Object(config));
    Value::Object(body)
}

fn content(turn: &Turn<'_>, signed: bool) -> Value {
    let mut first_call = true;
    let parts: Vec<Value> = turn
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"text": text}),
            Part::Call { id, call } => {
                let arguments = object(&call.arguments);
                let made = json!({"id": id, "name": call.name, "args": arguments});
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
            Part::Result { id, name, text } => {
                let result = json!({"result": text});
                json!({"functionResponse": {"id": id, "name": name, "response": result}})
            }
        })
        .collect();
    let role = if turn.by_model { "model" } else { "user" };
    json!({"role": role, "parts": parts})
}

/// Reads the events, each of which is a whole answer in small.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
}

impl Decode for Decoder {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn value(&mut self, value: &Value) -> Result<Vec<ModelChunk>, Fault> {
        let mut chunks = Vec::new();
        if let Some(model) = text(value.get("modelVersion")) {
            self.state.model = model;
        }
        if let Some(usage) = value.get("usageMetadata") {
            self.state.usage = read_usage(usage);
        }
        let candidate = &value["candidates"][0];
        let parts = candidate["content"]["parts"].as_array();
        for part in parts.into_iter().flatten() {
            self.part(part, &mut chunks);
        }
        let blocked = value["promptFeedback"]["blockReason"].as_str();
        if let Some(reason) = candidate["finishReason"].as_str().or(blocked) {
            self.state.finish = Some(self.finish(reason, blocked.is_some()));
        }
        Ok(chunks)
    }

    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        if let Some(list) = value.as_array() {
            // Without `alt=sse` the events come as one list.
            let all = list.iter().map(|event| self.value(event));
            return Some(all.collect::<Result<Vec<_>, _>>().map(|parts| parts.concat()));
        }
        value.get("candidates").or(value.get("promptFeedback"))?;
        Some(self.value(value))
    }
}

impl Decoder {
    fn part(&mut self, part: &Value, chunks: &mut Vec<ModelChunk>) {
        if let Some(piece) = text(part.get("text")) {
            if part["thought"] == true {
                self.state.push_reasoning(&piece, chunks);
            } else {
                self.state.push_text(&piece, chunks);
            }
        }
        if let Some(call) = part.get("functionCall") {
            let arguments = object(&call["args"]).to_string();
            let (id, name) = (text(call.get("id")), text(call.get("name")));
            let index = self.state.push_call(id, name, arguments, chunks);
            if let Some(signature) = text(part.get("thoughtSignature")) {
                chunks.push(ModelChunk::Signature { index, signature });
            }
        }
    }

    fn finish(&self, reason: &str, blocked: bool) -> String {
        match reason {
            _ if blocked => "content_filter".to_owned(),
            "STOP" if self.state.calls > 0 => "tool_calls".to_owned(),
            "STOP" => "stop".to_owned(),
            "MAX_TOKENS" => "length".to_owned(),
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => "content_filter".to_owned(),
            other => other.to_lowercase(),
        }
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
