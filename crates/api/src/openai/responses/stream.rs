use super::object::Frame;
use crate::dialect::{responses_usage, text_part};
use crate::openai::OpenAiError;
use crate::openai::agent_start::Begun;
use crate::openai::delta_projector::{OpenAiDelta, OpenAiDeltas};
use crate::response::event_stream;
use crate::tenant_app::TenantApp;
use axum::response::Response;
use axum::response::sse::Event;
use futures::StreamExt as _;
use serde_json::{Value, json};
use std::convert::Infallible;

struct Growing {
    frame: Frame,
    text: String,
    number: u64,
}

impl Growing {
    fn event(&mut self, kind: &str, mut body: Value) -> Event {
        body["type"] = json!(kind);
        body["sequence_number"] = json!(self.number);
        self.number += 1;
        Event::default().event(kind).data(body.to_string())
    }

    /// An event about the only part of the only message.
    fn about_text(&mut self, kind: &str, field: &str, value: Value) -> Event {
        let mut body = json!({
            "item_id": self.frame.message_id(), "output_index": 0, "content_index": 0,
        });
        if kind.starts_with("response.output_text") {
            body["logprobs"] = json!([]);
        }
        body[field] = value;
        self.event(kind, body)
    }

    fn begin(&mut self) -> Vec<Event> {
        let response = self.frame.response("in_progress", &[], &Value::Null, "running");
        let item = self.frame.message("in_progress", None);
        vec![
            self.event("response.created", json!({"response": response})),
            self.event("response.in_progress", json!({"response": response})),
            self.event("response.output_item.added", json!({"output_index": 0, "item": item})),
            self.about_text("response.content_part.added", "part", text_part("")),
        ]
    }

    fn grow(&mut self, more: &str) -> Event {
        self.text.push_str(more);
        self.about_text("response.output_text.delta", "delta", json!(more))
    }

    fn end(&mut self, status: &str, usage: &Value, ours: &str) -> Vec<Event> {
        let text = self.text.clone();
        let item = self.frame.message(status, Some(&text));
        let response = self.frame.response(status, std::slice::from_ref(&item), usage, ours);
        vec![
            self.about_text("response.output_text.done", "text", json!(text)),
            self.about_text("response.content_part.done", "part", text_part(&text)),
            self.event("response.output_item.done", json!({"output_index": 0, "item": item})),
            self.event(&format!("response.{status}"), json!({"response": response})),
        ]
    }

    fn of(&mut self, delta: OpenAiDelta) -> Vec<Event> {
        match delta {
            OpenAiDelta::Reasoning(_) => Vec::new(),
            OpenAiDelta::Text(more) => vec![self.grow(&more)],
            OpenAiDelta::Waits(what) => {
                let mut events = vec![self.grow(&what)];
                events.extend(self.end("completed", &Value::Null, "waiting"));
                events
            }
            OpenAiDelta::Ended { limited, usage: spent } => {
                let status = if limited { "incomplete" } else { "completed" };
                self.end(status, &responses_usage(&spent), "finished")
            }
            OpenAiDelta::Failed(error) => {
                let response = self.frame.failed(&error);
                vec![self.event("response.failed", json!({"response": response}))]
            }
        }
    }
}

/// Streams the run as it happens, from the event with the number `first` on.
pub(super) async fn stream(
    state: &TenantApp,
    begun: Begun,
    frame: Frame,
    first: usize,
) -> Result<Response, OpenAiError> {
    let mut all = OpenAiDeltas::open(state, begun).await?;
    let state = state.clone();
    let mut growing = Growing { frame, text: String::new(), number: 0 };
    let events = async_stream::stream! {
        for event in growing.begin() {
            yield Ok::<_, Infallible>(event);
        }
        while let Some(delta) = all.next().await {
            growing.frame.completed = Some(state.now().0 / 1000);
            for event in growing.of(delta) {
                yield Ok(event);
            }
        }
    };
    Ok(event_stream(events.skip(first)))
}
