//! Which methods of constraining output work, tried with a schema whose only answers nobody would give unasked.

use super::CheckResult;
use super::findings::{Findings, Score};
use super::questions::QUESTIONS;
use super::rules::{object_in, without_reasoning};
use super::session::{ExamSession, NoReply, schema_request};
use crate::openai::{Outgoing, all_methods, constraint, field};
use serde_json::{Value, json};
use steward_core::message::Message;
use steward_core::model::{Connection, Constrained, ModelErrorClass, Provider, Wire};

enum Tried {
    Obeyed,
    /// It answered as if nothing had been asked for.
    Ignored,
    Refused(String),
}

pub(super) async fn check(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    if has_own_wire(session) {
        return through_its_wire(session, found).await;
    }
    let all = all_methods(&session.connection);
    let mut working = Vec::new();
    let mut words = Vec::new();
    for way in all {
        // Steward makes grammars itself; needed only if the server can't make them from a schema.
        let needless = way == Constrained::LlamaCppGrammar && !working.is_empty();
        if needless || session.over().is_some() {
            continue;
        }
        match try_way(session, way).await? {
            Tried::Obeyed => {
                working.push(way);
                words.push(format!("{} works", name(way)));
            }
            Tried::Ignored => words.push(format!("{} is ignored", name(way))),
            Tried::Refused(why) => words.push(format!("{} is refused ({why})", name(way))),
        }
    }
    // JSON without a schema is a last resort.
    let by_schema = working.iter().any(|way| *way != Constrained::JsonObject);
    let points = if by_schema { 2 } else { u32::from(!working.is_empty()) };
    found.constrained = Some(working);
    Ok((Score::new(points, 2), words.join("; ")))
}

/// For people.
pub(super) fn name(way: Constrained) -> &'static str {
    if way == Constrained::JsonObject { "json_object" } else { field(way) }
}

fn has_own_wire(session: &ExamSession<'_>) -> bool {
    let connection = &session.connection;
    match connection.wire {
        Some(Wire::Chat) => false,
        Some(Wire::Responses | Wire::Native) => connection.provider != Provider::Ollama,
        None => connection.provider.has_native_wire(),
    }
}

fn odd_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": QUESTIONS.constrained.allowed}},
        "required": ["answer"],
        "additionalProperties": false,
    })
}

fn is_odd(text: &str) -> bool {
    let answer = object_in(without_reasoning(text));
    let answer = answer.as_ref().and_then(|object| object["answer"].as_str());
    answer.is_some_and(|answer| QUESTIONS.constrained.allowed.iter().any(|odd| odd == answer))
}

async fn through_its_wire(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let request = schema_request(odd_schema(), vec![Message::user(&QUESTIONS.constrained.ask)], 80);
    let reply = session.ask(request).await?;
    let obeyed = is_odd(&reply.text);
    found.schema_obeyed = Some(obeyed);
    let detail = if obeyed {
        "it writes what a schema says".to_owned()
    } else {
        format!("a schema is ignored: {}", reply.answer())
    };
    Ok((Score::new(if obeyed { 2 } else { 0 }, 2), detail))
}

/// Sends the field directly, without the client's fallbacks.
async fn try_way(session: &ExamSession<'_>, way: Constrained) -> Result<Tried, NoReply> {
    let connection = &session.connection;
    let any_object = way == Constrained::JsonObject;
    let ask = if any_object { &QUESTIONS.constrained.json_ask } else { &QUESTIONS.constrained.ask };
    let Some((field, value)) = constraint(way, &odd_schema()) else {
        return Ok(Tried::Refused("not in this build".to_owned()));
    };
    let mut body = json!({
        "model": connection.model,
        "messages": [{"role": "user", "content": ask}],
        "stream": false,
    });
    body[field] = value;
    let outgoing = if way == Constrained::OllamaFormat {
        body["options"] = json!({"num_predict": session.longest(80), "temperature": 0});
        Outgoing::post_native("api/chat".to_owned(), &body)
    } else {
        body[max_tokens_field(connection)] = json!(session.longest(80));
        Outgoing::post("chat/completions", &body)
    };
    let text = match raw(session, &outgoing).await {
        Ok(answer) => content(&answer),
        Err(NoReply::Failed(error)) if matches!(error.class, ModelErrorClass::BadRequest | ModelErrorClass::Server) => {
            return Ok(Tried::Refused(error.detail.unwrap_or(error.message)));
        }
        // Only one of the methods failed.
        Err(NoReply::Failed(error)) if error.class == ModelErrorClass::Timeout => {
            return Ok(Tried::Refused("no answer in time".to_owned()));
        }
        Err(no_reply) => return Err(no_reply),
    };
    let obeyed = if any_object {
        let text = without_reasoning(&text).trim();
        text.starts_with('{') && object_in(text).is_some()
    } else {
        is_odd(&text)
    };
    Ok(if obeyed { Tried::Obeyed } else { Tried::Ignored })
}

pub(super) fn max_tokens_field(connection: &Connection) -> &'static str {
    match connection.provider {
        Provider::OpenAi | Provider::AzureOpenAi => "max_completion_tokens",
        _ => "max_tokens",
    }
}

/// Sends a request as it is and counts its tokens.
pub(super) async fn raw(session: &ExamSession<'_>, outgoing: &Outgoing) -> Result<Value, NoReply> {
    let Some(left) = session.left() else {
        return Err(NoReply::Over("time was up"));
    };
    let limits = session.client.limits_of(left, 0);
    let sent = session.client.send_for_json(&session.connection, outgoing, &limits).await;
    let (_, answer) = sent.map_err(NoReply::Failed)?;
    let count = |path: &str| answer.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    session.seen().tokens += count("/usage/total_tokens") + count("/prompt_eval_count") + count("/eval_count");
    Ok(answer)
}

/// The text of an answer of the OpenAI dialect or of Ollama.
pub(super) fn content(answer: &Value) -> String {
    ["/choices/0/message/content", "/message/content"]
        .iter()
        .find_map(|path| answer.pointer(path)?.as_str())
        .unwrap_or_default()
        .to_owned()
}
