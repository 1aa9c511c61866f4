//! The ways of the servers: which there are, in which order they are tried, how they are written.

use serde_json::{Value, json};
use steward_core::model::{Connection, Constrained, Provider};

use Constrained::{
    GuidedJson, JsonObject, LlamaCppGrammar, LlamaCppSchema, OllamaFormat, ResponseFormat, StructuredOutputs,
};

/// The ways that make sense at `provider`, its usual one first.
pub(crate) fn usual(provider: Provider) -> &'static [Constrained] {
    match provider {
        // Its server reads the schema with the same code whatever the way.
        Provider::Local => &[LlamaCppSchema],
        Provider::LlamaCpp => &[LlamaCppSchema, ResponseFormat, LlamaCppGrammar, JsonObject],
        Provider::Vllm => &[ResponseFormat, StructuredOutputs, GuidedJson, JsonObject],
        Provider::Ollama => &[ResponseFormat, OllamaFormat, JsonObject],
        _ => &[ResponseFormat, JsonObject],
    }
}

/// All ways: the one that was set or found out, then the provider's others.
pub(super) fn ladder(connection: &Connection) -> Vec<Constrained> {
    let mut ways: Vec<Constrained> = connection.capabilities.constrained.into_iter().collect();
    for way in usual(connection.provider) {
        if !ways.contains(way) {
            ways.push(*way);
        }
    }
    ways
}

/// The field of the request.
pub(super) fn field(way: Constrained) -> &'static str {
    match way {
        ResponseFormat | JsonObject => "response_format",
        LlamaCppSchema => "json_schema",
        LlamaCppGrammar => "grammar",
        OllamaFormat => "format",
        StructuredOutputs => "structured_outputs",
        GuidedJson => "guided_json",
    }
}

/// What the field holds.
pub(super) fn value(way: Constrained, schema: Value, strict: bool) -> Value {
    match way {
        ResponseFormat => json!({
            "type": "json_schema",
            "json_schema": {"name": "output", "schema": schema, "strict": strict},
        }),
        StructuredOutputs => json!({"json": schema}),
        _ => schema,
    }
}

/// Which way a request went, and the schema in it; null where the way has none.
pub(super) fn of_request(sent: &Value) -> Option<(Constrained, &Value)> {
    if let Some(format) = sent.get("response_format") {
        return Some(match format.pointer("/json_schema/schema") {
            Some(schema) => (ResponseFormat, schema),
            None => (JsonObject, &Value::Null),
        });
    }
    if let Some(outputs) = sent.get("structured_outputs") {
        return Some((StructuredOutputs, &outputs["json"]));
    }
    [LlamaCppSchema, LlamaCppGrammar, OllamaFormat, GuidedJson]
        .into_iter()
        .find_map(|way| Some((way, sent.get(field(way))?)))
}

/// The schema in llama.cpp's notation of grammars, made by llama.cpp's own code.
#[cfg(feature = "local-model")]
pub(super) fn grammar(schema: &Value) -> Option<String> {
    llama_cpp_2::json_schema_to_grammar(&schema.to_string()).ok()
}

/// llama.cpp's own code is not in this build.
#[cfg(not(feature = "local-model"))]
pub(super) fn grammar(_schema: &Value) -> Option<String> {
    None
}
