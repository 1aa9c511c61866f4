//! Reads the chunks of a model's reply, whatever the strategy.

use super::grammar::{Chain, Dialects, Found, Grammar, Shell, UnopenedThought};
use super::native::Native;
use super::out::{BrokenCall, Out, Parsed, Sink};
use super::tool_index::ToolIndex;
use super::{fit, fuzzy};
use crate::grammar::guided::Guided;
use crate::grammar::react::React;
use steward_core::model::{ModelChunk, Strategy};
use steward_core::tool::{CallSource, ToolCall};

/// Confidence of a call in reasoning text.
const REASONING_CONFIDENCE: f32 = 0.3;

/// The form in which calls are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    Native,
    GuidedJson,
    /// `Action:` / `Action Input:`.
    React,
    /// `[TOOL:…]`.
    Markers,
    /// Phrases that imply a call.
    Fuzzy,
}

impl From<Strategy> for Form {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Native => Self::Native,
            Strategy::GuidedJson => Self::GuidedJson,
            Strategy::React => Self::React,
            Strategy::Markers => Self::Markers,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub form: Form,
    /// The models' own forms that are understood, too.
    pub dialects: Dialects,
    /// Whether the other forms are looked for, too, down to phrases.
    pub cascade: bool,
    /// Whether the prompt has opened the reasoning (templates that end with `<think>`).
    pub in_thought: bool,
}

impl Reading {
    /// This form and nothing else.
    pub fn strict(form: impl Into<Form>) -> Self {
        Self { form: form.into(), dialects: Dialects::None, cascade: false, in_thought: false }
    }

    /// Whatever a model may write that was asked for `form`.
    pub fn any(form: impl Into<Form>) -> Self {
        Self { dialects: Dialects::All, cascade: true, ..Self::strict(form) }
    }
}

pub struct StreamParser {
    reading: Reading,
    tools: ToolIndex,
    id_prefix: String,
    sink: Sink,
    native: Native,
    grammar: Box<dyn Grammar>,
    /// The content and the reasoning field as they came.
    content: String,
    reasoning: String,
    /// Whether the prompt has opened the reasoning, as nobody knew before.
    unopened: UnopenedThought,
    taken_back: bool,
    cut: bool,
}

impl StreamParser {
    /// Reads a reply in the form of `strategy` only. A call without an id of the provider gets the id
    /// `<id_prefix><n>`, so each reply of a run needs its own prefix.
    pub fn new(strategy: Strategy, tools: &ToolIndex, id_prefix: &str) -> Self {
        Self::with(Reading::strict(strategy), tools, id_prefix)
    }

    pub fn with(reading: Reading, tools: &ToolIndex, id_prefix: &str) -> Self {
        Self {
            reading,
            tools: tools.clone(),
            id_prefix: id_prefix.to_owned(),
            // A model that is read strictly is not tidied up.
            sink: Sink::new(reading.dialects == Dialects::Opening),
            native: Native::default(),
            grammar: grammar(reading, tools),
            content: String::new(),
            reasoning: String::new(),
            unopened: UnopenedThought::default(),
            taken_back: false,
            cut: false,
        }
    }

    pub fn push(&mut self, chunk: &ModelChunk) -> Vec<Out> {
        match chunk {
            ModelChunk::Text(text) => {
                self.content.push_str(text);
                if self.may_be_thought() && self.unopened.has_ended(&self.content) {
                    self.begin_again();
                    return [vec![Out::Retracted], self.sink.take()].concat();
                }
                self.grammar.push(text, &mut self.sink);
            }
            ModelChunk::Reasoning(text) => {
                self.reasoning.push_str(text);
                self.sink.reasoning(text);
            }
            ModelChunk::ToolCall { index, id, name, arguments } => {
                self.native.push((*index, id.as_deref(), name.as_deref()), arguments, &self.tools, &mut self.sink);
            }
            ModelChunk::Signature { index, signature } => self.native.sign(*index, signature),
            ModelChunk::End { finish, .. } => {
                self.cut = matches!(finish.as_str(), "length" | "max_tokens");
            }
        }
        self.sink.take()
    }

    /// Whether the text that was passed on may turn out to be reasoning, and be retracted.
    pub fn may_be_thought(&self) -> bool {
        let tidied = self.reading.dialects != Dialects::None && !self.reading.in_thought;
        tidied && !self.unopened.is_ruled_out() && self.reasoning.trim_start().is_empty()
    }

    /// Reads the content as one that begins in reasoning.
    fn begin_again(&mut self) {
        self.reading.in_thought = true;
        self.taken_back = true;
        self.sink = Sink::new(self.reading.dialects == Dialects::Opening);
        self.grammar = grammar(self.reading, &self.tools);
        self.grammar.push(&self.content, &mut self.sink);
    }

    /// The whole reply. Reasoning text is searched for calls only if there was no content and no call.
    pub fn finish(mut self) -> Parsed {
        let now = self.may_be_thought() && self.unopened.has_ended_at_last(&self.content, !self.native.is_empty());
        if now {
            self.begin_again();
        }
        let taken_back = self.taken_back;
        let mut parsed = self.read_to_end();
        if now {
            parsed.tail.insert(0, Out::Retracted);
        }
        if taken_back {
            parsed.diagnostics.push("reasoning that nothing opens was taken out of the text".to_owned());
        }
        parsed
    }

    fn read_to_end(mut self) -> Parsed {
        let mut found = self.grammar.finish(&mut self.sink, self.cut);
        let signatures = self.native.signatures();
        if self.native.is_empty() {
            let nothing = found.is_empty() && !found.done && !self.sink.has_text();
            let thought = format!("{}{}", self.reasoning, found.thought);
            if nothing && !thought.trim().is_empty() {
                let inner = from_reasoning(self.reading, &self.tools, &thought, self.cut);
                found.diagnostics.extend(inner.diagnostics);
                found.items.extend(inner.items);
            }
            let phrases = self.reading.cascade || self.reading.form == Form::Fuzzy;
            if phrases && found.is_empty() && !found.done && !self.cut {
                found.items.extend(fuzzy::calls(self.sink.all_text(), &self.tools).into_iter().map(Ok));
                for call in found.items.iter().flatten() {
                    self.sink.call_started(&call.name);
                }
            }
        } else {
            let native = self.native.finish(&self.tools, self.cut);
            if !found.is_empty() {
                found.note("calls in the text were ignored, since the provider's own field has calls");
            }
            found.items = native.items;
            found.diagnostics.extend(native.diagnostics);
        }
        if self.reading.form == Form::Native {
            found.done = found.is_empty() && !self.cut;
        }
        if self.cut {
            found.note("the reply was cut at its token limit");
        }
        settle(&mut found, &self.tools);
        result(found, &self.id_prefix, self.sink, signatures)
    }
}

fn grammar(reading: Reading, tools: &ToolIndex) -> Box<dyn Grammar> {
    let Reading { form, cascade, in_thought, dialects } = reading;
    let mut stages: Vec<Box<dyn Grammar>> = Vec::new();
    let dialects = match (form, dialects) {
        (Form::Markers, Dialects::None) => Dialects::Markers,
        (_, dialects) => dialects,
    };
    if dialects != Dialects::None || in_thought {
        stages.push(Box::new(Shell::new(tools, dialects, in_thought)));
    }
    match form {
        Form::GuidedJson => stages.push(Box::new(Guided::new(tools))),
        _ if cascade => stages.push(Box::new(Guided::lax(tools))),
        _ => {}
    }
    match form {
        Form::React => stages.push(Box::new(React::new(tools))),
        _ if cascade => stages.push(Box::new(React::lax(tools))),
        _ => {}
    }
    if stages.len() == 1 { stages.remove(0) } else { Box::new(Chain::new(stages)) }
}

fn from_reasoning(reading: Reading, tools: &ToolIndex, text: &str, cut: bool) -> Found {
    let mut sink = Sink::default();
    let reading = Reading { in_thought: false, ..reading };
    let mut grammar = grammar(reading, tools);
    grammar.push(text, &mut sink);
    let mut found = grammar.finish(&mut sink, cut);
    if found.is_empty() {
        return Found::default();
    }
    found.note("there was no content; calls were taken from the reasoning text");
    for call in found.items.iter_mut().filter_map(|item| item.as_mut().ok()) {
        call.source = CallSource::Reasoning;
        call.confidence = REASONING_CONFIDENCE.min(call.confidence);
    }
    found
}

/// Gives calls the tools' own names, and types to arguments that came as text.
fn settle(found: &mut Found, tools: &ToolIndex) {
    let mut notes = Vec::new();
    for call in found.items.iter_mut().filter_map(|item| item.as_mut().ok()) {
        if tools.resolve(&call.name).is_none()
            && let Some(name) = tools.resolve_call(&call.name, call.arguments.as_object())
        {
            notes.push(format!("`{}` was taken for `{name}`", call.name));
            name.clone_into(&mut call.name);
        }
        if call.untyped
            && let Some(schema) = tools.parameters(&call.name)
        {
            call.arguments = fit::typed(schema, std::mem::take(&mut call.arguments));
        }
    }
    found.diagnostics.extend(notes);
}

/// Gives ids and separates calls from broken ones.
fn result(found: Found, prefix: &str, sink: Sink, mut signatures: Vec<Option<String>>) -> Parsed {
    let (text, reasoning, tail) = sink.into_parts();
    let mut parsed =
        Parsed { text, reasoning, tail, diagnostics: found.diagnostics, done: found.done, ..Parsed::default() };
    let mut used = std::collections::HashSet::new();
    for (n, item) in found.items.into_iter().enumerate() {
        let given = match &item {
            Ok(call) => call.id.clone(),
            Err(broken) => Some(broken.id.clone()).filter(|id| !id.is_empty()),
        };
        let id = given.filter(|id| !used.contains(id)).unwrap_or_else(|| format!("{prefix}{n}"));
        used.insert(id.clone());
        match item {
            Ok(call) => parsed.calls.push(ToolCall {
                id,
                name: call.name,
                arguments: call.arguments,
                source: call.source,
                confidence: call.confidence,
                signature: signatures.get_mut(n).and_then(Option::take),
            }),
            Err(broken) => parsed.broken.push(BrokenCall { id, ..broken }),
        }
    }
    parsed
}
