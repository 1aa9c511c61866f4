use super::Metrics;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use steward_core::RunId;
use steward_core::approval::Answer;
use steward_core::event::{Event, EventBody, Outcome, ToolResult};
use steward_core::locks::lock;
use steward_core::ports::{EventBus, EventStream};
use steward_core::tool::EffectClass;

/// Most calls whose class is remembered until their result: those of runs that went elsewhere are forgotten.
const MOST: usize = 10_000;

/// Counts the events of this node on their way to those who listen. They are committed already.
pub struct CountingBus {
    inner: Arc<dyn EventBus>,
    metrics: Arc<Metrics>,
    calls: Mutex<HashMap<(RunId, String), EffectClass>>,
}

impl CountingBus {
    pub fn new(inner: Arc<dyn EventBus>, metrics: Arc<Metrics>) -> Self {
        Self { inner, metrics, calls: Mutex::default() }
    }

    fn count(&self, run: RunId, body: &EventBody) {
        let metrics = &self.metrics;
        match body {
            EventBody::RunStarted { setup, .. } => {
                metrics.runs_started.get_or_create(&[("origin", word(&setup.origin).into())]).inc();
            }
            EventBody::RunFinished { outcome, .. } => {
                metrics.runs_finished.get_or_create(&[("outcome", outcome_word(outcome).into())]).inc();
            }
            EventBody::ModelResponded { answered, usage, .. } => {
                let name = answered.as_ref().map_or("", |answered| answered.name.as_str());
                metrics.model_call("run", name, false, usage);
            }
            // Which connection failed is known by its id only, which is no label.
            EventBody::ModelFailed { usage, .. } => metrics.model_call("run", "", true, usage),
            EventBody::ToolIntent { call_id, effect, .. } => self.remember(run, call_id, *effect),
            EventBody::ToolResult { call_id, result, .. } => {
                let outcome = match result {
                    ToolResult::Ok { .. } => "ok",
                    ToolResult::Error { .. } => "error",
                    ToolResult::Dry { .. } => "dry",
                };
                self.tool(self.forget(run, call_id).map_or("none", class_word), outcome);
            }
            EventBody::ToolUncertain { call_id, .. } => {
                self.tool(self.forget(run, call_id).map_or("none", class_word), "uncertain");
            }
            EventBody::ToolRejected { .. } => self.tool("none", "rejected"),
            EventBody::ApprovalRequested { .. } => drop(metrics.approvals_asked.inc()),
            EventBody::ApprovalDecided { answer, .. } => {
                metrics.approvals_decided.get_or_create(&[("answer", answer_word(answer).into())]).inc();
            }
            _ => {}
        }
    }

    fn tool(&self, class: &'static str, outcome: &'static str) {
        self.metrics.tool_calls.get_or_create(&[("effect", class.into()), ("outcome", outcome.into())]).inc();
    }

    fn remember(&self, run: RunId, call: &str, class: EffectClass) {
        let mut calls = lock(&self.calls);
        if calls.len() >= MOST {
            calls.clear();
        }
        calls.insert((run, call.to_owned()), class);
    }

    fn forget(&self, run: RunId, call: &str) -> Option<EffectClass> {
        lock(&self.calls).remove(&(run, call.to_owned()))
    }
}

impl EventBus for CountingBus {
    fn publish(&self, event: &Event) {
        self.count(event.run_id, &event.body);
        self.inner.publish(event);
    }

    fn subscribe(&self, run: RunId) -> EventStream {
        self.inner.subscribe(run)
    }

    fn subscribe_all(&self) -> EventStream {
        self.inner.subscribe_all()
    }
}

fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => "other".to_owned(),
    }
}

fn outcome_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed { .. } => "failed",
        Outcome::Stopped { .. } => "stopped",
        Outcome::Limited { .. } => "limited",
        Outcome::Rejected => "rejected",
    }
}

fn class_word(class: EffectClass) -> &'static str {
    match class {
        EffectClass::Read => "read",
        EffectClass::Idempotent => "idempotent",
        EffectClass::Keyed => "keyed",
        EffectClass::Write => "write",
    }
}

fn answer_word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approve { .. } => "approve",
        Answer::Deny { .. } => "deny",
        Answer::Feedback { .. } => "feedback",
        _ => "settled",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::CountingBus;
    use crate::metrics::Metrics;
    use futures::stream;
    use std::sync::Arc;
    use steward_core::event::{Event, EventBody, Outcome};
    use steward_core::ports::{EventBus, EventStream};
    use steward_core::{RunId, Timestamp};
    use uuid::Uuid;

    struct Nobody;

    impl EventBus for Nobody {
        fn publish(&self, _: &Event) {}

        fn subscribe(&self, _: RunId) -> EventStream {
            Box::pin(stream::empty())
        }

        fn subscribe_all(&self) -> EventStream {
            Box::pin(stream::empty())
        }
    }

    #[test]
    fn events_are_counted_on_their_way() {
        let metrics = Arc::new(Metrics::default());
        let bus = CountingBus::new(Arc::new(Nobody), Arc::clone(&metrics));
        let event = |body| Event { run_id: RunId(Uuid::nil()), seq: 1, at: Timestamp(0), epoch: 1, body };
        let of = |text: &str| serde_json::from_str::<EventBody>(text).unwrap();
        for body in [
            of(
                r#"{"type": "tool.intent", "call_id": "c1", "tool": "write", "arguments": {}, "args_hash": "", "effect": "write", "idempotency_key": ""}"#,
            ),
            of(
                r#"{"type": "tool.result", "call_id": "c1", "tool": "write", "outcome": "error", "message": "no", "ms": 3}"#,
            ),
            of(r#"{"type": "tool.rejected", "call_id": "c2", "tool": "nope", "message": "no"}"#),
            EventBody::RunFinished {
                outcome: Outcome::Rejected,
                answer: String::new(),
                composed: false,
                usage: steward_core::model::Usage::default(),
                receipts: None,
            },
        ] {
            bus.publish(&event(body));
        }
        let text = metrics.text();
        for line in [
            r#"steward_tool_calls_total{effect="write",outcome="error"} 1"#,
            r#"steward_tool_calls_total{effect="none",outcome="rejected"} 1"#,
            r#"steward_runs_finished_total{outcome="rejected"} 1"#,
        ] {
            assert!(text.lines().any(|one| one == line), "no {line} in\n{text}");
        }
        assert!(bus.calls.lock().unwrap().is_empty());
    }
}
