//! A run as clients of the OpenAI dialect see it: text that grows, and an end. Pure.

use crate::chat::waiting;
use steward_core::RunId;
use steward_core::event::{EventBody, Outcome};
use steward_core::model::{Purpose, Usage};

/// A piece of what a client sees.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Reasoning.
    Reasoning(String),
    /// Text of the answer.
    Text(String),
    /// The run waits for a person; what the client is told.
    Waits(String),
    /// It ended.
    Ended {
        /// Whether at a limit.
        limited: bool,
        /// All it took.
        usage: Usage,
    },
    /// It failed: why.
    Failed(String),
}

/// What a client has seen so far.
#[derive(Debug, Default)]
pub(crate) struct Shown(String);

impl Shown {
    /// What the client sees of the next event. After `Waits`, `Ended` and `Failed` nothing follows.
    pub fn take(&mut self, run: RunId, body: EventBody) -> Vec<Piece> {
        match body {
            EventBody::ModelDelta {
                purpose: Purpose::Reply | Purpose::Answer,
                text,
                reasoning,
                ..
            } => {
                let mut pieces = Vec::new();
                if !reasoning.is_empty() {
                    pieces.push(Piece::Reasoning(reasoning));
                }
                if !text.is_empty() {
                    self.0.push_str(&text);
                    pieces.push(Piece::Text(text));
                }
                pieces
            }
            EventBody::ModelResponded { ref calls, .. } if !calls.is_empty() => self.new_line(),
            // What was sent can't be taken back: the new try begins on a line of its own.
            EventBody::ModelFailed { .. } => self.new_line(),
            EventBody::ApprovalRequested { subject, .. } => vec![Piece::Waits(waiting(&subject))],
            EventBody::RunFinished {
                outcome,
                answer,
                usage,
                ..
            } => self.end(run, &outcome, &answer, usage),
            _ => Vec::new(),
        }
    }

    fn new_line(&mut self) -> Vec<Piece> {
        if self.0.is_empty() {
            return Vec::new();
        }
        self.0.clear();
        vec![Piece::Text("\n\n".to_owned())]
    }

    fn end(&mut self, run: RunId, outcome: &Outcome, answer: &str, usage: Usage) -> Vec<Piece> {
        if let Outcome::Failed { message } = outcome {
            return vec![Piece::Failed(format!("{message} (run {run})"))];
        }
        let mut pieces = Vec::new();
        let rest = answer.strip_prefix(self.0.trim()).unwrap_or(answer);
        if !rest.is_empty() && rest.trim() != self.0.trim() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        let limited = matches!(outcome, Outcome::Limited { .. });
        pieces.push(Piece::Ended { limited, usage });
        pieces
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Piece, Shown};
    use serde_json::{Value, json};
    use steward_core::RunId;
    use uuid::Uuid;

    const ZERO: &str = r#"{"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}"#;

    fn seen(bodies: &[Value]) -> (String, Option<Piece>) {
        let mut shown = Shown::default();
        let (mut text, mut end) = (String::new(), None);
        for body in bodies {
            let body = serde_json::from_value(body.clone()).unwrap();
            for piece in shown.take(RunId(Uuid::from_u128(1)), body) {
                match piece {
                    Piece::Text(more) => text.push_str(&more),
                    other => end = Some(other),
                }
            }
        }
        (text, end)
    }

    fn delta(text: &str) -> Value {
        json!({"type": "model.delta", "step": 1, "purpose": "reply", "text": text})
    }

    fn finished(answer: &str, outcome: &Value) -> Value {
        let usage: Value = serde_json::from_str(ZERO).unwrap();
        json!({"type": "run.finished", "outcome": outcome, "answer": answer, "usage": usage})
    }

    #[test]
    fn what_was_streamed_is_not_repeated_at_the_end() {
        let done = json!({"status": "completed"});
        let (text, end) = seen(&[delta("Hel"), delta("lo."), finished("Hello.", &done)]);
        assert_eq!(text, "Hello.");
        assert!(matches!(end, Some(Piece::Ended { limited: false, .. })));
        let (text, _) = seen(&[finished("Composed.", &done)]);
        assert_eq!(text, "Composed.");
        let (text, _) = seen(&[delta("Hello."), finished("Hello. More.", &done)]);
        assert_eq!(text, "Hello. More.");
    }

    #[test]
    fn a_new_try_begins_on_a_line_of_its_own() {
        let error = json!({"class": "broken", "message": "m", "hint": "h"});
        let failed = json!({"type": "model.failed", "step": 1, "purpose": "reply", "error": error});
        let done = json!({"status": "completed"});
        let (text, _) = seen(&[
            failed.clone(),
            delta("Hal"),
            failed,
            delta("Hallo"),
            finished("Hallo", &done),
        ]);
        assert_eq!(text, "Hal\n\nHallo");
    }

    #[test]
    fn the_end_says_how_it_was() {
        let limited = json!({"status": "limited", "limit": "tokens"});
        assert!(matches!(
            seen(&[finished("", &limited)]).1,
            Some(Piece::Ended { limited: true, .. })
        ));
        let failed = json!({"status": "failed", "message": "no model"});
        let (_, end) = seen(&[finished("", &failed)]);
        assert!(matches!(end, Some(Piece::Failed(why)) if why.starts_with("no model")));
    }
}
