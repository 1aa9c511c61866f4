//! A run as clients of the OpenAI dialect see it: text that grows, and an end.

use crate::openai::agent_start::Begun;
use crate::openai::run_events::run_events;
use crate::openai::{OpenAiError, waiting};
use crate::tenant_app::TenantApp;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::collections::VecDeque;
use std::time::Duration;
use steward_app::Attached;
use steward_core::RunId;
use steward_core::budget::Limit;
use steward_core::event::{Event, EventBody, Outcome};
use steward_core::model::{ModelError, Purpose, Usage};
use steward_core::ports::StoreError;

/// Longest wait for a run's first delta before an answer begins that can no longer say by its status how it went.
const FIRST: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OpenAiDelta {
    Reasoning(String),
    Text(String),
    /// The run waits for a person; what the client is told.
    Waits(String),
    Ended {
        /// Whether at a limit, be it that of the last reply's length.
        limited: bool,
        usage: Usage,
    },
    Failed(OpenAiError),
}

impl OpenAiDelta {
    /// After these nothing follows.
    fn is_last(&self) -> bool {
        matches!(self, Self::Waits(_) | Self::Ended { .. } | Self::Failed(_))
    }
}

pub(crate) struct OpenAiDeltas {
    run: RunId,
    /// Dropped before the end, it stops the run.
    attached: Attached,
    events: BoxStream<'static, Result<Event, StoreError>>,
    projector: DeltaProjector,
    ready: VecDeque<OpenAiDelta>,
    over: bool,
}

impl OpenAiDeltas {
    /// Waits a moment for the first delta, so that a run that fails at once gets an error status.
    pub async fn open(state: &TenantApp, begun: Begun) -> Result<Self, OpenAiError> {
        let Begun { run, joined, attached } = begun;
        let (events, projector) = (run_events(state, run, joined).await?, DeltaProjector::default());
        let mut deltas = Self { run, attached, events, projector, ready: VecDeque::new(), over: false };
        match tokio::time::timeout(FIRST, deltas.read()).await {
            Ok(Some(OpenAiDelta::Failed(error))) => {
                deltas.attached.let_go();
                return Err(error);
            }
            Ok(Some(first)) => deltas.ready.push_front(first),
            Ok(None) | Err(_) => {}
        }
        Ok(deltas)
    }

    /// `None` after the last one, and where the log ends without one.
    pub async fn next(&mut self) -> Option<OpenAiDelta> {
        if self.over {
            return None;
        }
        let next = self.read().await?;
        self.over = next.is_last();
        if self.over {
            self.attached.let_go();
        }
        Some(next)
    }

    async fn read(&mut self) -> Option<OpenAiDelta> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                return Some(next);
            }
            match self.events.next().await? {
                Ok(event) => self.ready.extend(self.projector.take(self.run, event.body)),
                Err(error) => return Some(OpenAiDelta::Failed(error.into())),
            }
        }
    }
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the reply")]
pub(crate) struct DeltaProjector {
    reply: String,
    earlier: Vec<String>,
    /// The model may be corrected: what it says is held back until it stands.
    weak: bool,
    /// The reply is held back: it may be corrected, or is a second try at something that was shown.
    held: bool,
    /// It is held back as its text may turn out to be reasoning.
    provisional: bool,
    /// The model's error after which nothing has come yet.
    refused: Option<ModelError>,
    /// The last reply was cut off at the limit of its length.
    cut: bool,
}

impl DeltaProjector {
    /// What the client sees of the next event. After `Waits`, `Ended` and `Failed` nothing follows.
    pub fn take(&mut self, run: RunId, body: EventBody) -> Vec<OpenAiDelta> {
        match &body {
            EventBody::ModelFailed { error, .. } => self.refused = Some(error.clone()),
            EventBody::ModelResponded { finish, .. } => {
                self.refused = None;
                self.cut = finish == "length";
            }
            _ => {}
        }
        match body {
            EventBody::RunStarted { setup, .. } => {
                self.weak = !setup.capabilities.trusted;
                self.held = self.weak;
                Vec::new()
            }
            EventBody::ModelRequested { .. } => {
                self.provisional = false;
                Vec::new()
            }
            EventBody::ModelDelta {
                purpose: Purpose::Reply | Purpose::Answer,
                text,
                reasoning,
                provisional,
                retracts,
                ..
            } => {
                let mut deltas = Vec::new();
                if retracts {
                    deltas = self.take_back();
                }
                if !reasoning.is_empty() {
                    deltas.push(OpenAiDelta::Reasoning(reasoning));
                }
                if provisional {
                    self.provisional = true;
                } else if !text.is_empty() {
                    deltas.extend(self.settle());
                }
                self.reply.push_str(&text);
                if !text.is_empty() && self.is_shown() {
                    deltas.push(OpenAiDelta::Text(text));
                }
                deltas
            }
            EventBody::ModelResponded { ref calls, .. } if !calls.is_empty() => {
                let mut deltas = self.settle();
                deltas.extend(self.release());
                deltas.extend(self.new_line());
                self.held = self.weak;
                deltas
            }
            EventBody::ModelResponded { .. } => self.settle(),
            // What was sent can't be taken back: the new try begins on a line of its own.
            EventBody::ModelFailed { .. } => self.new_line(),
            EventBody::ModelCorrected { .. }
            | EventBody::DeepReminded { .. }
            | EventBody::IntentDispatched { call: Some(_), .. } => {
                self.over();
                self.held = self.weak || !self.earlier.is_empty();
                Vec::new()
            }
            EventBody::ApprovalRequested { subject, .. } => vec![OpenAiDelta::Waits(waiting(&subject))],
            EventBody::RunFinished { outcome, answer, usage, .. } => self.end(run, &outcome, &answer, usage),
            _ => Vec::new(),
        }
    }

    fn is_shown(&self) -> bool {
        !self.held && !self.provisional
    }

    /// Shows what might have been reasoning and is none.
    fn settle(&mut self) -> Vec<OpenAiDelta> {
        let settled = std::mem::take(&mut self.provisional) && !self.held && !self.reply.is_empty();
        settled.then(|| OpenAiDelta::Text(self.reply.clone())).into_iter().collect()
    }

    /// The reply begins again; what was shown of it all the same stays above.
    fn take_back(&mut self) -> Vec<OpenAiDelta> {
        let deltas = self.new_line();
        self.provisional = false;
        deltas
    }

    fn over(&mut self) {
        let shown = self.is_shown();
        self.provisional = false;
        let reply = std::mem::take(&mut self.reply);
        if !reply.trim().is_empty() && shown {
            self.earlier.push(reply);
        }
    }

    /// Shows what was held back, unless the client has seen it.
    fn release(&mut self) -> Vec<OpenAiDelta> {
        if !std::mem::take(&mut self.held) {
            return Vec::new();
        }
        let reply = self.reply.clone();
        self.more(&reply)
    }

    /// `text` below what was shown before; nothing if it was shown already.
    fn more(&self, text: &str) -> Vec<OpenAiDelta> {
        let text = text.trim();
        if text.is_empty() || self.earlier.iter().any(|one| one.trim() == text) {
            return Vec::new();
        }
        let Some(last) = self.earlier.last() else {
            return vec![OpenAiDelta::Text(text.to_owned())];
        };
        let rest = text.strip_prefix(last.trim());
        vec![OpenAiDelta::Text(rest.map_or_else(|| format!("\n\n{text}"), str::to_owned))]
    }

    fn new_line(&mut self) -> Vec<OpenAiDelta> {
        let shown = !self.reply.is_empty() && self.is_shown();
        self.reply.clear();
        if !shown {
            return Vec::new();
        }
        vec![OpenAiDelta::Text("\n\n".to_owned())]
    }

    fn end(&mut self, run: RunId, outcome: &Outcome, answer: &str, usage: Usage) -> Vec<OpenAiDelta> {
        match outcome {
            Outcome::Failed { message } => {
                let error = OpenAiError::run_failed(format!("{message} (run {run})"), self.refused.as_ref());
                return vec![OpenAiDelta::Failed(error)];
            }
            Outcome::Limited { limit: Limit::Spend, message } => {
                return vec![OpenAiDelta::Failed(OpenAiError::over_budget(format!("{message} (run {run})")))];
            }
            _ => {}
        }
        let mut deltas = if answer == self.reply && self.is_shown() {
            Vec::new()
        } else if answer.is_empty() {
            self.provisional = false;
            self.release()
        } else {
            self.over();
            self.more(answer)
        };
        deltas.retain(|delta| *delta != OpenAiDelta::Text(String::new()));
        let limited = self.cut || matches!(outcome, Outcome::Limited { .. });
        deltas.push(OpenAiDelta::Ended { limited, usage });
        deltas
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{DeltaProjector, OpenAiDelta};
    use serde_json::{Value, json};
    use steward_core::RunId;
    use uuid::Uuid;

    const ZERO: &str = r#"{"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}"#;

    fn seen(bodies: &[Value]) -> (String, Option<OpenAiDelta>) {
        let mut projector = DeltaProjector::default();
        let (mut text, mut end) = (String::new(), None);
        for body in bodies {
            let body = serde_json::from_value(body.clone()).unwrap();
            for delta in projector.take(RunId(Uuid::from_u128(1)), body) {
                match delta {
                    OpenAiDelta::Text(more) => text.push_str(&more),
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
        assert!(matches!(end, Some(OpenAiDelta::Ended { limited: false, .. })));
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
        let (text, _) = seen(&[failed.clone(), delta("Hal"), failed, delta("Hallo"), finished("Hallo", &done)]);
        assert_eq!(text, "Hal\n\nHallo");
    }

    #[test]
    fn nothing_is_said_twice_after_a_correction() {
        let done = json!({"status": "completed"});
        let corrected = json!({"type": "model.corrected", "words": "w", "message": "m"});
        let dispatched = json!({"type": "intent.dispatched", "note": "n"});
        let of = |second: &str, answer: &str| {
            let (text, _) = seen(&[
                delta("I saved"),
                delta(" it."),
                corrected.clone(),
                delta(second),
                dispatched.clone(),
                finished(answer, &done),
            ]);
            text
        };
        assert_eq!(of("I saved it.", "I saved it."), "I saved it.");
        assert_eq!(of("Sorry.", "Sorry."), "I saved it.\n\nSorry.");
        assert_eq!(of("I saved it. Not.", "I saved it. Not."), "I saved it. Not.");
        assert_eq!(of("Hm.", "Composed."), "I saved it.\n\nComposed.");
    }

    #[test]
    fn a_corrected_model_that_calls_is_shown_with_what_it_says() {
        let done = json!({"status": "completed"});
        let call = json!({"id": "c", "name": "read", "arguments": {}, "source": "native", "confidence": 1.0});
        let responded = json!({
            "type": "model.responded", "step": 2, "purpose": "reply", "text": "Now.", "calls": [call],
            "finish": "tool_calls", "usage": serde_json::from_str::<Value>(ZERO).unwrap(),
        });
        let (text, _) = seen(&[
            delta("I saved it."),
            json!({"type": "model.corrected", "words": "w", "message": "m"}),
            delta("Now."),
            responded,
            delta("Saved."),
            finished("Saved.", &done),
        ]);
        assert_eq!(text, "I saved it.\n\nNow.\n\nSaved.");
    }

    #[test]
    fn what_may_be_reasoning_is_held_back_until_it_is_known() {
        let done = json!({"status": "completed"});
        let provisional = |text: &str| json!({"type": "model.delta", "step": 1, "purpose": "reply", "text": text, "provisional": true});
        let retracting = |text: &str| json!({"type": "model.delta", "step": 1, "purpose": "reply", "text": text, "reasoning": "Hm.", "retracts": true});
        let responded = |text: &str| {
            json!({"type": "model.responded", "step": 1, "purpose": "reply", "text": text, "calls": [], "finish": "stop",
                   "usage": serde_json::from_str::<Value>(ZERO).unwrap()})
        };
        let text = |bodies: &[Value]| {
            let (mut shown, mut projector) = (Vec::new(), DeltaProjector::default());
            for body in bodies {
                let deltas = projector.take(RunId(Uuid::from_u128(1)), serde_json::from_value(body.clone()).unwrap());
                shown.extend(deltas.into_iter().filter_map(|delta| match delta {
                    OpenAiDelta::Text(text) => Some(text),
                    _ => None,
                }));
            }
            shown
        };
        let end = finished("Blue.", &done);
        for bodies in [
            vec![provisional("Hm"), provisional("."), retracting("Bl"), delta("ue."), responded("Blue."), end.clone()],
            // The tag came with the end of the reply.
            vec![provisional("Hm."), retracting("Blue."), responded("Blue."), end.clone()],
            vec![provisional("Bl"), provisional("ue."), responded("Blue."), end.clone()],
            // Its reasoning came after all, apart from the text.
            vec![provisional("Bl"), delta("ue."), responded("Blue."), end.clone()],
            vec![provisional("Hm."), end],
        ] {
            assert_eq!(text(&bodies).concat(), "Blue.", "{bodies:?}");
        }
        let failed = json!({"type": "model.failed", "step": 1, "purpose": "reply",
            "error": {"class": "broken", "message": "m", "hint": "h"}});
        let cut = [provisional("Hm"), failed, provisional("Blue."), responded("Blue."), finished("Blue.", &done)];
        assert_eq!(text(&cut).concat(), "Blue.");
    }

    #[test]
    fn bytes_are_kept() {
        let done = json!({"status": "completed"});
        let text = "\n  One\u{a0}two \n";
        assert_eq!(seen(&[delta(text), finished(text, &done)]).0, text);
    }

    #[test]
    fn the_end_says_how_it_was() {
        let limited = json!({"status": "limited", "limit": "tokens"});
        assert!(matches!(seen(&[finished("", &limited)]).1, Some(OpenAiDelta::Ended { limited: true, .. })));
        let usage: Value = serde_json::from_str(ZERO).unwrap();
        let cut = json!({"type": "model.responded", "step": 1, "purpose": "reply", "text": "One", "calls": [], "finish": "length", "usage": usage});
        let done = finished("One", &json!({"status": "completed"}));
        assert!(matches!(seen(&[delta("One"), cut, done]).1, Some(OpenAiDelta::Ended { limited: true, .. })));
        let failed = json!({"status": "failed", "message": "no model"});
        let (_, end) = seen(&[finished("", &failed)]);
        assert!(matches!(end, Some(OpenAiDelta::Failed(why)) if why.message.starts_with("no model")));
    }
}
