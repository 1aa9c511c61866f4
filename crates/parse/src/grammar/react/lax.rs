//! Replies of which another form was asked: what surely belongs to this one.

use super::{React, Section};
use crate::grammar::label::Label;
use crate::index::ToolIndex;
use crate::out::Sink;

impl React {
    /// For replies of which another form was asked.
    pub fn lax(tools: &ToolIndex) -> Self {
        Self { lax: true, ..Self::new(tools) }
    }

    /// Whether a label is one in a reply of which another form was asked.
    pub(super) fn means(&self, label: Label) -> bool {
        !self.lax
            || !matches!(self.section, Section::Preamble)
            || match label {
                Label::Action => true,
                Label::Thought | Label::Final => !self.wrote,
                Label::Input | Label::Observation => false,
            }
    }

    /// An action that names no known tool, or lacks what the tool needs, was text. `end`: where it ends.
    pub(super) fn untake(&mut self, end: usize, sink: &mut Sink) {
        if let Some(line) = self.tentative.take() {
            sink.text(&self.buf[line..end]);
            self.wrote = true;
            self.section = Section::Preamble;
        }
    }

    /// Tells of the calls that are complete.
    pub(super) fn tell(&mut self, sink: &mut Sink) {
        while self.lax && self.told < self.found.items.len() {
            if let Ok(call) = &self.found.items[self.told] {
                sink.call_started(&call.name);
            }
            self.told += 1;
        }
    }
}
