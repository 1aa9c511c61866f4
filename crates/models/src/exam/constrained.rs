//! Which ways of constraining output work. Each is tried with a schema that allows only answers which
//! nobody would give by himself, so that a server that ignores the field is told from one that obeys.

use serde_json::{Value, json};
use steward_core::message::Message;
use steward_core::model::{Constrained, ModelErrorClass, Provider, Wire};

use super::desk::{Desk, Silence, under};
use super::examine::Mark;
use super::findings::{Findings, Score};
use super::judge::{object_in, visible};
use super::questions::BOOK;
use crate::openai::{Limits, Outgoing, Timeouts, all_ways, constraint, json_bytes};

/// What came of one way.
enum Tried {
    Obeyed,
    /// It answered as if nothing had been asked for.
    Ignored,
    Refused(String),
}

pub(super) async fn check(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    if has_own_wire(desk) {
        return through_its_wire(desk, found).await;
    }
    let all = all_ways(&desk.connection);
    let mut working = Vec::new();
    let mut words = Vec::new();
    for way in all {
        // Grammars are made here, from the schema: only where the server can't do that itself.
        let needless = way == Constrained::LlamaCppGrammar && !working.is_empty();
        if needless || desk.over().is_some() {
            continue;
        }
        match try_way(desk, way).await? {
            Tried::Obeyed => {
                working.push(way);
                words.push(format!("{} works", name(way)));
            }
            Tried::Ignored => words.push(format!("{} is ignored", name(way))),
            Tried::Refused(why) => words.push(format!("{} is refused ({why})", name(way))),
        }
    }
    // Any object at all is a last resort, never better than a schema.
    let by_schema = working.iter().any(|way| *way != Constrained::JsonObject);
    let points = if by_schema { 2 } else { u32::from(!working.is_empty()) };
    found.constrained = Some(working);
    Ok((Score::new(points, 2), words.join("; ")))
}

/// As people know it.
pub(super) fn name(way: Constrained) -> &'static str {
    match way {
        Constrained::ResponseFormat => "response_format",
        Constrained::LlamaCppSchema => "json_schema",
        Constrained::LlamaCppGrammar => "grammar",
        Constrained::OllamaFormat => "format",
        Constrained::StructuredOutputs => "structured_outputs",
        Constrained::GuidedJson => "guided_json",
        Constrained::JsonObject => "json_object",
    }
}

fn has_own_wire(desk: &Desk<'_>) -> bool {
    let connection = &desk.connection;
    match connection.wire {
        Some(Wire::Chat) => false,
        Some(Wire::Responses | Wire::Native) => connection.provider != Provider::Ollama,
        None => {
            matches!(connection.provider, Provider::Anthropic | Provider::Gemini | Provider::Cohere | Provider::Bedrock)
        }
    }
}

/// A schema that allows nothing anybody would say.
fn odd_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": BOOK.constrained.allowed}},
        "required": ["answer"],
        "additionalProperties": false,
    })
}

fn is_odd(text: &str) -> bool {
    let answer = object_in(visible(text));
    let answer = answer.as_ref().and_then(|object| object["answer"].as_str());
    answer.is_some_and(|answer| BOOK.constrained.allowed.iter().any(|odd| odd == answer))
}

async fn through_its_wire(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let request = under(odd_schema(), vec![Message::user(&BOOK.constrained.ask)], 80);
    let heard = desk.ask(request).await?;
    let obeyed = is_odd(&heard.text);
    found.schema_obeyed = Some(obeyed);
    let detail = if obeyed {
        "it writes what a schema says".to_owned()
    } else {
        format!("a schema is ignored: {}", heard.answer())
    };
    Ok((Score::new(if obeyed { 2 } else { 0 }, 2), detail))
}

/// Sends the field itself, past the client's own ways around a refusal.
async fn try_way(desk: &Desk<'_>, way: Constrained) -> Result<Tried, Silence> {
    let connection = &desk.connection;
    let any_object = way == Constrained::JsonObject;
    let ask = if any_object { &BOOK.constrained.json_ask } else { &BOOK.constrained.ask };
    let Some((field, value)) = constraint(way, &odd_schema()) else {
        return Ok(Tried::Refused("not in this build".to_owned()));
    };
    let limit = match connection.provider {
        Provider::OpenAi | Provider::AzureOpenAi => "max_completion_tokens",
        _ => "max_tokens",
    };
    let mut body = json!({
        "model": connection.model,
        "messages": [{"role": "user", "content": ask}],
        "stream": false,
    });
    body[field] = value;
    let outgoing = if way == Constrained::OllamaFormat {
        body["options"] = json!({"num_predict": desk.longest(80), "temperature": 0});
        Outgoing::post_native("api/chat".to_owned(), json_bytes(&body))
    } else {
        body[limit] = json!(desk.longest(80));
        Outgoing::post("chat/completions", json_bytes(&body))
    };
    let text = match raw(desk, &outgoing).await {
        Ok(answer) => content(&answer),
        Err(Silence::Failed(error)) if matches!(error.class, ModelErrorClass::BadRequest | ModelErrorClass::Server) => {
            return Ok(Tried::Refused(error.detail.unwrap_or(error.message)));
        }
        // Only one of the ways is at stake.
        Err(Silence::Failed(error)) if error.class == ModelErrorClass::Timeout => {
            return Ok(Tried::Refused("no answer in time".to_owned()));
        }
        Err(silence) => return Err(silence),
    };
    let obeyed = if any_object {
        let text = visible(&text).trim();
        text.starts_with('{') && object_in(text).is_some()
    } else {
        is_odd(&text)
    };
    Ok(if obeyed { Tried::Obeyed } else { Tried::Ignored })
}

/// One request as it is; its tokens are counted.
pub(super) async fn raw(desk: &Desk<'_>, outgoing: &Outgoing) -> Result<Value, Silence> {
    let Some(left) = desk.left() else {
        return Err(Silence::Over("time was up"));
    };
    let limits = Limits::new(left, 0, Timeouts::default());
    let ask = async {
        let sent = desk.client.send(&desk.connection, outgoing, &limits).await?;
        desk.client.json(sent, &limits).await
    };
    let (_, answer) = ask.await.map_err(Silence::Failed)?;
    let count = |path: &str| answer.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    desk.spend(count("/usage/total_tokens") + count("/prompt_eval_count") + count("/eval_count"));
    Ok(answer)
}

/// The text of an answer of the dialect or of Ollama.
pub(super) fn content(answer: &Value) -> String {
    ["/choices/0/message/content", "/message/content"]
        .iter()
        .find_map(|path| answer.pointer(path)?.as_str())
        .unwrap_or_default()
        .to_owned()
}
