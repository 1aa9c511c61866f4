//! The prompt as alternating turns for Anthropic, Gemini and Bedrock: system apart, tool results on the user's side.

use super::Untranslatable;
use crate::openai::{ReplyState, any};
use serde_json::{Value, json};
use steward_core::message::{Message, PictureSource, Piece, Role};
use steward_core::model::{ModelRequest, ToolChoice};
use steward_core::schema;
use steward_core::tool::ToolCall;

/// What stands before a conversation that the model begins.
const OPENING: &str = "Begin.";

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part<'a> {
    Text(String),
    Picture(&'a PictureSource),
    Call { id: String, call: &'a ToolCall },
    Result { id: String, name: &'a str, message: &'a Message },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn<'a> {
    pub by_model: bool,
    pub parts: Vec<Part<'a>>,
}

pub(super) fn system(request: &ModelRequest) -> Vec<&str> {
    let messages = request.messages.iter();
    let system = messages.filter(|message| message.role == Role::System);
    system.map(|message| message.text.trim()).filter(|text| !text.is_empty()).collect()
}

/// Without tools in the request, calls become text, since providers refuse calls of tools that were not offered.
pub(super) fn turns(request: &ModelRequest) -> Vec<Turn<'_>> {
    let in_words = request.tools.is_empty();
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in &request.messages {
        let parts = parts(message, &request.messages, in_words);
        if parts.is_empty() {
            continue;
        }
        let by_model = message.role == Role::Assistant;
        match turns.last_mut() {
            Some(last) if last.by_model == by_model => last.parts.extend(parts),
            _ => turns.push(Turn { by_model, parts }),
        }
    }
    if turns.first().is_some_and(|first| first.by_model) {
        // The first turn has to be the user's.
        turns.insert(0, Turn { by_model: false, parts: vec![Part::Text(OPENING.to_owned())] });
    }
    // Trailing blanks of the model's last turn are refused.
    if let Some(Turn { by_model: true, parts }) = turns.last_mut()
        && let Some(Part::Text(text)) = parts.last_mut()
    {
        text.truncate(text.trim_end().len());
    }
    turns
}

/// As Anthropic and Bedrock take it, each in its own form of the parts.
pub(super) fn message(turn: &Turn<'_>, part: impl Fn(&Part<'_>) -> Value) -> Value {
    let role = if turn.by_model { "assistant" } else { "user" };
    let content: Vec<Value> = turn.parts.iter().map(part).collect();
    json!({"role": role, "content": content})
}

fn parts<'a>(message: &'a Message, all: &'a [Message], in_words: bool) -> Vec<Part<'a>> {
    let text = || (!message.text.trim().is_empty()).then(|| Part::Text(message.text.clone()));
    match message.role {
        Role::System => Vec::new(),
        Role::User => {
            let pieces = message.pieces().into_iter();
            let parts = pieces.map(|piece| match piece {
                Piece::Text(text) => Part::Text(text.to_owned()),
                Piece::Picture(source) => Part::Picture(source),
            });
            parts.filter(|part| !matches!(part, Part::Text(text) if text.trim().is_empty())).collect()
        }
        Role::Assistant => {
            let calls = message.tool_calls.iter().map(|call| {
                if in_words {
                    return Part::Text(format!("Called {} with {}", call.name, call.arguments));
                }
                let id = plain(&call.id);
                Part::Call { id, call }
            });
            text().into_iter().chain(calls).collect()
        }
        Role::Tool => {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            let name = name_of(id, all);
            if in_words {
                return vec![Part::Text(format!("Result of {name}: {}", message.text))];
            }
            vec![Part::Result { id: plain(id), name, message }]
        }
    }
}

/// An id in the characters that every provider takes.
fn plain(id: &str) -> String {
    let letters = id.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') => c,
        _ => '_',
    });
    letters.take(64).collect()
}

pub(super) fn name_of<'a>(id: &str, all: &'a [Message]) -> &'a str {
    let mut calls = all.iter().flat_map(|message| &message.tool_calls);
    calls.find(|call| call.id == id).map_or("tool", |call| call.name.as_str())
}

/// Arguments have to be an object.
pub(super) fn object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        _ => json!({}),
    }
}

/// The tool that makes a model without output schemas follow one.
pub(super) const OUTPUT: &str = "give_output";

/// A call whose arguments follow at the wire's index `at`, or the output.
pub(super) fn begin_call(state: &mut ReplyState, at: Option<u64>, id: Option<String>, name: Option<String>) {
    let is_output = name.as_deref() == Some(OUTPUT);
    let index = (!is_output).then(|| state.push_call(id, name, String::new()));
    state.open_call(at, index);
}

/// Why it ended, in the dialect's word for a stop reason of Anthropic or Bedrock.
pub(super) fn finish(state: &mut ReplyState, reason: &str) {
    let word = match reason {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" if state.has_only_output() => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "refusal" | "content_filtered" | "guardrail_intervened" => "content_filter",
        other => other,
    };
    state.finish = Some(word.to_owned());
}

/// The tools on offer, each in the provider's form, and which of them the reply has to call.
pub(super) struct Offer<'a> {
    pub tools: Option<Vec<Value>>,
    pub choice: Choice<'a>,
    /// [`OUTPUT`] is among them.
    pub for_output: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    Auto,
    Any,
    One(&'a str),
}

/// Under a schema, [`OUTPUT`] is a tool among the others, one of which has to be called. Only an object's schema can be a
/// tool's.
pub(super) fn offer(
    request: &ModelRequest,
    can_follow_schema: bool,
    form: impl Fn(&str, &str, &Value) -> Value,
) -> Result<Offer<'_>, Untranslatable> {
    let mut tools: Vec<Value> =
        request.tools.iter().map(|spec| form(&spec.name, &spec.description, &spec.parameters)).collect();
    let wanted = request.schema.as_ref().filter(|_| can_follow_schema).map(schema::flattened);
    let schema = wanted.as_ref().filter(|schema| schema["type"] == "object");
    if request.options.exact && wanted.is_some() && schema.is_none() {
        return Err(Untranslatable::new("a `response_format` whose schema is not that of an object"));
    }
    let mut choice = match &request.options.tool_choice {
        _ if tools.is_empty() => Choice::Auto,
        ToolChoice::Auto => Choice::Auto,
        ToolChoice::Required => Choice::Any,
        ToolChoice::Named(name) => Choice::One(name),
    };
    // Beside tools only where a program asked for both.
    let beside = tools.is_empty() || request.options.exact;
    let for_output = schema.filter(|_| beside && choice == Choice::Auto);
    if let Some(schema) = for_output {
        choice = if tools.is_empty() { Choice::One(OUTPUT) } else { Choice::Any };
        tools.push(form(OUTPUT, "Give the output in this form.", schema));
    }
    Ok(Offer { for_output: for_output.is_some(), tools: any(tools), choice })
}

#[cfg(test)]
mod tests {
    use super::*;
    use steward_core::model::RequestOptions;
    use steward_core::tool::CallSource;

    fn request(messages: Vec<Message>) -> ModelRequest {
        ModelRequest {
            messages,
            tools: vec![],
            schema: None,
            temperature: Some(0.0),
            max_tokens: Some(9),
            stop: vec![],
            seed: None,
            timeout_ms: 9,
            options: RequestOptions::default(),
        }
    }

    #[test]
    fn equal_sides_are_joined_and_blanks_left_out() {
        let asked = request(vec![
            Message::system(" Be brief. "),
            Message::user("a"),
            Message::user(" "),
            Message::user("b"),
            Message::assistant("c \n"),
        ]);
        assert_eq!(system(&asked), ["Be brief."]);
        let said: Vec<(bool, usize)> = turns(&asked).iter().map(|turn| (turn.by_model, turn.parts.len())).collect();
        assert_eq!(said, [(false, 2), (true, 1)]);
        assert_eq!(turns(&asked)[1].parts, [Part::Text("c".to_owned())], "no blanks at the end");
    }

    #[test]
    fn ids_of_others_are_made_plain_on_both_sides() {
        let call = ToolCall {
            id: "intent:1/ü".to_owned(),
            name: "look".to_owned(),
            arguments: json!({}),
            source: CallSource::Intent,
            confidence: 1.0,
            signature: None,
        };
        let made = Message::assistant("").with_calls(vec![call]);
        let asked = request(vec![made, Message::tool("intent:1/ü", "seen")]);
        let all = parts(&asked.messages[1], &asked.messages, false);
        let (id, name, message) = ("intent_1__".to_owned(), "look", &asked.messages[1]);
        assert_eq!(all, [Part::Result { id: id.clone(), name, message }]);
        let first = parts(&asked.messages[0], &asked.messages, false);
        assert!(matches!(&first[..], [Part::Call { id: other, .. }] if *other == id));
    }
}
