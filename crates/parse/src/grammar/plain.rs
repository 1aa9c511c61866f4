//! Content that is text and nothing else.

use super::{Found, Grammar};
use crate::out::Sink;

pub(crate) struct Plain;

impl Grammar for Plain {
    fn push(&mut self, text: &str, sink: &mut Sink) {
        sink.text(text);
    }

    fn finish(&mut self, _sink: &mut Sink, _cut: bool) -> Found {
        Found::default()
    }
}
