//! Chat completions and responses for providers that speak another interface, in the words of the OpenAI dialect.

mod collected;
mod content;
mod fields;
mod frame;
mod request;
mod responses_frame;
mod responses_request;
mod tools;

use crate::gateway::inbound::Inbound;
use crate::gateway::mark;
use crate::model_name::PREFIX;
use crate::openai::{ChatFrame, OpenAiError, model_error, no_answer, stopping};
use crate::response::event_stream;
use crate::tenant_app::TenantApp;
use axum::Json;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use collected::Collected;
use frame::ChatReply;
use futures::{FutureExt, Stream, StreamExt};
use request::Request;
use responses_frame::ResponsesReply;
use serde_json::Value;
use std::convert::Infallible;
use steward_app::Reservation;
use steward_core::model::{Connection, ModelChunk, ModelRequest, Provider, Usage};
use steward_core::ports::{ChunkStream, ModelCall, Opened, Passage};
use steward_core::routing::Routing;

/// Whether a request for this connection is translated instead of passed on.
pub(super) fn is_translated(connection: &Connection, passage: Passage) -> bool {
    match passage {
        Passage::ChatCompletions => !connection.speaks_openai_dialect(),
        // The built-in model has this one interface.
        Passage::Responses => !connection.speaks_openai_dialect() || connection.provider == Provider::Local,
        Passage::Completions | Passage::Embeddings => false,
    }
}

/// Understands a request, or says which part of it has no translation.
pub(super) fn read(inbound: &Inbound, passage: Passage, timeout_ms: u64) -> Result<Request, OpenAiError> {
    match passage {
        Passage::Responses => responses_request::responses_request(inbound, timeout_ms),
        _ => request::request(inbound, timeout_ms),
    }
}

/// An event of an answer's stream.
#[derive(Debug)]
struct Sent {
    event: Option<&'static str>,
    /// Null for the mark at the end.
    data: Value,
}

impl Sent {
    fn plain(data: Value) -> Self {
        Self { event: None, data }
    }

    fn done() -> Self {
        Self::plain(Value::Null)
    }
}

impl From<Sent> for Event {
    fn from(sent: Sent) -> Self {
        let event = sent.event.map_or_else(Self::default, |kind| Self::default().event(kind));
        if sent.data.is_null() { event.data("[DONE]") } else { event.data(sent.data.to_string()) }
    }
}

/// An answer in one of the dialect's forms, as a stream or whole.
trait ReplyFormat: Send {
    fn collected(&self) -> &Collected;
    fn begin(&mut self) -> Vec<Sent>;
    fn take(&mut self, chunk: ModelChunk) -> Vec<Sent>;
    fn end(&mut self) -> Vec<Sent>;
    /// In the place of what does not come any more.
    fn fail(&mut self, error: &OpenAiError) -> Vec<Sent>;
    fn whole(&self) -> Value;
}

/// Asks, and answers in the form of `passage`, whole or as a stream.
pub(super) async fn answer(
    state: &TenantApp,
    (targets, routing): (&[Connection], &Routing),
    passage: Passage,
    request: Request,
    mut reservation: Reservation,
) -> Result<Response, OpenAiError> {
    let Request { model: wanted, stream: streamed, include_usage, echo, names } = request;
    let single_call = wanted.options.single_call;
    let same = |_: &Connection| -> ModelRequest { wanted.clone() };
    let call = ModelCall { targets, routing, request: &same, deadline_ms: wanted.timeout_ms };
    let Opened { connection, attempts, stream, .. } = match state.open_model(call).await {
        Ok(opened) => opened,
        Err(error) => {
            reservation.settle(None, Usage::default(), true, true);
            return Err(no_answer(&error));
        }
    };
    let (id, created) = (state.new_id().simple().to_string(), state.now().0 / 1000);
    let model = format!("{PREFIX}{}", connection.name);
    let format: Box<dyn ReplyFormat> = if passage == Passage::Responses {
        Box::new(ResponsesReply::new(id, created, model, echo, (single_call, names)))
    } else {
        let chat = ChatFrame { id: format!("chatcmpl-{id}"), created, model };
        Box::new(ChatReply { collected: Collected::new(id, single_call, names), chat, include_usage })
    };
    let telling = Telling {
        stream: stream.take_until(state.usage_writer.closing().boxed()).boxed(),
        format,
        reservation,
        priced: state.gateway.price(&connection).is_some(),
        connection: connection.clone(),
        told: false,
    };
    let mut response =
        if streamed { event_stream(events(telling)) } else { Json(whole(telling).await?).into_response() };
    mark(&mut response, &connection, &attempts);
    Ok(response)
}

/// An answer on its way to the client. Dropped on it, what has come so far counts.
struct Telling {
    stream: ChunkStream,
    format: Box<dyn ReplyFormat>,
    reservation: Reservation,
    priced: bool,
    connection: Connection,
    told: bool,
}

impl Telling {
    /// The events of the next piece; none after the last one.
    async fn next(&mut self) -> Option<Result<Vec<Sent>, OpenAiError>> {
        let error = match self.stream.next().await {
            Some(Ok(chunk)) => return Some(Ok(self.format.take(chunk))),
            Some(Err(error)) => model_error(&error),
            None if self.format.collected().ended => {
                self.settle(false);
                return None;
            }
            // Nothing else ends a stream before its last chunk.
            None => stopping(),
        };
        self.settle(true);
        Some(Err(error))
    }

    fn settle(&mut self, failed: bool) {
        self.told = true;
        let usage = self.format.collected().spent(self.reservation.prompt);
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
    while let Some(sent) = telling.next().await {
        sent?;
    }
    telling.format.end();
    Ok(telling.format.whole())
}

fn events(mut telling: Telling) -> impl Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        let mut ready = telling.format.begin();
        loop {
            for sent in ready {
                yield Ok(sent.into());
            }
            ready = match telling.next().await {
                Some(Ok(sent)) => sent,
                Some(Err(error)) => {
                    for sent in telling.format.fail(&error) {
                        yield Ok(sent.into());
                    }
                    return;
                }
                None => break,
            };
        }
        for sent in telling.format.end() {
            yield Ok(sent.into());
        }
    }
}
