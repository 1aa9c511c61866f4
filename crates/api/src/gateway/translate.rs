//! Chat completions for providers that speak another interface, in the words of the OpenAI dialect.

mod frame;
mod request;

use crate::gateway::{PREFIX, mark};
use crate::openai::{OpenAiError, model_error, no_answer, stopping};
use crate::response::event_stream;
use crate::tenant_app::TenantApp;
use axum::Json;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use frame::Frame;
use futures::{FutureExt, Stream, StreamExt};
use request::Request;
use serde_json::{Value, json};
use std::convert::Infallible;
use steward_app::Reservation;
use steward_core::model::{Connection, ModelRequest, Usage};
use steward_core::ports::{ChunkStream, ModelCall, Opened};
use steward_core::routing::Routing;

pub(super) use request::request;

/// Asks, and answers as `chat.completion` or as a stream of its chunks.
pub(super) async fn answer(
    state: &TenantApp,
    targets: &[Connection],
    routing: &Routing,
    request: Request,
    mut reservation: Reservation,
) -> Result<Response, OpenAiError> {
    let Request { model: wanted, stream: streamed, include_usage } = request;
    let same = |_: &Connection| -> ModelRequest { wanted.clone() };
    let call = ModelCall { targets, routing, request: &same, deadline_ms: wanted.timeout_ms };
    let Opened { connection, attempts, stream } = match state.open_model(call).await {
        Ok(opened) => opened,
        Err(error) => {
            reservation.settle(None, Usage::default(), true, true);
            return Err(no_answer(&error));
        }
    };
    let id = format!("chatcmpl-{}", state.new_id().simple());
    let model = format!("{PREFIX}{}", connection.name);
    let telling = Telling {
        stream: stream.take_until(state.usage_writer.closing().boxed()).boxed(),
        frame: Frame::new(id, state.now().0 / 1000, model),
        reservation,
        priced: state.gateway.price(&connection).is_some(),
        connection: connection.clone(),
        told: false,
    };
    let mut response = if streamed {
        event_stream(events(telling, include_usage))
    } else {
        Json(whole(telling).await?).into_response()
    };
    mark(&mut response, &connection, &attempts);
    Ok(response)
}

/// An answer on its way to the client. Dropped on it, what has come so far counts.
struct Telling {
    stream: ChunkStream,
    frame: Frame,
    reservation: Reservation,
    priced: bool,
    connection: Connection,
    told: bool,
}

impl Telling {
    /// What the next piece changes; none after the last one.
    async fn next(&mut self) -> Option<Result<Value, OpenAiError>> {
        loop {
            let error = match self.stream.next().await {
                Some(Ok(chunk)) => match self.frame.take(chunk) {
                    Some(delta) => return Some(Ok(delta)),
                    None => continue,
                },
                Some(Err(error)) => model_error(&error),
                None if self.frame.ended => {
                    self.settle(false);
                    return None;
                }
                // Nothing else ends a stream before its last chunk.
                None => stopping(),
            };
            self.settle(true);
            return Some(Err(error));
        }
    }

    fn settle(&mut self, failed: bool) {
        self.told = true;
        let usage = self.frame.spent(self.reservation.prompt);
        self.reservation.settle(Some(&self.connection), usage, self.priced, failed);
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        if !self.told {
            self.settle(false);
        }
    }
}

async fn whole(mut telling: Telling) -> Result<Value, OpenAiError> {
    while let Some(delta) = telling.next().await {
        delta?;
    }
    Ok(telling.frame.whole())
}

fn events(mut telling: Telling, include_usage: bool) -> impl Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        yield data(&telling.frame.chat.delta(&json!({"role": "assistant", "content": ""}), None));
        while let Some(delta) = telling.next().await {
            match delta {
                Ok(delta) => yield data(&telling.frame.chat.delta(&delta, None)),
                Err(error) => {
                    yield data(&error.body());
                    return;
                }
            }
        }
        let frame = &telling.frame;
        yield data(&frame.chat.delta(&json!({}), Some(&frame.finish)));
        if include_usage {
            yield data(&frame.chat.usage(&frame.usage));
        }
        yield Ok(Event::default().data("[DONE]"));
    }
}

#[expect(clippy::unnecessary_wraps, reason = "an item of a stream of events")]
fn data(value: &Value) -> Result<Event, Infallible> {
    Ok(Event::default().data(value.to_string()))
}
