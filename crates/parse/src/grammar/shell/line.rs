//! Reads what a line begins with: a fence, a quotation, or a call without a tag.

use super::bare::Bare;
use super::open::{Opened, opens};
use super::{Shell, State};
use crate::dialect::{Begin, Dialect, is_python_list};
use crate::out::Sink;

pub(super) enum Start {
    Plain,
    Wait,
    /// The state has changed or the line was taken.
    Changed,
}

/// A call is not indented by more.
const INDENT: usize = 64;
/// Longest language of a code block.
const INFO: usize = 32;

impl Shell {
    pub(super) fn line_start(&mut self, sink: &mut Sink, end: bool) -> Start {
        let rest = &self.buf[self.pos..];
        let bytes = rest.as_bytes();
        let blanks = bytes.iter().take(INDENT).take_while(|b| matches!(b, b' ' | b'\t')).count();
        crate::complexity_counter::count(blanks + 1);
        let Some(&byte) = bytes.get(blanks) else {
            return if end { Start::Plain } else { Start::Wait };
        };
        match byte {
            b'`' => self.ticks_start(blanks, sink, end),
            _ if self.fence.is_some() => Start::Plain,
            b'>' => {
                self.line_quoted = true;
                Start::Plain
            }
            b'<' => Start::Plain,
            b'{' | b'[' => self.bracket_start(blanks, sink, end),
            _ if opens(byte) => self.opening_at(self.pos + blanks, sink, end).unwrap_or(Start::Plain),
            _ => Start::Plain,
        }
    }

    /// `None`, and the position as before, if nothing opens at `at`.
    fn opening_at(&mut self, at: usize, sink: &mut Sink, end: bool) -> Option<Start> {
        let before = std::mem::replace(&mut self.pos, at);
        let opened = self.opening(sink, end);
        if opened == Opened::Yes {
            return Some(Start::Changed);
        }
        self.pos = before;
        (opened == Opened::Wait).then_some(Start::Wait)
    }

    /// A bracket begins a tag, a list of Python calls, or JSON.
    fn bracket_start(&mut self, blanks: usize, sink: &mut Sink, end: bool) -> Start {
        if !self.dialects.has(Dialect::Own) {
            return Start::Plain;
        }
        let at = self.pos;
        if self.buf[at + blanks..].starts_with('[')
            && let Some(start) = self.opening_at(at + blanks, sink, end)
        {
            return start;
        }
        let text = &self.buf[at + blanks..];
        let window = &text[..text.char_indices().nth(128).map_or(text.len(), |(at, _)| at)];
        let full = end || window.len() < text.len();
        let list = if self.no_python { Begin::No } else { is_python_list(window, &self.tools, full) };
        if list == Begin::More {
            return Start::Wait;
        }
        self.flush(sink);
        self.state = State::Bare(Bare::new(list == Begin::Yes, at, at + blanks, !sink.has_text(), None));
        Start::Changed
    }

    /// Back-ticks begin one of the tagged blocks, close a fence, or open a fence with a call in it.
    fn ticks_start(&mut self, blanks: usize, sink: &mut Sink, end: bool) -> Start {
        let at = self.pos;
        let text = &self.buf[at + blanks..];
        let ticks = text.bytes().take(INFO).take_while(|b| *b == b'`').count();
        if ticks == text.len() && !end {
            return Start::Wait;
        }
        if ticks < 3 {
            return Start::Plain;
        }
        if self.wrapped && self.fence.is_none() {
            self.flush(sink);
            self.pos = at + blanks + ticks;
            self.shown = self.pos;
            self.wrapped = false;
            return Start::Changed;
        }
        if let Some(open) = self.fence {
            let ends = text[ticks..].starts_with([' ', '\n', '\r', '\t']) || ticks == text.len();
            if ticks >= open && ends {
                self.fence = None;
                // Back-ticks of a fence are no inline code.
                self.ticks = (at + blanks + ticks, false);
            }
            return Start::Plain;
        }
        if let Some(start) = self.opening_at(at + blanks, sink, end) {
            return start;
        }
        self.fence_opens(blanks, ticks, sink, end)
    }

    fn fence_opens(&mut self, blanks: usize, ticks: usize, sink: &mut Sink, end: bool) -> Start {
        let at = self.pos;
        let text = &self.buf[at + blanks + ticks..];
        let info = text.bytes().take(INFO).take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let after = &text[info..];
        let gap = after.bytes().take(INFO).take_while(u8::is_ascii_whitespace).count();
        let Some(&first) = after.as_bytes().get(gap).filter(|_| gap < INFO && info < INFO) else {
            if end || gap >= INFO || info >= INFO {
                self.fence = Some(ticks);
                self.ticks = (at + blanks + ticks, false);
                return Start::Plain;
            }
            return Start::Wait;
        };
        let inside = at + blanks + ticks + info + gap;
        let json = matches!(&text[..info], "" | "json" | "json5" | "jsonc" | "tool" | "python" | "py" | "xml");
        match first {
            b'{' | b'[' if json && self.dialects.has(Dialect::Own) => {
                let list = is_python_list(&self.buf[inside..], &self.tools, end);
                if list == Begin::More {
                    return Start::Wait;
                }
                self.flush(sink);
                let python = list == Begin::Yes && !self.no_python;
                self.state = State::Bare(Bare::new(python, at, inside, !sink.has_text(), Some(ticks)));
                return Start::Changed;
            }
            b'<' if json && !sink.has_text() && self.buf[self.shown..at].trim().is_empty() => {
                let before = (self.line, self.shown);
                (self.line, self.shown) = (inside, inside);
                self.ticks = (inside, false);
                let start = self.opening_at(inside, sink, end);
                self.wrapped = matches!(start, Some(Start::Changed));
                if !self.wrapped {
                    (self.line, self.shown) = before;
                }
                if let Some(start) = start {
                    return start;
                }
            }
            _ => {}
        }
        self.fence = Some(ticks);
        self.ticks = (at + blanks + ticks, false);
        Start::Plain
    }
}
