//! The outermost grammar: takes reasoning, calls in the models' own dialects and left-over tokens out of the content,
//! by the rules of `crate::dialect`, and passes the rest on as text.
//!
//! What it decides does not depend on how the content was cut into pieces: where the text so far can be read in two
//! ways, it waits.

mod bare;
mod block;
mod line;
mod open;

use super::unopened::{CLOSING, opened, thoughts};
use super::{Found, Grammar};
use crate::complexity_counter::find_byte;
use crate::dialect::harmony::RAW_BEGINNINGS;
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
    /// It has reasoned in the content, so that more of that may follow.
    thinks: bool,
    /// How often reasoning was opened again within reasoning.
    opened: usize,
    /// Behind the last end of such reasoning, where the answer begins if no other end follows.
    inner_end: Option<usize>,
    /// Up to where no end of reasoning that opens at `pos` was found.
    unclosed: usize,
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
            match opened(inner, end) {
                (Begin::Yes, len, close) => {
                    self.begun = true;
                    self.pos = self.buf.len() - inner.len() + len;
                    self.shown = self.pos;
                    self.state = State::Thought(close);
                    return Step::Go;
                }
                (Begin::More, ..) => return Step::Wait,
                (Begin::No, ..) => {}
            }
            match self.raw(sink, end) {
                Begin::Yes => return Step::Go,
                Begin::More => return Step::Wait,
                Begin::No => self.begun = true,
            }
        }
        if self.thinks {
            return self.after_thought(sink, end);
        }
        self.pos = self.buf.len();
        self.flush(sink);
        Step::Wait
    }

    /// Where the server passes on the marks around a reply, these are taken out of all of it.
    fn raw(&mut self, sink: &mut Sink, end: bool) -> Begin {
        let inner = self.buf[self.pos..].trim_start();
        if RAW_BEGINNINGS.iter().any(|mark| inner.starts_with(mark)) {
            self.begun = true;
            self.dialects = Dialects::Wrappers;
            self.pos = self.buf.len() - inner.len();
            self.shown = self.pos;
            sink.tidy();
            self.next_line();
            return Begin::Yes;
        }
        let partly = !end && !inner.is_empty() && RAW_BEGINNINGS.iter().any(|mark| mark.starts_with(inner));
        if partly { Begin::More } else { Begin::No }
    }

    /// Reads text behind reasoning: what is opened and closed as reasoning within it is reasoning, too.
    fn after_thought(&mut self, sink: &mut Sink, end: bool) -> Step {
        if !sink.has_text() && self.buf[self.shown..self.pos].trim().is_empty() {
            match self.raw(sink, end) {
                Begin::Yes => return Step::Go,
                Begin::More => return Step::Wait,
                Begin::No => {}
            }
        }
        loop {
            let rest = &self.buf[self.pos..];
            let Some(step) = find_byte([b'<', b'[', b'\n'], rest) else {
                self.pos = self.buf.len();
                self.flush(sink);
                return Step::Wait;
            };
            self.pos += step;
            let rest = &self.buf[self.pos..];
            if rest.starts_with('\n') {
                if self.buf[self.line..self.pos].trim_start().starts_with("```") {
                    self.fence = if self.fence.is_none() { Some(3) } else { None };
                }
                self.pos += 1;
                self.next_line();
                continue;
            }
            let begins = match opened(rest, end) {
                (Begin::Yes, len, close) if self.fence.is_none() && !self.is_quoted() => {
                    let after = self.pos + len;
                    let begins = self.closes_later(after, close, end);
                    if begins == Begin::Yes {
                        self.leave(after, sink);
                        sink.reasoning_break();
                        self.state = State::Thought(close);
                        return Step::Go;
                    }
                    begins
                }
                (Begin::More, ..) => Begin::More,
                _ => Begin::No,
            };
            if begins == Begin::More {
                self.flush(sink);
                return Step::Wait;
            }
            self.pos += 1;
        }
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
        self.thinks = true;
        sink.tidy();
        let first = |at: usize| close.get(at).or(close.first()).map_or(b'<', |token| token.as_bytes()[0]);
        // Those of `CLOSING` begin with three different bytes, all others with one.
        let firsts = [first(0), first(1), first(3)];
        loop {
            let rest = &self.buf[self.pos..];
            let Some(step) = find_byte(firsts, rest) else {
                self.pos = self.buf.len();
                if let Some(at) = self.inner_end.take_if(|_| end) {
                    self.pos = at;
                    self.reason(sink);
                    self.opened = 0;
                    self.next_line();
                    return Step::Go;
                }
                return self.wait_in_thought(close, sink);
            };
            self.pos += step;
            let rest = &self.buf[self.pos..];
            let again = |(_, ends): &(&str, &[&str])| ends.iter().any(|token| close.contains(token));
            let opening = thoughts().filter(again).find(|(open, _)| rest.starts_with(open) && !open.ends_with(' '));
            if let Some((open, _)) = opening.filter(|_| !self.buf[..self.pos].ends_with(['`', '"', '\''])) {
                self.pass_inner_tag(open.len(), sink);
                self.opened += 1;
                continue;
            }
            if let Some(token) = close.iter().find(|token| rest.starts_with(**token)) {
                if self.opened > 0 {
                    self.pass_inner_tag(token.len(), sink);
                    self.opened -= 1;
                    self.inner_end = Some(self.pos);
                    continue;
                }
                self.inner_end = None;
                self.reason(sink);
                // These begin the next message and are read again.
                if !matches!(*token, "<|start|>" | "<|channel|>") {
                    self.pos += token.len();
                }
                self.shown = self.pos;
                self.next_line();
                return Step::Go;
            }
            let partly = |token: &str| token.starts_with(rest);
            if !end && (close.iter().any(|token| partly(token)) || thoughts().any(|(open, _)| partly(open))) {
                return self.wait_in_thought(close, sink);
            }
            self.pos += rest.chars().next().map_or(1, char::len_utf8);
        }
    }

    /// What follows an end within reasoning may be the answer, so it is kept back.
    fn wait_in_thought(&mut self, close: &'static [&'static str], sink: &mut Sink) -> Step {
        if self.inner_end.is_none() {
            self.reason(sink);
        }
        self.state = State::Thought(close);
        Step::Wait
    }

    fn pass_inner_tag(&mut self, len: usize, sink: &mut Sink) {
        if self.inner_end.is_none() {
            self.reason(sink);
            // It is nobody's reasoning, but what is searched for calls stays whole.
            self.thought.push_str(&self.buf[self.pos..self.pos + len]);
            self.shown = self.pos + len;
        }
        self.pos += len;
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
