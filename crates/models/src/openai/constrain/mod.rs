//! Constrained output in each server's own way, and what is done where a server refuses a
//! schema: that schema goes another way, and at last none; the other schemas stay as they are.

mod branches;
mod lessons;
mod refusal;
#[cfg(test)]
mod tests;
mod ways;

pub(super) use lessons::Lessons;

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use steward_core::model::{Connection, Constrained, ModelRequest, Provider};

use super::strict::is_strict;

/// Adds what constrains the output to `schema`, so far as the endpoint is known to take it.
pub(super) fn apply(body: &mut Map<String, Value>, connection: &Connection, schema: &Value, lessons: &Lessons) {
    for way in ways::ladder(connection) {
        if let Some((field, value)) = form(way, schema, lessons, body) {
            body.insert(field.to_owned(), value);
            return;
        }
    }
}

/// The field for `way` and its value; `None` where the endpoint does not take this schema so.
fn form(
    way: Constrained,
    schema: &Value,
    lessons: &Lessons,
    body: &Map<String, Value>,
) -> Option<(&'static str, Value)> {
    let field = ways::field(way);
    match way {
        Constrained::JsonObject => {
            // OpenAI and others refuse it where no message speaks of JSON.
            let fits = schema["type"] == "object" && speaks_of_json(&body["messages"]);
            let refused = lessons.refuses(lessons::key(way, &Value::Null));
            (fits && !refused).then(|| (field, json!({"type": "json_object"})))
        }
        Constrained::LlamaCppGrammar => {
            let grammar = Value::from(ways::grammar(schema)?);
            let refused = lessons.refuses(lessons::key(way, &grammar));
            (!refused).then_some((field, grammar))
        }
        _ => {
            let key = lessons::key(way, &branches::skeleton(schema));
            if lessons.refuses(key) {
                return None;
            }
            let sent = branches::opened(schema, &lessons.opens(way, schema));
            // Strictness is about objects; OpenAI takes no other root.
            let closed = sent["type"] == "object" && is_strict(&sent);
            let strict = closed && !lessons.refuses_strict(key);
            Some((field, ways::value(way, sent, strict)))
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
    lessons: &Lessons,
) -> Cow<'a, ModelRequest> {
    let way = Constrained::OllamaFormat;
    let Some(schema) =
        request.schema.as_ref().filter(|_| connection.provider == Provider::Ollama && !lessons.is_empty())
    else {
        return Cow::Borrowed(request);
    };
    let refused = lessons.refuses(lessons::key(way, &branches::skeleton(schema)));
    let schema = (!refused).then(|| branches::opened(schema, &lessons.opens(way, schema)));
    Cow::Owned(ModelRequest { schema, ..request.clone() })
}

/// The ways worth trying at a connection, best first, whatever was learned.
pub(crate) fn all_ways(connection: &Connection) -> Vec<Constrained> {
    let mut ways = ways::usual(connection.provider).to_vec();
    if connection.provider == Provider::Compatible {
        // Any server may stand behind it.
        let more = [Constrained::LlamaCppSchema, Constrained::StructuredOutputs, Constrained::GuidedJson];
        let last = ways.len().saturating_sub(1);
        ways.splice(last..last, more);
    }
    ways
}

/// The field that asks for `schema` in one way, and its value; `None` where this build can't write it.
pub(crate) fn constraint(way: Constrained, schema: &Value) -> Option<(&'static str, Value)> {
    let value = match way {
        Constrained::JsonObject => json!({"type": "json_object"}),
        Constrained::LlamaCppGrammar => Value::from(ways::grammar(schema)?),
        _ => ways::value(way, schema.clone(), is_strict(schema)),
    };
    Some((ways::field(way), value))
}
