use super::object::{Frame, part, usage};
use crate::openai::OpenAiError;
use crate::openai::delta_projector::{OpenAiDelta, OpenAiDeltas};
use crate::tenant_app::TenantApp;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::Stream;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;

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
            self.about_text("response.content_part.added", "part", part("")),
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
            self.about_text("response.content_part.done", "part", part(&text)),
            self.event("response.output_item.done", json!({"output_index": 0, "item": item})),
            self.event(&format!("response.{status}"), json!({"response": response})),
        ]
    }

    fn fail(&mut self, why: &OpenAiError) -> Vec<Event> {
        let response = self.frame.failed(why);
        vec![self.event("response.failed", json!({"response": response}))]
    }

    fn of(&mut self, delta: OpenAiDelta) -> (Vec<Event>, bool) {
        match delta {
            OpenAiDelta::Reasoning(_) => (Vec::new(), false),
            OpenAiDelta::Text(more) => (vec![self.grow(&more)], false),
            OpenAiDelta::Waits(what) => {
                let mut events = vec![self.grow(&what)];
                events.extend(self.end("completed", &Value::Null, "waiting"));
                (events, true)
            }
            OpenAiDelta::Ended { limited, usage: spent } => {
                let status = if limited { "incomplete" } else { "completed" };
                (self.end(status, &usage(&spent), "finished"), true)
            }
            OpenAiDelta::Failed(failure) => (self.fail(&failure.into()), true),
        }
    }
}

/// Streams the run as it happens. It goes on if the client leaves.
pub(super) async fn stream(
    state: &TenantApp,
    frame: Frame,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, OpenAiError> {
    let mut all = OpenAiDeltas::open(state, frame.run).await?;
    let mut growing = Growing { frame, text: String::new(), number: 0 };
    let stream = async_stream::stream! {
        for event in growing.begin() {
            yield Ok(event);
        }
        'run: while let Some(deltas) = all.next().await {
            let deltas = match deltas {
                Ok(deltas) => deltas,
                Err(error) => {
                    for event in growing.fail(&error) {
                        yield Ok(event);
                    }
                    break;
                }
            };
            for delta in deltas {
                let (events, last) = growing.of(delta);
                for event in events {
                    yield Ok(event);
                }
                if last {
                    break 'run;
                }
            }
        }
    };
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}
