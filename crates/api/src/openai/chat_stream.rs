use crate::openai::agent_start::Begun;
use crate::openai::delta_projector::{OpenAiDelta, OpenAiDeltas};
use crate::openai::{ChatFrame, OpenAiError};
use crate::response::event_stream;
use crate::tenant_app::TenantApp;
use axum::response::Response;
use axum::response::sse::Event;
use serde_json::{Value, json};
use std::convert::Infallible;
use steward_core::RunId;

struct Chunks {
    run: RunId,
    frame: ChatFrame,
    with_usage: bool,
}

impl Chunks {
    /// The last chunk tells a program what `finish_reason` has no word for: whether the run waits for a person.
    fn last(&self, finish: &str, status: &str) -> Value {
        let mut chunk = self.frame.delta(&json!({}), Some(finish));
        chunk["steward"] = json!({"run_id": self.run, "status": status});
        chunk
    }

    fn of(&self, delta: OpenAiDelta) -> Vec<Value> {
        match delta {
            OpenAiDelta::Reasoning(text) => vec![self.frame.delta(&json!({"reasoning_content": text}), None)],
            OpenAiDelta::Text(text) => vec![self.frame.delta(&json!({"content": text}), None)],
            OpenAiDelta::Waits(text) => {
                vec![self.frame.delta(&json!({"content": text}), None), self.last("stop", "waiting")]
            }
            OpenAiDelta::Ended { limited, usage } => {
                let mut chunks = vec![self.last(if limited { "length" } else { "stop" }, "finished")];
                chunks.extend(self.with_usage.then(|| self.frame.usage(&usage)));
                chunks
            }
            OpenAiDelta::Failed(error) => vec![error.body()],
        }
    }
}

/// Streams a run as it happens. It stops if the client leaves.
pub(crate) async fn stream(
    state: &TenantApp,
    begun: Begun,
    frame: ChatFrame,
    with_usage: bool,
) -> Result<Response, OpenAiError> {
    let run = begun.run;
    let mut all = OpenAiDeltas::open(state, begun).await?;
    let chunks = Chunks { run, frame, with_usage };
    let data = |chunk: &Value| Ok::<_, Infallible>(Event::default().data(chunk.to_string()));
    Ok(event_stream(async_stream::stream! {
        yield data(&chunks.frame.delta(&json!({"role": "assistant", "content": ""}), None));
        while let Some(delta) = all.next().await {
            for chunk in chunks.of(delta) {
                yield data(&chunk);
            }
        }
        yield Ok(Event::default().data("[DONE]"));
    }))
}
