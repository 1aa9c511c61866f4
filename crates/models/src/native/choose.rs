use serde_json::{Value, json};
use steward_core::model::{Connection, ModelRequest, Provider};
use steward_core::tool::ToolSpec;

use super::{anthropic, bedrock, cohere, gemini, ollama};
use crate::openai::{Framing, Manner, Outgoing, json_bytes};

/// Whether the provider is asked through an interface of its own unless the connection says
/// otherwise.
pub(crate) fn is_native(provider: Provider) -> bool {
    use Provider::{Anthropic, Bedrock, Cohere, Gemini};
    matches!(provider, Anthropic | Gemini | Cohere | Bedrock)
}

/// A streamed chat request, and those of its fields that a refusal may teach to leave out; `plain`:
/// without the temperature, which some models refuse.
pub(crate) fn request(connection: &Connection, request: &ModelRequest, plain: bool) -> (Outgoing, Value) {
    let (path, body) = match connection.provider {
        Provider::Anthropic => ("v1/messages".to_owned(), anthropic::body(connection, request, plain)),
        Provider::Gemini => {
            (gemini::path(connection, "streamGenerateContent"), gemini::body(connection, request, plain))
        }
        Provider::Cohere => ("v2/chat".to_owned(), cohere::body(connection, request, plain)),
        Provider::Bedrock => (bedrock::path(connection), bedrock::body(connection, request, plain)),
        _ => ("api/chat".to_owned(), ollama::body(connection, request, plain)),
    };
    let mut outgoing = Outgoing::post_native(path, json_bytes(&body));
    match connection.provider {
        Provider::Anthropic => outgoing.headers = anthropic::headers(),
        Provider::Gemini => outgoing.query = &[("alt", "sse")],
        _ => {}
    }
    let optional = if plain { json!({}) } else { json!({"temperature": rounded(request.temperature)}) };
    (outgoing, optional)
}

/// How the answer is read.
pub(crate) fn manner(provider: Provider) -> Manner {
    match provider {
        Provider::Anthropic => Manner::new(Framing::Sse, anthropic::Decoder::default()),
        Provider::Gemini => Manner::new(Framing::Sse, gemini::Decoder::default()),
        Provider::Cohere => Manner::new(Framing::Sse, cohere::Decoder::default()),
        Provider::Bedrock => Manner::new(Framing::Aws, bedrock::Decoder::default()),
        _ => Manner::new(Framing::Lines, ollama::Decoder::default()),
    }
}

/// The request for the list of models.
pub(crate) fn listing(connection: &Connection) -> Outgoing {
    let get = |path: &str| Outgoing::get_native(path.to_owned());
    match connection.provider {
        Provider::Anthropic => {
            Outgoing { headers: anthropic::headers(), query: &[("limit", "1000")], ..get("v1/models") }
        }
        Provider::Gemini => {
            let version = crate::openai::version(connection, "v1beta");
            Outgoing { query: &[("pageSize", "1000")], ..get(&format!("{version}/models")) }
        }
        Provider::Cohere => Outgoing { query: &[("endpoint", "chat"), ("page_size", "1000")], ..get("v1/models") },
        Provider::Bedrock => get("foundation-models"),
        _ => get("api/tags"),
    }
}

/// By way of f32 0.2 would be sent as 0.20000000298.
pub(crate) fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1000.0).round() / 1000.0
}

/// A tool as the dialect describes it, which Cohere and Ollama share.
pub(crate) fn function(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        },
    })
}
