//! Reads what a line begins with: a fence, a quotation, or a call without a tag.

use super::bare::Bare;
use super::open::opens;
use super::{Shell, State};
use crate::dialect::{Begin, Dialect, is_python_list};
use crate::out::Sink;

/// A call is not indented by more.
const INDENT: usize = 64;
/// Longest language of a code block.
const INFO: usize = 32;

impl Shell {
    /// `Yes`: the state has changed or the line was taken.
    pub(super) fn line_start(&mut self, sink: &mut Sink, end: bool) -> Begin {
        let rest = &self.buf[self.pos..];
        let bytes = rest.as_bytes();
        let blanks = bytes.iter().take(INDENT).take_while(|b| matches!(b, b' ' | b'\t')).count();
        crate::complexity_counter::count(blanks + 1);
        let Some(&byte) = bytes.get(blanks) else {
            return if end { Begin::No } else { Begin::More };
        };
        match byte {
            b'`' => self.ticks_start(blanks, sink, end),
            _ if self.fence.is_some() => Begin::No,
            b'>' => {
                self.line_quoted = true;
                Begin::No
            }
            b'<' => Begin::No,
            b'{' | b'[' => self.bracket_start(blanks, sink, end),
            _ if opens(byte) => self.opening_at(self.pos + blanks, sink, end),
            _ => Begin::No,
        }
    }

    /// The position stays as before if nothing opens at `at`.
    fn opening_at(&mut self, at: usize, sink: &mut Sink, end: bool) -> Begin {
        let before = std::mem::replace(&mut self.pos, at);
        let opened = self.opening(sink, end);
        if opened != Begin::Yes {
            self.pos = before;
        }
        opened
    }

    /// A bracket begins a tag, a list of Python calls, or JSON.
    fn bracket_start(&mut self, blanks: usize, sink: &mut Sink, end: bool) -> Begin {
        if !self.dialects.has(Dialect::Own) {
            return Begin::No;
        }
        let at = self.pos;
        if self.buf[at + blanks..].starts_with('[') {
            let opened = self.opening_at(at + blanks, sink, end);
            if opened != Begin::No {
                return opened;
            }
        }
        let text = &self.buf[at + blanks..];
        let window = &text[..text.char_indices().nth(128).map_or(text.len(), |(at, _)| at)];
        let full = end || window.len() < text.len();
        let list = if self.no_python { Begin::No } else { is_python_list(window, &self.tools, full) };
        if list == Begin::More {
            return Begin::More;
        }
        self.flush(sink);
        self.state = State::Bare(Bare::new(list == Begin::Yes, at, at + blanks, !sink.has_text(), None));
        Begin::Yes
    }

    /// Back-ticks begin one of the tagged blocks, close a fence, or open a fence with a call in it.
    fn ticks_start(&mut self, blanks: usize, sink: &mut Sink, end: bool) -> Begin {
        let at = self.pos;
        let text = &self.buf[at + blanks..];
        let ticks = text.bytes().take(INFO).take_while(|b| *b == b'`').count();
        if ticks == text.len() && !end {
            return Begin::More;
        }
        if ticks < 3 {
            return Begin::No;
        }
        if self.wrapped && self.fence.is_none() {
            self.flush(sink);
            self.pos = at + blanks + ticks;
            self.shown = self.pos;
            self.wrapped = false;
            return Begin::Yes;
        }
        if let Some(open) = self.fence {
            let ends = text[ticks..].starts_with([' ', '\n', '\r', '\t']) || ticks == text.len();
            if ticks >= open && ends {
                self.fence = None;
                // Back-ticks of a fence are no inline code.
                self.ticks = (at + blanks + ticks, false);
            }
            return Begin::No;
        }
        match self.opening_at(at + blanks, sink, end) {
            Begin::No => self.fence_opens(blanks, ticks, sink, end),
            opened => opened,
        }
    }

    fn fence_opens(&mut self, blanks: usize, ticks: usize, sink: &mut Sink, end: bool) -> Begin {
        let at = self.pos;
        let text = &self.buf[at + blanks + ticks..];
        let info = text.bytes().take(INFO).take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let after = &text[info..];
        let gap = after.bytes().take(INFO).take_while(u8::is_ascii_whitespace).count();
        let Some(&first) = after.as_bytes().get(gap).filter(|_| gap < INFO && info < INFO) else {
            if end || gap >= INFO || info >= INFO {
                self.fence = Some(ticks);
                self.ticks = (at + blanks + ticks, false);
                return Begin::No;
            }
            return Begin::More;
        };
        let inside = at + blanks + ticks + info + gap;
        let json = matches!(&text[..info], "" | "json" | "json5" | "jsonc" | "tool" | "python" | "py" | "xml");
        match first {
            b'{' | b'[' if json && self.dialects.has(Dialect::Own) => {
                let list = is_python_list(&self.buf[inside..], &self.tools, end);
                if list == Begin::More {
                    return Begin::More;
                }
                self.flush(sink);
                let python = list == Begin::Yes && !self.no_python;
                self.state = State::Bare(Bare::new(python, at, inside, !sink.has_text(), Some(ticks)));
                return Begin::Yes;
            }
            b'<' if json && !sink.has_text() && self.buf[self.shown..at].trim().is_empty() => {
                let before = (self.line, self.shown);
                (self.line, self.shown) = (inside, inside);
                self.ticks = (inside, false);
                let opened = self.opening_at(inside, sink, end);
                self.wrapped = opened == Begin::Yes;
                if !self.wrapped {
                    (self.line, self.shown) = before;
                }
                if opened != Begin::No {
                    return opened;
                }
            }
            _ => {}
        }
        self.fence = Some(ticks);
        self.ticks = (at + blanks + ticks, false);
        Begin::No
    }
}
