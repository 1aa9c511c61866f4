//! The outermost grammar: takes reasoning, calls in the models' own dialects and left-over tokens out of the content,
//! by the rules of `crate::dialect`, and passes the rest on as text.
//!
//! What it decides does not depend on how the content was cut into pieces: where the text so far can be read in two
//! ways, it waits.

mod bare;
mod block;
mod line;
mod open;

use super::{Found, Grammar};
use crate::complexity_counter::find_byte;
use crate::dialect::{Begin, Cx, Dialect};
use crate::out::Sink;
use crate::tool_index::ToolIndex;
use bare::Bare;
use block::{Block, Marker};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialects {
    /// The content is taken as it is.
    None,
    /// Reasoning wrappers and left-over tokens only.
    Wrappers,
    /// Those, and `[TOOL:name|key=value]`.
    Markers,
    /// Reasoning at the very beginning only; all the rest is text.
    Opening,
    #[default]
    All,
}

impl Dialects {
    fn has(self, dialect: Dialect) -> bool {
        match self {
            Self::None | Self::Opening => false,
            Self::All => true,
            Self::Wrappers => dialect == Dialect::Wrapper,
            Self::Markers => matches!(dialect, Dialect::Wrapper | Dialect::Marker),
        }
    }
}

/// What ends reasoning that the prompt has opened.
const CLOSING: &[&str] = &["</think>", "[/THINK]", "<|END_THINKING|>", "◁/think▷"];

/// Whether `text` ends reasoning that it never began, with an answer behind it or beside it (`has_calls`): the prompt has opened it. A word about such a
/// tag stands in quotes, in code or between blanks.
pub(crate) fn ends_unopened_thought(text: &str, has_calls: bool) -> bool {
    if !CLOSING.iter().any(|token| text.contains(token)) {
        return false;
    }
    let mut in_code = false;
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let start = line.trim_start();
        in_code ^= start.starts_with("```");
        if !in_code && open::thoughts().any(|(opening, _)| start.starts_with(opening)) {
            return false;
        }
        let Some((before, behind)) = CLOSING.iter().find_map(|token| line.split_once(token)).filter(|_| !in_code)
        else {
            continue;
        };
        let quoted = before.ends_with(['"', '\'', '“', '‘', '«', '„', '`']) || before.matches('`').count() % 2 == 1;
        let between_blanks = before.ends_with([' ', '\t']) && !before.trim().is_empty() && !behind.trim().is_empty();
        if !quoted && !between_blanks {
            return has_calls || !(behind.trim().is_empty() && after.trim().is_empty());
        }
    }
    false
}

#[derive(Default)]
enum State {
    #[default]
    Text,
    Thought(&'static [&'static str]),
    Block(Block),
    Marker(Marker),
    Bare(Bare),
    Stopped,
}

#[derive(PartialEq, Eq)]
enum Step {
    Go,
    Wait,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the text so far")]
pub(crate) struct Shell {
    tools: ToolIndex,
    dialects: Dialects,
    buf: String,
    /// Up to where the text was read.
    pos: usize,
    /// Up to where it was passed on.
    shown: usize,
    state: State,
    line: usize,
    /// Nothing of the line was read yet.
    line_new: bool,
    line_quoted: bool,
    /// Up to where back-ticks of this line were counted, and whether their number is odd.
    ticks: (usize, bool),
    /// The number of back-ticks of the open code block.
    fence: Option<usize>,
    /// The whole reply stands in a code block, which is dropped.
    wrapped: bool,
    /// Quotes of markers that never close.
    hopeless: Vec<u8>,
    /// No list of Python calls that begins later closes.
    no_python: bool,
    /// No literal that begins later can be read to its end.
    no_literal: bool,
    done: bool,
    /// The content has begun, with reasoning or without.
    begun: bool,
    thought: String,
    found: Found,
    cut: bool,
}

impl Shell {
    /// `in_thought`: the prompt has opened the reasoning.
    pub fn new(tools: &ToolIndex, dialects: Dialects, in_thought: bool) -> Self {
        let state = if in_thought { State::Thought(CLOSING) } else { State::Text };
        Self { tools: tools.clone(), dialects, state, line_new: true, begun: in_thought, ..Self::default() }
    }

    fn advance(&mut self, sink: &mut Sink, end: bool) {
        loop {
            let step = match std::mem::take(&mut self.state) {
                State::Text => self.text(sink, end),
                State::Thought(close) => self.thought(close, sink, end),
                State::Block(block) => self.block(block, sink, end),
                State::Marker(marker) => self.marker(marker, sink, end),
                State::Bare(bare) => self.bare(bare, sink, end),
                State::Stopped => {
                    self.state = State::Stopped;
                    self.pos = self.buf.len();
                    self.shown = self.pos;
                    Step::Wait
                }
            };
            if step == Step::Wait {
                return;
            }
        }
    }

    fn flush(&mut self, sink: &mut Sink) {
        if self.shown < self.pos {
            sink.text(&self.buf[self.shown..self.pos]);
        }
        self.shown = self.pos;
    }

    /// Reads reasoning at the beginning of the content; the rest is text, whatever it looks like.
    fn beginning(&mut self, sink: &mut Sink, end: bool) -> Step {
        let rest = &self.buf[self.pos..];
        let inner = rest.trim_start();
        if !self.begun {
            let mut opens = open::thoughts();
            if let Some((open, close)) = opens.find(|(open, _)| inner.starts_with(open)) {
                self.begun = true;
                self.pos = self.buf.len() - inner.len() + open.len();
                self.shown = self.pos;
                self.state = State::Thought(close);
                return Step::Go;
            }
            if !end && open::thoughts().any(|(open, _)| open.starts_with(inner)) {
                return Step::Wait;
            }
            self.begun = true;
        }
        self.pos = self.buf.len();
        self.flush(sink);
        Step::Wait
    }

    fn text(&mut self, sink: &mut Sink, end: bool) -> Step {
        if self.dialects == Dialects::Opening {
            return self.beginning(sink, end);
        }
        loop {
            if self.line_new {
                match self.line_start(sink, end) {
                    Begin::No => self.line_new = false,
                    Begin::More => {
                        self.flush(sink);
                        return Step::Wait;
                    }
                    Begin::Yes => return Step::Go,
                }
            }
            let rest = &self.buf[self.pos..];
            let Some(step) = find_byte([b'<', b'[', b'\n'], rest) else {
                self.pos = self.buf.len();
                self.flush(sink);
                return Step::Wait;
            };
            self.pos += step;
            if rest.as_bytes()[step] == b'\n' {
                self.pos += 1;
                self.next_line();
                continue;
            }
            match self.opening(sink, end) {
                Begin::No => self.pos += 1,
                Begin::More => {
                    self.flush(sink);
                    return Step::Wait;
                }
                Begin::Yes => return Step::Go,
            }
        }
    }

    fn next_line(&mut self) {
        self.line = self.pos;
        self.line_new = true;
        self.line_quoted = false;
        self.ticks = (self.pos, false);
    }

    fn thought(&mut self, close: &'static [&'static str], sink: &mut Sink, end: bool) -> Step {
        let first = |at: usize| close.get(at).or(close.first()).map_or(b'<', |token| token.as_bytes()[0]);
        // Those of `CLOSING` begin with three different bytes, all others with one.
        let firsts = [first(0), first(1), first(3)];
        loop {
            let rest = &self.buf[self.pos..];
            let Some(step) = find_byte(firsts, rest) else {
                self.pos = self.buf.len();
                self.reason(sink);
                self.state = State::Thought(close);
                return Step::Wait;
            };
            self.pos += step;
            let rest = &self.buf[self.pos..];
            if let Some(token) = close.iter().find(|token| rest.starts_with(**token)) {
                self.reason(sink);
                // These begin the next message and are read again.
                if !matches!(*token, "<|start|>" | "<|channel|>") {
                    self.pos += token.len();
                }
                self.shown = self.pos;
                self.next_line();
                return Step::Go;
            }
            if !end && close.iter().any(|token| token.starts_with(rest)) {
                self.reason(sink);
                self.state = State::Thought(close);
                return Step::Wait;
            }
            self.pos += rest.chars().next().map_or(1, char::len_utf8);
        }
    }

    fn reason(&mut self, sink: &mut Sink) {
        let piece = &self.buf[self.shown..self.pos];
        sink.reasoning(piece);
        self.thought.push_str(piece);
        self.shown = self.pos;
    }

    fn read(&mut self, dialect: Dialect, closed: bool, sink: &mut Sink, read: impl FnOnce(&str, &mut Cx<'_>)) {
        let Self { buf, tools, found, cut, .. } = self;
        let before = found.items.len();
        let mut cx = Cx { tools, found, dialect, closed, cut: *cut };
        read(buf, &mut cx);
        for call in found.items[before..].iter().flatten() {
            sink.call_started(&call.name);
        }
    }

    fn after(&mut self, at: usize, sink: &mut Sink) -> Step {
        sink.text_break();
        self.pos = at;
        self.shown = at;
        self.next_line();
        Step::Go
    }
}

impl Grammar for Shell {
    fn push(&mut self, text: &str, sink: &mut Sink) {
        self.buf.push_str(text);
        self.advance(sink, false);
    }

    fn finish(&mut self, sink: &mut Sink, cut: bool) -> Found {
        self.cut = cut;
        self.advance(sink, true);
        if matches!(self.state, State::Thought(_)) {
            self.found.note("the reasoning has no end");
        }
        let mut found = std::mem::take(&mut self.found);
        found.done = self.done && found.is_empty();
        found.thought = std::mem::take(&mut self.thought);
        found
    }
}
