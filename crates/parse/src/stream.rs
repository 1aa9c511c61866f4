//! The way in: chunks of a model's reply, whatever the strategy.

use crate::grammar::{Found, Grammar, Plain, guided::Guided, react::React};
use crate::index::ToolIndex;
use crate::native::Native;
use crate::out::{BrokenCall, Out, Parsed, Sink};
use steward_core::model::{ModelChunk, Strategy};
use steward_core::tool::{CallSource, ToolCall};

/// Confidence of a call that only reasoning text holds.
const REASONING_CONFIDENCE: f32 = 0.3;

/// Understands one reply while it arrives.
pub struct StreamParser {
    strategy: Strategy,
    tools: ToolIndex,
    id_prefix: String,
    sink: Sink,
    native: Native,
    grammar: Box<dyn Grammar>,
    /// The reasoning field as it came.
    reasoning: String,
    cut: bool,
}

impl StreamParser {
    /// A parser for one reply. Calls to which the provider gave no id are called `<id_prefix><n>`,
    /// so give each reply of a run its own prefix.
    pub fn new(strategy: Strategy, tools: &ToolIndex, id_prefix: &str) -> Self {
        Self {
            strategy,
            tools: tools.clone(),
            id_prefix: id_prefix.to_owned(),
            sink: Sink::default(),
            native: Native::default(),
            grammar: grammar(strategy, tools),
            reasoning: String::new(),
            cut: false,
        }
    }

    /// Takes the next chunk; returns what can be shown by now.
    pub fn push(&mut self, chunk: &ModelChunk) -> Vec<Out> {
        match chunk {
            ModelChunk::Text(text) => self.grammar.push(text, &mut self.sink),
            ModelChunk::Reasoning(text) => {
                self.reasoning.push_str(text);
                self.sink.reasoning(text);
            }
            ModelChunk::ToolCall {
                index,
                id,
                name,
                arguments,
            } => self.native.push(
                (*index, id.as_deref(), name.as_deref()),
                arguments,
                &self.tools,
                &mut self.sink,
            ),
            ModelChunk::End { finish, .. } => {
                self.cut = matches!(finish.as_str(), "length" | "max_tokens");
            }
        }
        self.sink.take()
    }

    /// The whole reply. Content goes first; reasoning text is only searched for calls where there
    /// was no content and no call at all (TOOL-6).
    pub fn finish(mut self) -> Parsed {
        let mut found = self.grammar.finish(&mut self.sink, self.cut);
        if self.native.is_empty() {
            let nothing = found.is_empty() && !found.done && !self.sink.has_text();
            if nothing && !self.reasoning.trim().is_empty() {
                let inner = from_reasoning(self.strategy, &self.tools, &self.reasoning, self.cut);
                found.diagnostics.extend(inner.diagnostics);
                found.items.extend(inner.items);
            }
        } else {
            let native = self.native.finish(&self.tools, self.cut);
            if !found.is_empty() {
                found.note(
                    "calls in the text were ignored, since the provider's own field has calls",
                );
            }
            found.items = native.items;
            found.diagnostics.extend(native.diagnostics);
        }
        if self.strategy == Strategy::Native {
            found.done = found.is_empty() && !self.cut;
        }
        if self.cut {
            found.note("the reply was cut at its token limit");
        }
        result(found, &self.id_prefix, self.sink)
    }
}

fn grammar(strategy: Strategy, tools: &ToolIndex) -> Box<dyn Grammar> {
    match strategy {
        Strategy::Native => Box::new(Plain),
        Strategy::GuidedJson => Box::new(Guided::new(tools)),
        Strategy::React => Box::new(React::new(tools)),
    }
}

fn from_reasoning(strategy: Strategy, tools: &ToolIndex, text: &str, cut: bool) -> Found {
    let mut sink = Sink::default();
    let mut grammar = grammar(strategy, tools);
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

/// Gives ids and sorts calls from broken ones.
fn result(found: Found, prefix: &str, sink: Sink) -> Parsed {
    let (text, reasoning, tail) = sink.into_parts();
    let mut parsed = Parsed {
        text,
        reasoning,
        tail,
        diagnostics: found.diagnostics,
        done: found.done,
        ..Parsed::default()
    };
    let mut used: Vec<String> = Vec::new();
    for (n, item) in found.items.into_iter().enumerate() {
        let given = match &item {
            Ok(call) => call.id.clone(),
            Err(broken) => broken.id.clone(),
        };
        let id = given
            .filter(|id| !used.contains(id))
            .unwrap_or_else(|| format!("{prefix}{n}"));
        used.push(id.clone());
        match item {
            Ok(call) => parsed.calls.push(ToolCall {
                id,
                name: call.name,
                arguments: call.arguments,
                source: call.source,
                confidence: call.confidence,
            }),
            Err(broken) => parsed.broken.push(BrokenCall {
                id,
                name: broken.name,
                raw: broken.raw,
                error: broken.error,
            }),
        }
    }
    parsed
}
