//! What a grammar found, before ids are given.

use serde_json::Value;
use steward_core::tool::CallSource;

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
    pub source: CallSource,
    pub confidence: f32,
    /// The form gives all arguments as text: the tool's schema says what they are.
    pub untyped: bool,
}

/// A call that can't be made.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub id: Option<String>,
    pub name: String,
    pub raw: String,
    pub error: String,
}

/// Calls in order, notes and the word that the model has finished.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub items: Vec<Result<Call, Broken>>,
    pub diagnostics: Vec<String>,
    pub done: bool,
    /// Reasoning that stood in the content.
    pub thought: String,
}

impl Found {
    /// No call, not even a broken one.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn call(&mut self, call: Call) {
        self.items.push(Ok(call));
    }

    pub fn broken(&mut self, id: Option<String>, name: String, raw: &str, error: &str) {
        self.diagnostics.push(format!("a call of `{name}` is broken: {error}"));
        self.items.push(Err(Broken { id, name, raw: raw.to_owned(), error: error.to_owned() }));
    }

    pub fn note(&mut self, note: impl Into<String>) {
        self.diagnostics.push(note.into());
    }
}

/// Tells a model what is wrong with its arguments and what to write.
pub(crate) fn broken_arguments(error: &str) -> String {
    format!("the arguments could not be read: {error}. Repeat the call with one complete JSON object")
}
