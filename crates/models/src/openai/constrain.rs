//! Constrained output in each server's own way. If a server refuses a schema by one method, that schema is sent by
//! the next and at last without a constraint; other schemas are not affected.

mod refusal;
mod schema_memory;
mod unexplained;

pub(super) use schema_memory::SchemaMemory;
pub(super) use unexplained::UnexplainedRefusals;

use Constrained::{
    GuidedJson, JsonObject, LlamaCppGrammar, LlamaCppSchema, OllamaFormat, ResponseFormat, StructuredOutputs,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use steward_core::model::{Connection, Constrained, ModelRequest, Provider};

/// Constrains the output to `schema`, as far as the endpoint is known to take it.
pub(super) fn apply(body: &mut Value, connection: &Connection, schema: &Value, memory: &SchemaMemory) {
    for way in methods(connection) {
        if let Some((field, value)) = constraint_field(way, schema, memory, body) {
            body[field] = value;
            return;
        }
    }
}

/// The request's field and its value; `None` if the endpoint does not take this schema that way.
fn constraint_field(
    way: Constrained,
    schema: &Value,
    memory: &SchemaMemory,
    body: &Value,
) -> Option<(&'static str, Value)> {
    let field = field(way);
    // Servers leave out parts of what is said in several places.
    let schema = &*steward_core::schema::merged(schema);
    match way {
        JsonObject => {
            // OpenAI and others refuse it if no message mentions JSON.
            let fits = schema["type"] == "object" && speaks_of_json(&body["messages"]);
            let refused = memory.refuses(schema_memory::key(way, &Value::Null));
            (fits && !refused).then(|| (field, json!({"type": "json_object"})))
        }
        LlamaCppGrammar => {
            let grammar = Value::from(grammar(schema)?);
            let refused = memory.refuses(schema_memory::key(way, &grammar));
            (!refused).then_some((field, grammar))
        }
        _ => {
            let key = schema_memory::key(way, &refusal::skeleton(schema));
            if memory.refuses(key) {
                return None;
            }
            let sent = refusal::opened(schema, &memory.opens(way, schema));
            // Strictness is about objects; OpenAI takes no other root.
            let closed = sent["type"] == "object" && is_strict(&sent);
            let strict = closed && !memory.refuses_strict(key);
            Some((field, value(way, sent, strict)))
        }
    }
}

fn speaks_of_json(messages: &Value) -> bool {
    let messages = messages.as_array();
    messages.into_iter().flatten().any(|message| {
        let text = message["content"].as_str().unwrap_or_default();
        text.contains("JSON") || text.contains("json")
    })
}

/// The request with its schema as Ollama's own interface is known to take it.
pub(super) fn fitted<'a>(
    connection: &Connection,
    request: &'a ModelRequest,
    memory: &SchemaMemory,
) -> Cow<'a, ModelRequest> {
    let way = Constrained::OllamaFormat;
    let Some(schema) =
        request.schema.as_ref().filter(|_| connection.provider == Provider::Ollama).map(steward_core::schema::merged)
    else {
        return Cow::Borrowed(request);
    };
    if memory.is_empty() && matches!(schema, Cow::Borrowed(_)) {
        return Cow::Borrowed(request);
    }
    let refused = memory.refuses(schema_memory::key(way, &refusal::skeleton(&schema)));
    let schema = (!refused).then(|| refusal::opened(&schema, &memory.opens(way, &schema)));
    Cow::Owned(ModelRequest { schema, ..request.clone() })
}

/// The methods worth trying at a connection, best first, whatever was learned.
pub(crate) fn all_methods(connection: &Connection) -> Vec<Constrained> {
    match connection.provider {
        // It may be any server.
        Provider::Compatible => vec![ResponseFormat, LlamaCppSchema, StructuredOutputs, GuidedJson, JsonObject],
        provider => usual_methods(provider).to_vec(),
    }
}

/// The field and value that ask for `schema`; `None` if this build can't write it.
pub(crate) fn constraint(way: Constrained, schema: &Value) -> Option<(&'static str, Value)> {
    let value = match way {
        JsonObject => json!({"type": "json_object"}),
        LlamaCppGrammar => Value::from(grammar(schema)?),
        _ => value(way, schema.clone(), is_strict(schema)),
    };
    Some((field(way), value))
}

/// The methods that make sense at a provider, best first.
fn usual_methods(provider: Provider) -> &'static [Constrained] {
    match provider {
        // Its server treats the schema alike whatever the method.
        Provider::Local => &[LlamaCppSchema],
        Provider::LlamaCpp => &[LlamaCppSchema, ResponseFormat, LlamaCppGrammar, JsonObject],
        Provider::Vllm => &[ResponseFormat, StructuredOutputs, GuidedJson, JsonObject],
        Provider::Ollama => &[ResponseFormat, OllamaFormat, JsonObject],
        _ => &[ResponseFormat, JsonObject],
    }
}

/// The connection's own method, then the provider's others.
pub(crate) fn methods(connection: &Connection) -> Vec<Constrained> {
    let own = connection.capabilities.constrained;
    let others = usual_methods(connection.provider).iter().copied().filter(|way| Some(*way) != own);
    own.into_iter().chain(others).collect()
}

pub(crate) fn field(way: Constrained) -> &'static str {
    match way {
        ResponseFormat | JsonObject => "response_format",
        LlamaCppSchema => "json_schema",
        LlamaCppGrammar => "grammar",
        OllamaFormat => "format",
        StructuredOutputs => "structured_outputs",
        GuidedJson => "guided_json",
    }
}

pub(crate) fn value(way: Constrained, schema: Value, strict: bool) -> Value {
    match way {
        ResponseFormat => json!({
            "type": "json_schema",
            "json_schema": {"name": "output", "schema": schema, "strict": strict},
        }),
        StructuredOutputs => json!({"json": schema}),
        _ => schema,
    }
}

/// The method of a request that was sent, and its schema; null if the method has none.
fn method_of_request(sent: &Value) -> Option<(Constrained, &Value)> {
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

/// The schema as a llama.cpp grammar, made by llama.cpp's own code, which may not be in this build.
#[cfg(feature = "local-model")]
pub(crate) fn grammar(schema: &Value) -> Option<String> {
    steward_core::schema::check(schema).ok()?;
    llama_cpp_2::json_schema_to_grammar(&schema.to_string()).ok()
}

#[cfg(not(feature = "local-model"))]
pub(crate) fn grammar(_schema: &Value) -> Option<String> {
    None
}

/// Whether OpenAI accepts `strict`: every object closed, every property required.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let closed = match map.get("properties") {
                Some(Value::Object(properties)) => {
                    let required = map.get("required").and_then(Value::as_array);
                    map.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties
                            .keys()
                            .all(|name| required.is_some_and(|list| list.iter().any(|item| item == name)))
                }
                _ => map.get("type").and_then(Value::as_str) != Some("object"),
            };
            closed && map.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
