use crate::local::infer::{ChatMessage, Constraint, Prompt, Refusal, Sampling};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::hash::{BuildHasher, Hasher};

#[derive(Debug, Deserialize)]
pub(super) struct ChatRequest {
    pub model: Option<String>,
    pub messages: Vec<WireMessage>,
    #[serde(default)]
    pub stream: bool,
    pub stream_options: Option<StreamOptions>,
    pub max_tokens: Option<u32>,
    pub max_completion_tokens: Option<u32>,
    pub stop: Option<OneOrMany>,
    pub response_format: Option<Value>,
    pub json_schema: Option<Value>,
    pub grammar: Option<String>,
    pub tools: Option<Vec<Value>>,
    pub n: Option<u32>,
    pub logprobs: Option<bool>,
    /// The beginning of the answer; not repeated in it.
    #[serde(default)]
    pub assistant_prefix: String,
    #[serde(flatten)]
    pub sampling: WireSampling,
}

#[derive(Debug, Deserialize)]
pub(super) struct ScoreRequest {
    pub model: Option<String>,
    pub messages: Option<Vec<WireMessage>>,
    pub prompt: Option<String>,
    pub candidates: Vec<String>,
    #[serde(default)]
    pub end_of_turn: bool,
    #[serde(default)]
    pub assistant_prefix: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct StreamOptions {
    #[serde(default)]
    pub include_usage: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
pub(super) struct WireSampling {
    temperature: Option<f32>,
    top_k: Option<u32>,
    top_p: Option<f32>,
    min_p: Option<f32>,
    frequency_penalty: Option<f32>,
    presence_penalty: Option<f32>,
    repeat_penalty: Option<f32>,
    seed: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireMessage {
    role: String,
    content: Option<Value>,
    tool_calls: Option<Value>,
}

pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|e| Refusal::invalid("body", format!("the request body is not valid: {e}")))
}

impl ChatRequest {
    pub fn check(&self) -> Result<(), Refusal> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(Refusal::unsupported("n", "only one choice (n = 1) is given"));
        }
        if self.logprobs == Some(true) {
            return Err(Refusal::unsupported(
                "logprobs",
                "the built-in model gives no log probabilities; leave it out",
            ));
        }
        if self.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
            return Err(Refusal::unsupported(
                "tools",
                "this server has no native tool calls; describe the tools in a message and constrain the answer by response_format",
            ));
        }
        if self.limit() == Some(0) {
            return Err(Refusal::invalid("max_tokens", "max_tokens must be at least 1"));
        }
        Ok(())
    }

    pub fn limit(&self) -> Option<u32> {
        self.max_completion_tokens.or(self.max_tokens)
    }

    pub fn prompt(&self) -> Result<Prompt, Refusal> {
        Ok(Prompt::Messages { messages: messages(&self.messages)?, prefix: self.assistant_prefix.clone() })
    }

    pub fn stops(&self) -> Result<Vec<String>, Refusal> {
        let stops = match &self.stop {
            None => Vec::new(),
            Some(OneOrMany::One(stop)) => vec![stop.clone()],
            Some(OneOrMany::Many(stops)) => stops.clone(),
        };
        if stops.len() > 16 || stops.iter().any(String::is_empty) {
            return Err(Refusal::invalid("stop", "stop takes up to 16 strings, none of them empty"));
        }
        Ok(stops)
    }

    pub fn constraint(&self) -> Result<Constraint, Refusal> {
        if let Some(gbnf) = &self.grammar {
            return Ok(Constraint::Grammar { gbnf: gbnf.clone(), param: "grammar" });
        }
        if let Some(schema) = &self.json_schema {
            return Constraint::schema(schema, "json_schema");
        }
        let Some(format) = &self.response_format else {
            return Ok(Constraint::Free);
        };
        match format.get("type").and_then(Value::as_str) {
            Some("text") => Ok(Constraint::Free),
            // llama.cpp's own server takes a schema in both forms.
            Some("json_object") => match format.get("schema") {
                Some(schema) => Constraint::schema(schema, "response_format"),
                None => Constraint::any_object("response_format"),
            },
            Some("json_schema") => match format.pointer("/json_schema/schema") {
                Some(schema) => Constraint::schema(schema, "response_format"),
                None => Err(Refusal::invalid("response_format", "response_format.json_schema.schema is missing")),
            },
            _ => Err(Refusal::invalid(
                "response_format",
                "response_format.type must be text, json_object or json_schema",
            )),
        }
    }
}

impl ScoreRequest {
    pub fn prompt(&self) -> Result<Prompt, Refusal> {
        match (&self.messages, &self.prompt) {
            (Some(list), None) => {
                Ok(Prompt::Messages { messages: messages(list)?, prefix: self.assistant_prefix.clone() })
            }
            (None, Some(text)) => Ok(Prompt::Text(format!("{text}{}", self.assistant_prefix))),
            _ => Err(Refusal::invalid("messages", "give either messages or prompt")),
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        if self.candidates.is_empty() || self.candidates.len() > 256 {
            return Err(Refusal::invalid("candidates", "candidates takes 1 to 256 strings"));
        }
        if self.candidates.iter().any(String::is_empty) {
            return Err(Refusal::invalid("candidates", "a candidate is empty"));
        }
        Ok(())
    }
}

/// For free text, if the request has none.
const FREE_REPEAT_PENALTY: f32 = 1.2;

impl WireSampling {
    /// Small models fall into loops in free text; text under a schema must be free to repeat itself.
    pub fn sampling(&self, constrained: bool) -> Result<Sampling, Refusal> {
        let repeat = if constrained { 1.0 } else { FREE_REPEAT_PENALTY };
        let sampling = Sampling {
            temperature: within("temperature", self.temperature, 0.2, 0.0, 2.0)?,
            top_k: self.top_k.map_or(40, |k| k as usize),
            top_p: within("top_p", self.top_p, 0.95, 0.0, 1.0)?,
            min_p: within("min_p", self.min_p, 0.05, 0.0, 1.0)?,
            frequency_penalty: within("frequency_penalty", self.frequency_penalty, 0.0, -2.0, 2.0)?,
            presence_penalty: within("presence_penalty", self.presence_penalty, 0.0, -2.0, 2.0)?,
            repeat_penalty: within("repeat_penalty", self.repeat_penalty, repeat, 0.1, 10.0)?,
            // Any seed will do if none is asked for; the hasher's keys are random.
            seed: self.seed.map_or_else(|| std::hash::RandomState::new().build_hasher().finish(), i64::cast_unsigned),
        };
        Ok(sampling)
    }
}

fn within(name: &'static str, value: Option<f32>, default: f32, low: f32, high: f32) -> Result<f32, Refusal> {
    let value = value.unwrap_or(default);
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(Refusal::invalid(name, format!("{name} must be between {low} and {high}, not {value}")))
    }
}

fn messages(list: &[WireMessage]) -> Result<Vec<ChatMessage>, Refusal> {
    if list.is_empty() {
        return Err(Refusal::invalid("messages", "messages is empty"));
    }
    list.iter()
        .map(|message| {
            let mut content = text(message.content.as_ref())?;
            if let Some(calls) = &message.tool_calls {
                if !content.is_empty() {
                    content.push('\n');
                }
                content.push_str(&calls.to_string());
            }
            // The built-in templates know three roles.
            let role = match message.role.as_str() {
                "system" | "developer" => "system",
                "assistant" => "assistant",
                "user" | "tool" | "function" => "user",
                other => {
                    return Err(Refusal::invalid(
                        "messages",
                        format!("the role `{other}` is unknown; use system, developer, user, assistant or tool"),
                    ));
                }
            };
            Ok(ChatMessage { role: role.to_owned(), content })
        })
        .collect()
}

fn text(content: Option<&Value>) -> Result<String, Refusal> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => parts
            .iter()
            .map(|part| match part.get("type").and_then(Value::as_str) {
                Some("text" | "input_text") => Ok(part.get("text").and_then(Value::as_str).unwrap_or_default()),
                other => Err(Refusal::unsupported(
                    "messages",
                    format!("the local model takes text only, not `{}`", other.unwrap_or("untyped parts")),
                )),
            })
            .collect(),
        Some(_) => Err(Refusal::invalid("messages", "content must be a string or a list of parts")),
    }
}
