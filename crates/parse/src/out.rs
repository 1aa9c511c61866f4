//! What comes out of parsing.

use steward_core::tool::ToolCall;

/// Something that can be shown while the reply still arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Out {
    /// Text that is surely for the reader.
    Text(String),
    /// Text of the model's reasoning.
    Reasoning(String),
    /// A call has begun; its arguments follow with the result.
    CallStarted {
        /// Which call of the reply, from 0.
        index: usize,
        /// Its tool, by the tool's own name where it is known.
        name: String,
    },
}

/// A call that was meant but can't be made. The model is told `error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenCall {
    /// Id to answer to: the provider's or one made up.
    pub id: String,
    /// Name of the tool; empty where not even that is known.
    pub name: String,
    pub raw: String,
    /// What is wrong, and what to write instead.
    pub error: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// Complete calls in order. A name may be unknown and arguments may not fit the tool's schema:
    /// that is for the caller to answer.
    pub calls: Vec<ToolCall>,
    /// Calls that can't be made.
    pub broken: Vec<BrokenCall>,
    /// Text for the reader: all [`Out::Text`] joined, `tail` included.
    pub text: String,
    /// Reasoning: all [`Out::Reasoning`] joined, `tail` included.
    pub reasoning: String,
    /// What was odd about the reply, for the trace.
    pub diagnostics: Vec<String>,
    /// Whether the model said that it has finished (`done`, a final answer; for the native strategy:
    /// made no call). Never true for free text in a strategy that has a word for it.
    pub done: bool,
    /// What was held back until the end and not yet returned by `push`.
    pub tail: Vec<Out>,
}

/// Joins text and hands it on without blanks at either end.
#[derive(Debug, Default)]
struct Trimmed {
    all: String,
    /// Blanks that are only passed on when something follows.
    held: String,
    /// Blanks that come next are none of the text's.
    fresh: bool,
}

impl Trimmed {
    /// The part that can be passed on now.
    fn push(&mut self, text: &str) -> Option<String> {
        let text = if self.all.is_empty() {
            text.trim_start()
        } else if self.fresh {
            text.trim_start_matches([' ', '\t'])
        } else {
            text
        };
        self.fresh &= text.is_empty();
        let body = text.trim_end();
        if body.is_empty() {
            self.held.push_str(text);
            return None;
        }
        let mut piece = std::mem::take(&mut self.held);
        piece.push_str(body);
        self.held.push_str(&text[body.len()..]);
        self.all.push_str(&piece);
        Some(piece)
    }
}

/// Where grammars write what they are sure of.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// Whether text is passed on as it comes, blanks at its ends too, unless reasoning stood before it.
    verbatim: bool,
    text: Trimmed,
    reasoning: Trimmed,
    outs: Vec<Out>,
    started: usize,
}

impl Sink {
    pub fn new(verbatim: bool) -> Self {
        Self { verbatim, ..Self::default() }
    }

    pub fn text(&mut self, text: &str) {
        let piece = if self.verbatim && self.reasoning.all.is_empty() {
            self.text.all.push_str(text);
            Some(text.to_owned())
        } else {
            self.text.push(text)
        };
        if let Some(piece) = piece.filter(|piece| !piece.is_empty()) {
            match self.outs.last_mut() {
                Some(Out::Text(last)) => last.push_str(&piece),
                _ => self.outs.push(Out::Text(piece)),
            }
        }
    }

    pub fn reasoning(&mut self, text: &str) {
        if let Some(piece) = self.reasoning.push(text) {
            match self.outs.last_mut() {
                Some(Out::Reasoning(last)) => last.push_str(&piece),
                _ => self.outs.push(Out::Reasoning(piece)),
            }
        }
    }

    /// The next reasoning starts on a new line.
    pub fn reasoning_break(&mut self) {
        if !self.reasoning.all.is_empty() && !self.reasoning.held.contains('\n') {
            self.reasoning.held.push('\n');
        }
    }

    /// The next text starts on a new line.
    pub fn text_break(&mut self) {
        self.text.fresh = true;
        if !self.text.all.is_empty() && !self.text.held.contains('\n') {
            self.text.held.push('\n');
        }
    }

    pub fn call_started(&mut self, name: &str) {
        self.outs.push(Out::CallStarted { index: self.started, name: name.to_owned() });
        self.started += 1;
    }

    pub fn take(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.outs)
    }

    pub fn has_text(&self) -> bool {
        !self.text.all.trim().is_empty()
    }

    pub fn all_text(&self) -> &str {
        &self.text.all
    }

    /// All text, all reasoning, and what was not yet taken.
    pub fn into_parts(self) -> (String, String, Vec<Out>) {
        (self.text.all, self.reasoning.all, self.outs)
    }
}
