//! Strategy `react`: `Thought / Action / Action Input / Observation`.

mod input;

use super::{Found, Grammar};
use crate::complexity_counter::line_end;
use crate::json::{Scanner, Token};
use crate::out::Sink;
use crate::tool_index::ToolIndex;
use input::{Head, Input, Label, NOTHING, Start, call, classify, closing_text};
use steward_core::tool::ToolSpec;

/// Stops the model before it makes up a result.
pub const STOP: &[&str] = &["\nObservation:"];

/// Names that end the work instead of calling a tool.
const DONE: &[&str] = &["done", "finish", "finished"];

pub fn instructions(tools: &[ToolSpec]) -> String {
    super::with_tools(include_str!("../../prompts/react.md"), tools)
}

#[derive(Debug, Default)]
enum Section {
    /// Before any label. It is text if none follows, else reasoning.
    #[default]
    Preamble,
    Thought,
    /// After `Action:`; the text so far.
    Action(String),
    /// The name is known, the input is still to come.
    Named(String),
    Input(Input),
    /// After a call; waits for a label.
    Between,
    Final,
    Stopped,
}

#[derive(Debug, Default)]
struct Fences {
    whole: bool,
    /// Around quoted text in a thought; there are no labels in it.
    quote: bool,
    /// Around an input that was read already.
    input: bool,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the text so far")]
pub(crate) struct React {
    tools: ToolIndex,
    buf: String,
    pos: usize,
    line_start: bool,
    section: Section,
    /// Where the preamble starts, after a fence around the whole reply.
    preamble: usize,
    fences: Fences,
    /// Only blanks so far in this line.
    line_blank: bool,
    /// A fence at the end of a wrapped reply; shown only if something follows.
    held: Option<usize>,
    /// The answer that came with `done`.
    closing: String,
    found: Found,
    labelled: bool,
    /// Another form was asked for: the preamble is text, and only the name of a known tool begins a call.
    lax: bool,
    /// The thought that the reply is in.
    thought: String,
    /// Something stood before the first label.
    wrote: bool,
    /// Start of the line of an action that may turn out to be text.
    tentative: Option<usize>,
    /// How many calls were announced.
    told: usize,
}

impl React {
    pub fn new(tools: &ToolIndex) -> Self {
        Self { tools: tools.clone(), line_start: true, line_blank: true, ..Self::default() }
    }

    /// For replies that were asked for in another form.
    pub fn lax(tools: &ToolIndex) -> Self {
        Self { lax: true, ..Self::new(tools) }
    }

    fn advance(&mut self, sink: &mut Sink, end: bool) {
        loop {
            if matches!(self.section, Section::Stopped) {
                self.pos = self.buf.len();
                return;
            }
            if self.pos >= self.buf.len() {
                return;
            }
            if let Section::Input(Input { json: Some(_), .. }) = self.section {
                if self.json() {
                    return;
                }
                continue;
            }
            if self.line_start && self.looks_for_start() {
                match classify(&self.buf[self.pos..], end) {
                    Start::Undecided => return,
                    Start::Label(label, len) if self.takes_labels() && self.means(label) => {
                        let line = self.pos;
                        self.pos += len;
                        self.line_start = false;
                        self.line_blank = false;
                        self.enter(label, line, sink);
                        continue;
                    }
                    Start::Fence => {
                        if self.fence() {
                            continue;
                        }
                    }
                    Start::Label(..) | Start::Text => {}
                }
                self.line_start = false;
            }
            let rest = &self.buf[self.pos..];
            let len = line_end(rest).unwrap_or(rest.len());
            self.take(len, sink);
        }
    }

    fn looks_for_start(&self) -> bool {
        !matches!(self.section, Section::Final) || self.fences.whole
    }

    fn takes_labels(&self) -> bool {
        let fenced = matches!(&self.section, Section::Input(input) if input.fenced);
        !(self.fences.quote || fenced || matches!(self.section, Section::Final))
    }

    fn enter(&mut self, label: Label, line: usize, sink: &mut Sink) {
        let lacking = match &self.section {
            Section::Named(name) => label != Label::Input && self.tools.needs_arguments(name),
            Section::Action(_) => true,
            _ => false,
        };
        if self.tentative.is_some() && lacking {
            self.untake(line, sink);
            if !self.means(label) {
                sink.text(&self.buf[line..self.pos]);
                return;
            }
        }
        if self.lax && matches!(self.section, Section::Preamble) {
            self.tentative = Some(line).filter(|_| label == Label::Action);
        }
        self.labelled = true;
        let name = match std::mem::replace(&mut self.section, Section::Between) {
            Section::Preamble => {
                if !self.lax {
                    self.preamble_is_reasoning(line, sink);
                }
                None
            }
            Section::Named(name) => Some(name),
            Section::Input(input) => {
                let raw = self.buf[input.from..line].to_owned();
                self.commit(&input, &raw, false);
                None
            }
            _ => None,
        };
        if matches!(self.section, Section::Stopped) {
            return;
        }
        self.fences.input &= label == Label::Input;
        match (label, name) {
            (Label::Input, Some(name)) => self.section = self.input(name),
            (Label::Input, None) => {
                self.found.note("an input without an action was ignored");
            }
            (label, Some(name)) => {
                let input = self.no_input(name);
                self.commit(&input, "", false);
                if !matches!(self.section, Section::Stopped) {
                    self.start(label, sink);
                }
            }
            (label, None) => self.start(label, sink),
        }
    }

    fn start(&mut self, label: Label, sink: &mut Sink) {
        match label {
            Label::Thought => {
                sink.reasoning_break();
                self.thought.clear();
                self.section = Section::Thought;
            }
            Label::Action => self.section = Section::Action(String::new()),
            Label::Final if self.found.is_empty() => {
                self.found.done = true;
                self.section = Section::Final;
            }
            Label::Final => {
                self.found.note("an answer in the same reply as a call was ignored: no result was seen yet");
                self.section = Section::Stopped;
            }
            Label::Observation => {
                self.found.note("a made-up observation and all that follows was ignored");
                self.section = Section::Stopped;
            }
            Label::Input => {}
        }
    }

    fn preamble_is_reasoning(&self, line: usize, sink: &mut Sink) {
        let mut text = &self.buf[self.preamble..line];
        if self.fences.whole {
            text = text.split_once('\n').map_or("", |(_, rest)| rest);
        }
        sink.reasoning(text);
    }

    fn input(&self, name: String) -> Section {
        Section::Input(Input { head: Head::Blank, ..self.no_input(name) })
    }

    fn no_input(&self, name: String) -> Input {
        Input { name, from: self.pos, head: Head::Body, json: None, fenced: false }
    }

    /// Takes the next `len` bytes, a line or the part of it that has arrived.
    fn take(&mut self, len: usize, sink: &mut Sink) {
        let piece = &self.buf[self.pos..self.pos + len];
        let line_ends = piece.ends_with('\n');
        let blank = piece.trim().is_empty();
        match &mut self.section {
            Section::Thought => {
                sink.reasoning(piece);
                self.thought.push_str(piece);
            }
            Section::Preamble if self.lax => {
                sink.text(piece);
                self.wrote |= !blank;
            }
            Section::Final => match self.held {
                None => sink.text(piece),
                Some(from) if !piece.trim().is_empty() => {
                    sink.text(&self.buf[from..self.pos + len]);
                    self.held = None;
                }
                Some(_) => {}
            },
            Section::Action(name) => {
                name.push_str(piece);
                if line_ends && !name.trim().is_empty() {
                    let name = std::mem::take(name);
                    self.named(&name, self.pos + len, sink);
                }
            }
            Section::Named(name) => {
                // The label may be missing before an object.
                if self.line_blank && piece.trim_start().starts_with('{') {
                    let name = std::mem::take(name);
                    self.section = self.input(name);
                    return;
                }
            }
            Section::Input(input) => {
                if let Some(at) = input.skip_head(piece) {
                    self.pos += at;
                    input.json = Some((Scanner::new(self.pos), self.pos));
                    return;
                }
            }
            Section::Preamble | Section::Between | Section::Stopped => {}
        }
        self.line_blank = line_ends || (self.line_blank && blank);
        self.pos += len;
        self.line_start = line_ends;
    }

    /// The line of `Action:` is complete.
    fn named(&mut self, written: &str, end: usize, sink: &mut Sink) {
        let written = written.trim();
        let done = |name: &str| DONE.contains(&name.to_ascii_lowercase().as_str());
        let name = self.tools.name(written);
        if self.tentative.is_some() && self.tools.resolve(&name).is_none() {
            return self.untake(end, sink);
        }
        if self.tools.resolve(&name).is_none() {
            if NOTHING.contains(&name.to_ascii_lowercase().as_str()) {
                self.section = Section::Between;
                return;
            }
            let wordy = name.is_empty() || name.contains(char::is_whitespace) || name.contains(['{', '(', '[']);
            if wordy {
                let message = format!("`Action:` must hold the name of one tool and nothing else, not `{written}`");
                self.found.broken(None, String::new(), written, &message);
                self.section = Section::Stopped;
                return;
            }
        }
        if !self.lax && (self.tools.resolve(&name).is_some() || !done(&name)) {
            sink.call_started(&name);
        }
        self.section = Section::Named(name);
    }

    /// Reads the object of an input; `true`: more text is needed.
    fn json(&mut self) -> bool {
        let Section::Input(input) = &mut self.section else {
            return false;
        };
        let Some((scanner, object)) = &mut input.json else {
            return false;
        };
        loop {
            match scanner.next(&self.buf) {
                Token::More => {
                    self.pos = self.buf.len();
                    return true;
                }
                Token::End => {
                    self.pos = scanner.pos;
                    self.line_start = false;
                    input.from = *object;
                    self.fences.input |= input.fenced;
                    self.commit_input();
                    return false;
                }
                Token::Error => {
                    // The unexpected text may be the next label, so go on from the start of its line.
                    let stop = scanner.pos;
                    let line = self.buf[..stop].rfind('\n').map_or(0, |at| at + 1);
                    let own_line = line <= input.from;
                    self.pos = if own_line { stop } else { line };
                    self.line_start = !own_line;
                    input.json = None;
                    return false;
                }
                _ => {}
            }
        }
    }

    fn commit_input(&mut self) {
        if let Section::Input(input) = std::mem::replace(&mut self.section, Section::Between) {
            let raw = self.buf[input.from..self.pos].to_owned();
            self.commit(&input, &raw, false);
        }
    }

    fn commit(&mut self, input: &Input, raw: &str, cut: bool) {
        let name = input.name.clone();
        let known = self.tools.resolve(&name).is_some();
        if !known && DONE.contains(&name.to_ascii_lowercase().as_str()) {
            self.found.done = true;
            if self.found.is_empty() {
                self.closing = closing_text(raw);
            }
            self.section = Section::Stopped;
            return;
        }
        match call(&self.tools, &name, raw, cut) {
            Ok((call, notes)) => {
                if !known {
                    self.found.note(format!("`{name}` is no known tool"));
                }
                for note in notes {
                    self.found.note(format!("input of `{name}`: {note}"));
                }
                self.found.call(call);
            }
            Err(error) => {
                // The rest was written in the belief that the call was made.
                self.found.unreadable(None, name, raw.trim(), &error);
                self.section = Section::Stopped;
            }
        }
    }

    /// A fence at the start of a line; `true`: it was taken.
    fn fence(&mut self) -> bool {
        let line = &self.buf[self.pos..];
        let ticks = self.pos + line.len() - line.trim_start().len();
        match &mut self.section {
            Section::Preamble if self.buf[..self.pos].trim().is_empty() && !self.fences.whole => {
                // The rest of the line (`text`, `markdown`) stays before the first label.
                self.fences.whole = true;
                self.preamble = self.pos;
                false
            }
            Section::Final => {
                self.held.get_or_insert(self.pos);
                self.pos = ticks + 3;
                self.line_start = false;
                true
            }
            Section::Input(input) if input.fenced => {
                self.pos = ticks + 3;
                self.line_start = false;
                self.commit_input();
                true
            }
            Section::Named(_) => {
                self.fences.input = !self.fences.input;
                false
            }
            Section::Action(_) | Section::Input(_) | Section::Stopped => false,
            Section::Preamble | Section::Thought | Section::Between => {
                if self.fences.input {
                    self.fences.input = false;
                } else if self.fences.whole {
                    self.fences.whole = false;
                } else {
                    self.fences.quote = !self.fences.quote;
                }
                false
            }
        }
    }

    /// Whether a label counts in a reply that was asked for in another form.
    fn means(&self, label: Label) -> bool {
        !self.lax
            || !matches!(self.section, Section::Preamble)
            || match label {
                Label::Action => true,
                Label::Thought | Label::Final => !self.wrote,
                Label::Input | Label::Observation => false,
            }
    }

    /// Takes an action back as text that ends at `end`: it names no known tool, or lacks what the tool needs.
    fn untake(&mut self, end: usize, sink: &mut Sink) {
        if let Some(line) = self.tentative.take() {
            sink.text(&self.buf[line..end]);
            self.wrote = true;
            self.section = Section::Preamble;
        }
    }

    fn tell(&mut self, sink: &mut Sink) {
        while self.lax && self.told < self.found.items.len() {
            if let Ok(call) = &self.found.items[self.told] {
                sink.call_started(&call.name);
            }
            self.told += 1;
        }
    }
}

impl Grammar for React {
    fn push(&mut self, text: &str, sink: &mut Sink) {
        self.buf.push_str(text);
        self.advance(sink, false);
        self.tell(sink);
    }

    fn finish(&mut self, sink: &mut Sink, cut: bool) -> Found {
        self.advance(sink, true);
        if let Section::Action(name) = &mut self.section {
            let name = std::mem::take(name);
            let end = self.buf.len();
            if self.tentative.is_some() && name.trim().is_empty() {
                self.untake(end, sink);
            } else if name.trim().is_empty() {
                self.section = Section::Between;
            } else {
                self.named(&name, end, sink);
            }
        }
        match std::mem::replace(&mut self.section, Section::Stopped) {
            Section::Preamble if self.lax => {}
            Section::Named(name) if self.tentative.is_some() && self.tools.needs_arguments(&name) => {
                self.untake(self.buf.len(), sink);
            }
            // It says all that it has to say in its thought.
            Section::Thought if !self.lax && !cut && self.found.is_empty() && !sink.has_text() => {
                sink.text(&self.thought);
                self.found.note("no action and no final answer; the thought was taken as text");
            }
            Section::Preamble => {
                sink.text(&self.buf);
                if !self.buf.trim().is_empty() {
                    self.found.note("no action and no final answer; taken as text");
                }
            }
            Section::Named(name) => {
                let input = self.no_input(name);
                self.commit(&input, "", cut);
            }
            Section::Input(input) => {
                let raw = self.buf[input.from..].to_owned();
                self.commit(&input, &raw, cut);
            }
            _ => {}
        }
        self.tell(sink);
        sink.text(&self.closing);
        if self.fences.quote && self.labelled {
            self.found.note("the reply ends within a code block; nothing in it was taken as a call");
        }
        std::mem::take(&mut self.found)
    }
}
