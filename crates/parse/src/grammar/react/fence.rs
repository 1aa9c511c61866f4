//! Code fences: around the reply, around an input, or around what is quoted.

use super::{React, Section};

impl React {
    /// A fence at the start of a line; `true` where it was consumed.
    pub(super) fn fence(&mut self) -> bool {
        let line = &self.buf[self.pos..];
        let ticks = self.pos + line.len() - line.trim_start().len();
        match &mut self.section {
            Section::Preamble if self.buf[..self.pos].trim().is_empty() && !self.fences.whole => {
                // The rest of the line (`text`, `markdown`) stays in front of the first label.
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
}
