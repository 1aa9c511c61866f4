//! The providers' own interfaces: Anthropic messages, Gemini, Cohere, Bedrock Converse and Ollama. Each has the body of
//! a request and the decoder of a stream, without I/O; [`crate::openai`] sends and reads.

mod answer_limits;
mod anthropic;
mod bedrock;
mod cohere;
mod gemini;
mod ollama;
mod turns;

pub(crate) use answer_limits::longest_allowed;
pub(crate) use gemini::path as gemini_path;

use super::openai::{BadFrame, EventParser, LARGEST_EVENT, Outgoing, StreamFormat};
use serde_json::{Value, json};
use steward_core::model::{Connection, Effort, ModelRequest, Provider, ToolChoice};

/// The part of a request that an interface has no word for, in words that name the field.
pub(crate) struct Untranslatable(pub String);

impl Untranslatable {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// What one wire makes of a request.
type Body = Result<Value, Untranslatable>;

/// What is known of an endpoint when a request is written for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// It refuses any temperature.
    pub no_temperature: bool,
    /// Longest answer that it has told, tokens.
    pub longest: Option<u32>,
}

/// The field of [`request`]'s second value that holds a limit which nobody asked for, tokens.
pub(crate) const OWN_LIMIT: &str = "own_limit";

/// A streamed chat request, and those of its fields that the endpoint may refuse.
pub(crate) fn request(
    connection: &Connection,
    request: &ModelRequest,
    known: Known,
) -> Result<(Outgoing, Value), Untranslatable> {
    let callable;
    let request = if request.options.tool_choice == ToolChoice::None && has_no_word_for_no_call(connection.provider) {
        callable = ModelRequest { tools: Vec::new(), ..request.clone() };
        &callable
    } else {
        request
    };
    let plain = known.no_temperature;
    let mut optional = json!({});
    let (path, body) = match connection.provider {
        Provider::Anthropic => {
            let body = anthropic::body(connection, request, known)?;
            if request.max_tokens.is_none() {
                optional[OWN_LIMIT] = body["max_tokens"].clone();
            }
            ("v1/messages".to_owned(), body)
        }
        Provider::Gemini => {
            (gemini::path(connection, "streamGenerateContent"), gemini::body(connection, request, plain)?)
        }
        Provider::Cohere => ("v2/chat".to_owned(), cohere::body(connection, request, plain)?),
        Provider::Bedrock => (bedrock::path(connection), bedrock::body(connection, request, plain)?),
        _ => ("api/chat".to_owned(), ollama::body(connection, request, plain)?),
    };
    let mut outgoing = Outgoing::post_native(path, &body);
    match connection.provider {
        Provider::Anthropic => outgoing.headers = anthropic::headers(),
        Provider::Gemini => outgoing.query = &[("alt", "sse")],
        _ => {}
    }
    if let Some(temperature) = request.temperature.filter(|_| !plain) {
        optional["temperature"] = json!(rounded(temperature));
    }
    Ok((outgoing, optional))
}

/// There, tools that may not be called are left out.
fn has_no_word_for_no_call(provider: Provider) -> bool {
    !matches!(provider, Provider::Anthropic | Provider::Gemini | Provider::Cohere)
}

pub(crate) fn stream_format(provider: Provider) -> StreamFormat {
    match provider {
        Provider::Anthropic => StreamFormat::sse(anthropic::Decoder::default()),
        Provider::Gemini => StreamFormat::sse(gemini::Decoder),
        Provider::Cohere => StreamFormat::sse(cohere::Decoder),
        Provider::Bedrock => StreamFormat::new(bedrock::AwsParser::default(), bedrock::Decoder),
        _ => StreamFormat::new(LineParser::default(), ollama::Decoder),
    }
}

pub(crate) fn listing(connection: &Connection) -> Outgoing {
    let get = |path: &str| Outgoing::get_native(path.to_owned());
    match connection.provider {
        Provider::Anthropic => {
            Outgoing { headers: anthropic::headers(), query: &[("limit", "1000")], ..get("v1/models") }
        }
        Provider::Gemini => {
            let version = super::openai::version(connection, "v1beta");
            Outgoing { query: &[("pageSize", "1000")], ..get(&format!("{version}/models")) }
        }
        Provider::Cohere => Outgoing { query: &[("endpoint", "chat"), ("page_size", "1000")], ..get("v1/models") },
        Provider::Bedrock => get("foundation-models"),
        _ => get("api/tags"),
    }
}

/// Tokens for thoughts, where a provider wants a number; those that Google's own translation of the dialect takes.
fn thinking_tokens(effort: Effort) -> u32 {
    match effort {
        Effort::None => 0,
        Effort::Minimal | Effort::Low => 1024,
        Effort::Medium => 8192,
        Effort::High | Effort::XHigh => 24_576,
    }
}

/// Through `f32`, 0.2 would be sent as 0.20000000298.
pub(crate) fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1000.0).round() / 1000.0
}

/// One JSON document per line.
#[derive(Debug, Default)]
struct LineParser {
    held: Vec<u8>,
}

impl EventParser for LineParser {
    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, BadFrame> {
        let mut lines = Vec::new();
        let mut parts = bytes.split(|byte| *byte == b'\n');
        // There is always a first part.
        self.held.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            lines.extend(self.finish());
            self.held.extend_from_slice(part);
        }
        if self.held.len() > LARGEST_EVENT {
            return Err(BadFrame::TooLarge);
        }
        Ok(lines)
    }

    /// The line that the end of the stream completed, unless it is blank.
    fn finish(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned();
        (!line.trim().is_empty()).then_some(line)
    }

    fn is_of_documents(&self) -> bool {
        true
    }
}
