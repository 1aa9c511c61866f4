use steward_core::tool::ToolCall;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Out {
    /// Text that is surely for the reader.
    Text(String),
    Reasoning(String),
    /// What was passed on so far does not hold; the reply follows from its beginning.
    Retracted,
    /// A call has begun; its arguments come with the result.
    CallStarted {
        /// The number of the call in the reply, from 0.
        index: usize,
        /// The tool's own name if it is known.
        name: String,
    },
}

/// A call that can't be made; the model is told `error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenCall {
    /// The provider's id or one made up, for the answer.
    pub id: String,
    /// Empty: not even the name is known.
    pub name: String,
    pub raw: String,
    /// What is wrong, and what to write instead.
    pub error: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// In order. The caller answers for unknown names and for arguments that do not fit the tool's schema.
    pub calls: Vec<ToolCall>,
    pub broken: Vec<BrokenCall>,
    /// All [`Out::Text`] joined since [`Out::Retracted`], `tail` included.
    pub text: String,
    /// All [`Out::Reasoning`] joined, likewise.
    pub reasoning: String,
    /// What was odd about the reply, for the trace.
    pub diagnostics: Vec<String>,
    /// Whether the model said that it has finished (`done`, a final answer; for the native strategy: no call). Never
    /// true for free text in a strategy that has a word for it.
    pub done: bool,
    /// What was held back until the end and not returned by `push`.
    pub tail: Vec<Out>,
}

/// Joins text and passes it on without blanks at either end.
#[derive(Debug, Default)]
struct Trimmed {
    all: String,
    /// Blanks that are passed on when something follows.
    held: String,
    /// Blanks that come next are left out.
    fresh: bool,
}

impl Trimmed {
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

/// Grammars write here what they are sure of.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// Text is passed on with blanks at its ends, unless reasoning stood before it.
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

    /// Reasoning has begun, be it empty: text is passed on without blanks at its ends from here on.
    pub fn tidy(&mut self) {
        self.verbatim = false;
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

    pub fn reasoning_break(&mut self) {
        if !self.reasoning.all.is_empty() && !self.reasoning.held.contains('\n') {
            self.reasoning.held.push('\n');
        }
    }

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

    /// All text, all reasoning, and what was not taken yet.
    pub fn into_parts(self) -> (String, String, Vec<Out>) {
        (self.text.all, self.reasoning.all, self.outs)
    }
}
