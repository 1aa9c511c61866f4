//! The prompt as alternating turns for Anthropic, Gemini and Bedrock: system apart, tool results on the user's side.

use super::Untranslatable;
use crate::openai::{ReplyState, any};
use serde_json::{Value, json};
use std::collections::HashSet;
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

/// Without tools in the request, calls become text, since providers refuse calls of tools that were not offered. In a turn the
/// results of calls come first: providers refuse a result behind anything else.
pub(super) fn turns(request: &ModelRequest) -> Vec<Turn<'_>> {
    let mut calls = CallIds { in_words: request.tools.is_empty(), ..CallIds::default() };
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in &request.messages {
        let parts = calls.parts(message);
        if parts.is_empty() {
            continue;
        }
        let by_model = message.role == Role::Assistant;
        match turns.last_mut() {
            Some(last) if last.by_model == by_model => last.parts.extend(parts),
            _ => turns.push(Turn { by_model, parts }),
        }
    }
    for turn in turns.iter_mut().filter(|turn| !turn.by_model) {
        turn.parts.sort_by_key(|part| !matches!(part, Part::Result { .. }));
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

/// Gives each call an id of its own. Some servers number the calls of each reply from 0, and ids may become alike in the
/// characters that every provider takes.
#[derive(Default)]
struct CallIds<'a> {
    in_words: bool,
    /// Calls without a result so far: the given id, the one that is sent, and the tool.
    open: Vec<(&'a str, String, &'a str)>,
    sent: HashSet<String>,
}

impl<'a> CallIds<'a> {
    fn parts(&mut self, message: &'a Message) -> Vec<Part<'a>> {
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
                    let id = self.begin(call);
                    if self.in_words {
                        return Part::Text(format!("Called {} with {}", call.name, call.arguments));
                    }
                    Part::Call { id, call }
                });
                text().into_iter().chain(calls).collect()
            }
            Role::Tool => {
                let (id, name) = self.end(message.tool_call_id.as_deref().unwrap_or_default());
                if self.in_words {
                    return vec![Part::Text(format!("Result of {name}: {}", message.text))];
                }
                vec![Part::Result { id, name, message }]
            }
        }
    }

    fn begin(&mut self, call: &'a ToolCall) -> String {
        let plain = plain(&call.id);
        let mut sent = plain.clone();
        for number in 2_usize.. {
            if self.sent.insert(sent.clone()) {
                break;
            }
            let end = format!("_{number}");
            sent = format!("{}{end}", &plain[..plain.len().min(LONGEST_ID - end.len())]);
        }
        self.open.push((&call.id, sent.clone(), &call.name));
        sent
    }

    /// A result belongs to the first call of its id that has none.
    fn end(&mut self, given: &str) -> (String, &'a str) {
        match self.open.iter().position(|(id, ..)| *id == given) {
            Some(at) => {
                let (_, sent, name) = self.open.remove(at);
                (sent, name)
            }
            None => (plain(given), "tool"),
        }
    }
}

/// Longest id that every provider takes.
const LONGEST_ID: usize = 64;

/// An id in the characters that every provider takes.
fn plain(id: &str) -> String {
    let letters = id.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') => c,
        _ => '_',
    });
    letters.take(LONGEST_ID).collect()
}

/// The tool of the last call of this id.
pub(super) fn name_of<'a>(id: &str, before: &'a [Message]) -> &'a str {
    let mut calls = before.iter().rev().flat_map(|message| &message.tool_calls);
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
    /// Earlier calls are of the tools, which may not be called now.
    None,
}

/// Under a schema, [`OUTPUT`] is a tool among the others, one of which has to be called. Only an object's schema can be a
/// tool's.
pub(super) fn offer(
    request: &ModelRequest,
    can_follow_schema: bool,
    form: impl Fn(&str, &str, &Value) -> Value,
) -> Result<Offer<'_>, Untranslatable> {
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|spec| form(&spec.name, &spec.description, &schema::as_tool_input(&spec.parameters)))
        .collect();
    let wanted = request.schema.as_ref().filter(|_| can_follow_schema).map(schema::flattened);
    let schema = wanted.as_ref().filter(|schema| schema["type"] == "object");
    if request.options.exact && wanted.is_some() && schema.is_none() {
        return Err(Untranslatable::new("a `response_format` whose schema is not that of an object"));
    }
    let mut choice = match &request.options.tool_choice {
        _ if tools.is_empty() => Choice::Auto,
        ToolChoice::Auto => Choice::Auto,
        ToolChoice::None => Choice::None,
        ToolChoice::Required => Choice::Any,
        ToolChoice::Named(name) => Choice::One(name),
    };
    // Beside tools only where a program asked for both.
    let alone = tools.is_empty() || choice == Choice::None;
    let beside = alone || request.options.exact;
    let for_output = schema.filter(|_| beside && matches!(choice, Choice::Auto | Choice::None));
    if let Some(schema) = for_output {
        choice = if alone { Choice::One(OUTPUT) } else { Choice::Any };
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

    fn call(id: &str, name: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: json!({}),
            source: CallSource::Intent,
            confidence: 1.0,
            signature: None,
        }
    }

    /// What is sent of each call and result: its id and the tool, and texts, one list a turn.
    fn sent(messages: Vec<Message>) -> Vec<Vec<String>> {
        let tool = |name: &str| steward_core::tool::ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({"type": "object"}).into(),
            effect: steward_core::tool::EffectClass::Read,
            risk: steward_core::policy::RiskClass::Read,
            sends_out: false,
            utterances: std::sync::Arc::default(),
            result_limit: 9,
            skill: None,
        };
        let asked = ModelRequest { tools: vec![tool("look"), tool("read")], ..request(messages) };
        let shown = |part: &Part<'_>| match part {
            Part::Call { id, call } => format!("{id}:{}", call.name),
            Part::Result { id, name, .. } => format!("{id}={name}"),
            Part::Text(text) => text.clone(),
            Part::Picture(_) => String::new(),
        };
        turns(&asked).iter().map(|turn| turn.parts.iter().map(shown).collect()).collect()
    }

    #[test]
    fn ids_of_others_are_made_plain_on_both_sides() {
        let made = Message::assistant("").with_calls(vec![call("intent:1/ü", "look")]);
        let told = sent(vec![Message::user("a"), made, Message::tool("intent:1/ü", "seen")]);
        assert_eq!(told, [vec!["a"], vec!["intent_1__:look"], vec!["intent_1__=look"]]);
    }

    #[test]
    fn each_call_has_an_id_of_its_own() {
        let long = |end: &str| format!("{}{end}", "x".repeat(70));
        let step = |calls: &[(&str, &str)]| {
            let made = calls.iter().map(|(id, name)| call(id, name)).collect();
            let results = calls.iter().map(|(id, _)| Message::tool(*id, "seen"));
            [Message::assistant("").with_calls(made)].into_iter().chain(results).collect::<Vec<_>>()
        };
        let two_turns = [step(&[("call_0", "look")]), step(&[("call_0", "read")])].concat();
        assert_eq!(
            sent(two_turns)[1..],
            [vec!["call_0:look"], vec!["call_0=look"], vec!["call_0_2:read"], vec!["call_0_2=read"]]
        );
        for (one, other) in
            [("a.1".to_owned(), "a:1".to_owned()), (long("1"), long("2")), ("c".to_owned(), "c".to_owned())]
        {
            let told = sent(step(&[(&one, "look"), (&other, "read")]));
            let id = |part: &str| part.split([':', '=']).next().unwrap_or_default().to_owned();
            assert_ne!(id(&told[1][0]), id(&told[1][1]), "{told:?}");
            assert!(told[1].iter().all(|part| id(part).len() <= 64));
            assert_eq!(told[2], told[1].iter().map(|part| part.replace(':', "=")).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_come_before_what_the_user_says() {
        let made = Message::assistant("").with_calls(vec![call("a1", "look"), call("a2", "read")]);
        let told = sent(vec![made, Message::tool("a1", "x"), Message::user("Wait."), Message::tool("a2", "y")]);
        assert_eq!(told[2], ["a1=look", "a2=read", "Wait."]);
    }
}
