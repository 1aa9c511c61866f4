use crate::openai::delta_projector::{OpenAiDelta, OpenAiDeltas};
use crate::openai::{OpenAiError, usage};
use crate::tenant_app::TenantApp;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::Stream;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;
use steward_core::RunId;

struct Chunks {
    run: RunId,
    model: String,
    created: i64,
    with_usage: bool,
}

impl Chunks {
    fn event(&self, delta: &Value, finish: Option<&str>) -> Event {
        data(&self.chunk(delta, finish))
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.run),
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        })
    }

    /// The last chunk tells a program what `finish_reason` has no word for: whether the run waits for a person.
    fn last(&self, finish: &str, status: &str) -> Event {
        let mut chunk = self.chunk(&json!({}), Some(finish));
        chunk["steward"] = json!({"run_id": self.run, "status": status});
        data(&chunk)
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

    fn of(&self, delta: OpenAiDelta) -> (Vec<Event>, bool) {
        match delta {
            OpenAiDelta::Reasoning(text) => (vec![self.event(&json!({"reasoning_content": text}), None)], false),
            OpenAiDelta::Text(text) => (vec![self.event(&json!({"content": text}), None)], false),
            OpenAiDelta::Waits(text) => {
                let said = self.event(&json!({"content": text}), None);
                (vec![said, self.last("stop", "waiting")], true)
            }
            OpenAiDelta::Ended { limited, usage: spent } => {
                let finish = if limited { "length" } else { "stop" };
                let mut events = vec![self.last(finish, "finished")];
                if self.with_usage {
                    events.push(self.usage(&usage(&spent)));
                }
                (events, true)
            }
            OpenAiDelta::Failed(failure) => (vec![data(&OpenAiError::from(failure).body())], true),
        }
    }
}

fn data(value: &Value) -> Event {
    Event::default().data(value.to_string())
}

/// Streams `run` as it happens. The run goes on if the client leaves: it is durable.
pub(crate) async fn stream(
    state: &TenantApp,
    run: RunId,
    model: String,
    created: i64,
    with_usage: bool,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, OpenAiError> {
    let mut all = OpenAiDeltas::open(state, run).await?;
    let chunks = Chunks { run, model, created, with_usage };
    let stream = async_stream::stream! {
        yield Ok(chunks.event(&json!({"role": "assistant", "content": ""}), None));
        'run: while let Some(deltas) = all.next().await {
            let deltas = match deltas {
                Ok(deltas) => deltas,
                Err(error) => {
                    yield Ok(data(&error.body()));
                    break;
                }
            };
            for delta in deltas {
                let (events, last) = chunks.of(delta);
                for event in events {
                    yield Ok(event);
                }
                if last {
                    break 'run;
                }
            }
        }
        yield Ok(Event::default().data("[DONE]"));
    };
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}
