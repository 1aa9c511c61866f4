//! Several grammars one behind the other: what one takes for text, the next one looks at. So the cascade
//! of forms works while the reply still arrives, and each stage knows its own form only.

use super::{Found, Grammar};
use crate::out::{Out, Sink};

pub(crate) struct Chain {
    stages: Vec<(Box<dyn Grammar>, Sink)>,
}

impl Chain {
    pub fn new(stages: Vec<Box<dyn Grammar>>) -> Self {
        Self { stages: stages.into_iter().map(|stage| (stage, Sink::default())).collect() }
    }

    /// Hands `outs` of the stage before `from` on.
    fn pass(&mut self, from: usize, outs: Vec<Out>, sink: &mut Sink) {
        for out in outs {
            match out {
                Out::Text(text) => self.feed(from, &text, sink),
                Out::Reasoning(text) => sink.reasoning(&text),
                Out::CallStarted { name, .. } => sink.call_started(&name),
            }
        }
    }

    fn feed(&mut self, at: usize, text: &str, sink: &mut Sink) {
        let last = at + 1 >= self.stages.len();
        let Some((stage, own)) = self.stages.get_mut(at) else {
            return sink.text(text);
        };
        if last {
            return stage.push(text, sink);
        }
        stage.push(text, own);
        let outs = own.take();
        self.pass(at + 1, outs, sink);
    }
}

impl Grammar for Chain {
    fn push(&mut self, text: &str, sink: &mut Sink) {
        self.feed(0, text, sink);
    }

    /// Calls of the first stage that has any; a later one is only told of.
    fn finish(&mut self, sink: &mut Sink, cut: bool) -> Found {
        let mut all = Found::default();
        for at in 0..self.stages.len() {
            let last = at + 1 == self.stages.len();
            let (stage, own) = &mut self.stages[at];
            let found = stage.finish(if last { &mut *sink } else { &mut *own }, cut);
            let outs = if last { Vec::new() } else { own.take() };
            self.pass(at + 1, outs, sink);
            all.diagnostics.extend(found.diagnostics);
            all.thought.push_str(&found.thought);
            if all.items.is_empty() {
                all.items = found.items;
            } else if !found.items.is_empty() {
                all.note("calls in another form in the same reply were ignored");
            }
            all.done |= found.done;
        }
        all.done &= all.items.is_empty();
        all
    }
}
