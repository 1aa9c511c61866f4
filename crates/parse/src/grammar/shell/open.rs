use super::block::{Block, Marker};
use super::{Shell, State};
use crate::dialect::{Begin, Body, Cx, Dialect, Rule, harmony, rules};
use crate::grammar::Found;
use crate::grammar::unopened::attributes;
use crate::out::Sink;
use std::sync::LazyLock;

/// An opening is decided by at most so much of what follows it.
const WINDOW: usize = 256;

/// By the first byte of the opening.
static RULES: LazyLock<Vec<Vec<&'static Rule>>> = LazyLock::new(|| {
    let mut table: Vec<Vec<&'static Rule>> = vec![Vec::new(); 256];
    for rule in rules() {
        table[usize::from(rule.open.as_bytes()[0])].push(rule);
    }
    table
});

pub(super) fn opens(byte: u8) -> bool {
    !RULES[usize::from(byte)].is_empty()
}

/// At most `WINDOW` bytes of `text`, and whether more would not matter.
fn window(text: &str) -> (&str, bool) {
    (&text[..text.floor_char_boundary(WINDOW)], text.len() > WINDOW)
}

impl Shell {
    pub(super) fn opening(&mut self, sink: &mut Sink, end: bool) -> Begin {
        if self.fence.is_some() || self.line_quoted || self.is_quoted() {
            return Begin::No;
        }
        let rest = &self.buf[self.pos..];
        let Some(first) = rest.as_bytes().first() else {
            return Begin::No;
        };
        crate::complexity_counter::count(rest.len().min(WINDOW));
        let mut best: Option<&'static Rule> = None;
        for rule in RULES[usize::from(*first)].iter().copied().filter(|rule| self.dialects.has(rule.dialect)) {
            if rest.starts_with(rule.open) {
                if best.is_none_or(|best| best.open.len() < rule.open.len()) {
                    best = Some(rule);
                }
            } else if !end && rule.open.starts_with(rest) {
                return Begin::More;
            }
        }
        best.map_or(Begin::No, |rule| self.open(rule, sink, end))
    }

    /// Whether the text at `pos` is quoted: by a quotation mark right before it or by a back-tick earlier in its line.
    pub(super) fn is_quoted(&mut self) -> bool {
        let (from, mut odd) = self.ticks;
        let piece = &self.buf.as_bytes()[from.min(self.pos)..self.pos];
        crate::complexity_counter::count(piece.len());
        odd ^= memchr::memchr_iter(b'`', piece).count() % 2 == 1;
        self.ticks = (self.pos, odd);
        odd || self.buf[self.line.min(self.pos)..self.pos].ends_with(['"', '\'', '“', '‘', '«', '„'])
    }

    fn open(&mut self, rule: &'static Rule, sink: &mut Sink, end: bool) -> Begin {
        let mut after = self.pos + rule.open.len();
        match &rule.body {
            Body::Thought(close) => {
                if rule.open.ends_with(' ') {
                    let (begins, len) = attributes(&self.buf[after..], end);
                    if begins != Begin::Yes {
                        return begins;
                    }
                    after += len;
                }
                if !self.buf[self.line..self.pos].trim().is_empty() {
                    // A model that has reasoned so far may do so within a line as well.
                    let begins = if self.thinks { self.closes_later(after, close, end) } else { Begin::No };
                    if begins != Begin::Yes {
                        return begins;
                    }
                }
                self.leave(after, sink);
                sink.reasoning_break();
                self.state = State::Thought(close);
            }
            Body::Drop => self.leave(after, sink),
            Body::Done => {
                self.done = true;
                self.leave(after, sink);
            }
            Body::Stop => {
                self.leave(after, sink);
                self.found.note("a made-up result and all that follows was ignored");
                self.state = State::Stopped;
            }
            Body::Harmony => return self.harmony(after, sink, end),
            Body::Calls(calls) | Body::Marker(calls) => {
                let begins = self.begins(after, calls.begins, end);
                if begins != Begin::Yes {
                    return begins;
                }
                let start = if calls.keep_open { self.pos } else { after };
                self.leave(after, sink);
                self.state = match rule.body {
                    Body::Marker(_) => State::Marker(Marker::new(rule.dialect, calls, after)),
                    _ => State::Block(Block::new(rule.dialect, calls, rule.open, start, after)),
                };
            }
        }
        Begin::Yes
    }

    /// Whether reasoning that would begin at `after` has an end.
    pub(super) fn closes_later(&mut self, after: usize, close: &[&str], end: bool) -> Begin {
        let longest = close.iter().map(|token| token.len()).max().unwrap_or_default();
        let from = self.buf.floor_char_boundary(self.unclosed.saturating_sub(longest)).max(after);
        let closed = close.iter().any(|token| self.buf[from..].contains(token));
        self.unclosed = if closed || end { 0 } else { self.buf.len() };
        match (closed, end) {
            (true, _) => Begin::Yes,
            (false, true) => Begin::No,
            (false, false) => Begin::More,
        }
    }

    fn begins(&mut self, after: usize, begins: fn(&str, &Cx<'_>, bool) -> Begin, end: bool) -> Begin {
        let (text, full) = window(&self.buf[after..]);
        let mut found = Found::default();
        let cx = Cx { tools: &self.tools, found: &mut found, dialect: Dialect::Own, closed: false, cut: false };
        begins(text, &cx, end || full)
    }

    pub(super) fn leave(&mut self, after: usize, sink: &mut Sink) {
        self.flush(sink);
        self.pos = after;
        self.shown = after;
    }

    fn harmony(&mut self, after: usize, sink: &mut Sink, end: bool) -> Begin {
        let start = self.pos;
        let Some((kind, len)) = harmony::header(&self.buf[start..]) else {
            if !end && self.buf.len() - start <= harmony::LONGEST {
                return Begin::More;
            }
            self.leave(after, sink);
            return Begin::Yes;
        };
        self.leave(start + len, sink);
        match kind {
            harmony::Kind::Foreign => {
                self.found.note("a made-up message and all that follows was ignored");
                self.state = State::Stopped;
            }
            // Where no calls are read, it is nothing that the model says.
            harmony::Kind::Call if !self.dialects.has(Dialect::Own) => {
                sink.reasoning_break();
                self.state = State::Thought(harmony::ENDS);
            }
            harmony::Kind::Reasoning => {
                sink.reasoning_break();
                self.state = State::Thought(harmony::ENDS);
            }
            harmony::Kind::Text => {
                sink.text_break();
                self.next_line();
            }
            harmony::Kind::Call => {
                if let Body::Calls(calls) = &harmony::CALL.body {
                    let block = Block::new(harmony::CALL.dialect, calls, "<|channel|>", start, start + len);
                    self.state = State::Block(block);
                }
            }
        }
        Begin::Yes
    }
}
