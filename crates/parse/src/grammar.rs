//! The text strategies. A new one is a file here and an arm in `stream`.

pub mod guided;
pub mod react;
mod shell;
mod unopened;

pub use shell::Dialects;
pub(crate) use shell::Shell;
pub(crate) use unopened::UnopenedThought;

use super::out::{BrokenCall, Out, Sink};
use serde_json::Value;
use std::fmt::Write as _;
use steward_core::schema;
use steward_core::tool::{CallSource, ToolSpec};

/// A form of calls in text. It gets the content in pieces, writes what is sure to the sink, and ends with its calls.
pub(crate) trait Grammar: Send {
    fn push(&mut self, text: &str, sink: &mut Sink);
    /// `cut`: the reply ran into its token limit.
    fn finish(&mut self, sink: &mut Sink, cut: bool) -> Found;
}

/// Each grammar reads what the one before takes for text, so several forms are looked for while the reply arrives. Without
/// any, all is text.
pub(crate) struct Chain {
    stages: Vec<(Box<dyn Grammar>, Sink)>,
}

impl Chain {
    pub fn new(stages: Vec<Box<dyn Grammar>>) -> Self {
        Self { stages: stages.into_iter().map(|stage| (stage, Sink::default())).collect() }
    }

    fn pass(&mut self, from: usize, outs: Vec<Out>, sink: &mut Sink) {
        for out in outs {
            match out {
                Out::Text(text) => self.feed(from, &text, sink),
                Out::Reasoning(text) => sink.reasoning(&text),
                Out::CallStarted { name, .. } => sink.call_started(&name),
                // Known of the whole content only.
                Out::Retracted => {}
            }
        }
    }

    fn feed(&mut self, at: usize, text: &str, sink: &mut Sink) {
        let last = at + 1 >= self.stages.len();
        let Some((stage, own)) = self.stages.get_mut(at) else {
            return sink.text(text);
        };
        if last {
            return stage.push(text, sink);
        }
        stage.push(text, own);
        let outs = own.take();
        self.pass(at + 1, outs, sink);
    }
}

impl Grammar for Chain {
    fn push(&mut self, text: &str, sink: &mut Sink) {
        self.feed(0, text, sink);
    }

    /// Returns the calls of the first stage that has any, and a note about others.
    fn finish(&mut self, sink: &mut Sink, cut: bool) -> Found {
        let mut all = Found::default();
        for at in 0..self.stages.len() {
            let last = at + 1 == self.stages.len();
            let (stage, own) = &mut self.stages[at];
            let found = stage.finish(if last { &mut *sink } else { &mut *own }, cut);
            let outs = if last { Vec::new() } else { own.take() };
            self.pass(at + 1, outs, sink);
            all.diagnostics.extend(found.diagnostics);
            all.thought.push_str(&found.thought);
            if all.items.is_empty() {
                all.items = found.items;
            } else if !found.items.is_empty() {
                all.note("calls in another form in the same reply were ignored");
            }
            all.done |= found.done;
        }
        all.done &= all.items.is_empty();
        all
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
    pub source: CallSource,
    pub confidence: f32,
    /// The form gives all arguments as text; the tool's schema says their types.
    pub untyped: bool,
}

impl Call {
    pub fn new(name: String, arguments: Value, source: CallSource, confidence: f32) -> Self {
        Self { id: None, name, arguments, source, confidence, untyped: false }
    }
}

/// A value and how its text was mended, or why it can't be read.
pub(crate) type Read = Result<(Value, Vec<&'static str>), String>;

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub items: Vec<Result<Call, BrokenCall>>,
    pub diagnostics: Vec<String>,
    pub done: bool,
    pub thought: String,
}

impl Found {
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn call(&mut self, call: Call) {
        self.items.push(Ok(call));
    }

    pub fn broken(&mut self, id: Option<String>, name: String, raw: &str, error: &str) {
        self.diagnostics.push(format!("a call of `{name}` is broken: {error}"));
        let id = id.unwrap_or_default();
        self.items.push(Err(BrokenCall { id, name, raw: raw.to_owned(), error: error.to_owned() }));
    }

    /// A call whose arguments could not be read.
    pub fn unreadable(&mut self, id: Option<String>, name: String, raw: &str, error: &str) {
        let error = format!("the arguments could not be read: {error}. Repeat the call with one complete JSON object");
        self.broken(id, name, raw, &error);
    }

    /// A call whose arguments, `what` for people, were `read` from `raw`; `source` and confidence unless it was mended.
    pub fn read(
        &mut self,
        (id, name): (Option<String>, String),
        (raw, read): (&str, Read),
        what: &str,
        (source, sure): (CallSource, f32),
    ) {
        match read {
            Ok((arguments, fixes)) => {
                let (source, sure) = if fixes.is_empty() { (source, sure) } else { (CallSource::Repaired, 0.8) };
                self.diagnostics.extend(fixes.iter().map(|fix| format!("{what} of `{name}`: {fix}")));
                self.call(Call { id, ..Call::new(name, arguments, source, sure) });
            }
            Err(error) => self.unreadable(id, name, raw, &error),
        }
    }

    pub fn note(&mut self, note: impl Into<String>) {
        self.diagnostics.push(note.into());
    }
}

fn with_tools(template: &str, tools: &[ToolSpec]) -> String {
    let mut list = String::new();
    for spec in tools {
        let _ = writeln!(list, "- {}: {}", spec.name, spec.description.trim());
        let _ = writeln!(list, "  arguments: {}", schema::in_short(&spec.parameters));
    }
    template.replacen("{tools}", list.trim_end(), 1)
}

/// The system prompt's part on how to call `tools` by the strategy `markers`, which is read as a dialect.
pub fn markers_instructions(tools: &[ToolSpec]) -> String {
    with_tools(include_str!("../prompts/markers.md"), tools)
}
