//! A run as a stream of chat completion chunks.

use crate::chat::waiting;
use crate::openai::{OpenAiError, usage};
use crate::state::ApiState;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{Stream, StreamExt};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;
use steward_core::RunId;
use steward_core::event::{EventBody, Outcome};
use steward_core::model::Purpose;

struct Chunks {
    run: RunId,
    model: String,
    created: i64,
}

impl Chunks {
    fn event(&self, delta: &Value, finish: Option<&str>) -> Event {
        data(&json!({
            "id": format!("chatcmpl-{}", self.run),
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    }

    fn usage(&self, usage: &Value) -> Event {
        data(&json!({
            "id": format!("chatcmpl-{}", self.run),
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [],
            "usage": usage,
        }))
    }
}

fn data(value: &Value) -> Event {
    Event::default().data(value.to_string())
}

/// Streams `run` as it happens. The run goes on if the client leaves: it is durable.
pub(crate) fn stream(
    state: &ApiState,
    run: RunId,
    model: String,
    created: i64,
    with_usage: bool,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let mut events = state.runs.watch(run, 0);
    let chunks = Chunks {
        run,
        model,
        created,
    };
    let stream = async_stream::stream! {
        yield Ok(chunks.event(&json!({"role": "assistant", "content": ""}), None));
        let mut shown = String::new();
        while let Some(event) = events.next().await {
            let body = match event {
                Ok(event) => event.body,
                Err(error) => {
                    yield Ok(data(&OpenAiError::from(error).body()));
                    break;
                }
            };
            match body {
                EventBody::ModelDelta { purpose: Purpose::Reply | Purpose::Answer, text, reasoning, .. } => {
                    if !reasoning.is_empty() {
                        yield Ok(chunks.event(&json!({"reasoning_content": reasoning}), None));
                    }
                    if !text.is_empty() {
                        shown.push_str(&text);
                        yield Ok(chunks.event(&json!({"content": text}), None));
                    }
                }
                EventBody::ModelResponded { ref calls, .. } if !calls.is_empty() && !shown.is_empty() => {
                    shown.clear();
                    yield Ok(chunks.event(&json!({"content": "\n\n"}), None));
                }
                // What was sent can't be taken back: the new try begins on a line of its own.
                EventBody::ModelFailed { .. } if !shown.is_empty() => {
                    shown.clear();
                    yield Ok(chunks.event(&json!({"content": "\n\n"}), None));
                }
                EventBody::ApprovalRequested { subject, .. } => {
                    yield Ok(chunks.event(&json!({"content": waiting(&subject)}), None));
                    yield Ok(chunks.event(&json!({}), Some("stop")));
                    break;
                }
                EventBody::RunFinished { outcome, answer, usage: spent, .. } => {
                    if let Outcome::Failed { message } = outcome {
                        yield Ok(data(&OpenAiError::failed(format!("{message} (run {run})")).body()));
                        break;
                    }
                    let rest = answer.strip_prefix(shown.trim()).unwrap_or(&answer);
                    if !rest.is_empty() && rest.trim() != shown.trim() {
                        yield Ok(chunks.event(&json!({"content": rest}), None));
                    }
                    let finish = if matches!(outcome, Outcome::Limited { .. }) { "length" } else { "stop" };
                    yield Ok(chunks.event(&json!({}), Some(finish)));
                    if with_usage {
                        yield Ok(chunks.usage(&usage(&spent)));
                    }
                    break;
                }
                _ => {}
            }
        }
        yield Ok(Event::default().data("[DONE]"));
    };
    Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}
