//! Passes other programs' requests of the OpenAI dialect through the router, byte for byte.

use super::passthrough_answer::{self, Answer, PassthroughCall, Refused};
use super::{Permit, Plan, Router, not_asked, try_targets};
use crate::openai::Origin;
use async_trait::async_trait;
use bytes::Bytes;
use futures::{Stream, StreamExt};
use reqwest::header::HeaderMap;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Price, Provider, Usage, Wire};
use steward_core::passthrough_request::PassthroughRequest;
use steward_core::ports::{ByteStream, Gateway, NoAnswer, Passage, Passed};
use steward_core::routing::Routing;

#[async_trait]
impl Gateway for Router {
    async fn pass(
        &self,
        targets: &[ConnectionId],
        routing: &Routing,
        passage: Passage,
        body: Bytes,
        deadline_ms: u64,
    ) -> Result<Passed, NoAnswer> {
        let asked = PassthroughRequest::of(&body).map_err(|error| not_asked(wrong(&error.to_string())))?;
        let mut targets = self.targets(targets).map_err(not_asked)?;
        targets.retain(speaks_the_dialect);
        if targets.is_empty() {
            return Err(not_asked(no_dialect()));
        }
        let call = PassthroughCall { client: self.client(), passage, body: &body, asked: &asked };
        let refusal: Mutex<Option<(Connection, Answer)>> = Mutex::new(None);
        let attempt = async |connection: Connection, left: Duration| match call.ask(&connection, left).await {
            Ok(answer) => Ok(answer),
            Err(Refused { error, raw }) => {
                if let Some(raw) = raw.filter(|_| is_own_fault(error.class)) {
                    *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some((connection, *raw));
                }
                Err(error)
            }
        };
        let plan = Plan::new(routing, deadline_ms);
        match try_targets(self.health(), &targets, plan, attempt).await {
            Ok(answered) => {
                let answer = answered.value;
                Ok(Passed {
                    connection: answered.connection,
                    attempts: answered.attempts,
                    status: answer.status,
                    headers: answer.headers.clone(),
                    body: Relay::new(answer, passage, answered.permit).boxed(),
                })
            }
            Err(no_answer) => {
                let refusal = refusal.into_inner().unwrap_or_else(PoisonError::into_inner);
                match refusal.filter(|_| is_own_fault(no_answer.error.class)) {
                    Some((connection, answer)) => Ok(as_it_came(connection, answer, no_answer)),
                    None => Err(no_answer),
                }
            }
        }
    }

    fn price(&self, connection: &Connection) -> Option<Price> {
        Router::price(self, connection)
    }
}

/// Whether another endpoint, or another try, would refuse it too.
fn is_own_fault(class: ModelErrorClass) -> bool {
    matches!(class, ModelErrorClass::BadRequest | ModelErrorClass::ContextLength)
}

fn as_it_came(connection: Connection, answer: Answer, no_answer: NoAnswer) -> Passed {
    let begin = futures::stream::iter([Ok(answer.begin)]);
    Passed {
        connection,
        attempts: no_answer.attempts,
        status: answer.status,
        headers: answer.headers,
        body: match answer.rest {
            Some(rest) => begin.chain(rest).boxed(),
            None => begin.boxed(),
        },
    }
}

fn speaks_the_dialect(connection: &Connection) -> bool {
    match connection.wire {
        Some(Wire::Chat | Wire::Responses) => true,
        Some(Wire::Native) => false,
        None => !matches!(
            connection.provider,
            Provider::Anthropic | Provider::Gemini | Provider::Cohere | Provider::Bedrock
        ),
    }
}

fn wrong(message: &str) -> ModelError {
    ModelError::new(ModelErrorClass::BadRequest, message, "send a JSON object with a field `model`".to_owned())
}

fn no_dialect() -> ModelError {
    ModelError::new(
        ModelErrorClass::BadRequest,
        "none of these connections speaks the OpenAI dialect",
        "ask by /v1/chat/completions, which is translated for it, or choose another connection".to_owned(),
    )
}

const PASSED: [&str; 9] = [
    "content-type",
    "content-encoding",
    "content-language",
    "retry-after",
    "retry-after-ms",
    "request-id",
    "x-request-id",
    "x-should-retry",
    "apim-request-id",
];
const PREFIXES: [&str; 3] = ["x-ratelimit-", "openai-", "anthropic-ratelimit-"];

/// Names in lower case. Cookies, server names and hop-by-hop headers are dropped; so is the length, which may change.
pub(crate) fn passed(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .filter(|(name, _)| {
            let name = name.as_str();
            PASSED.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        })
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect()
}

pub(crate) fn is_events(headers: &HeaderMap) -> bool {
    headers
        .get(reqwest::header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// Bytes at the end that are searched for the end of the answer.
const TAIL: usize = 2048;

struct Relay {
    begin: Bytes,
    rest: Option<ByteStream>,
    permit: Option<Permit>,
    end: Option<End>,
}

/// The last bytes of an event stream.
struct End {
    tail: Vec<u8>,
    passage: Passage,
    origin: Origin,
}

impl End {
    fn take(&mut self, piece: &[u8]) {
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL)..]);
        if self.tail.len() > 4 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }
}

impl Relay {
    pub fn new(answer: Answer, passage: Passage, permit: Permit) -> Self {
        let end = answer.events.then(|| End { tail: Vec::with_capacity(4 * TAIL), passage, origin: answer.origin });
        Self { begin: answer.begin, rest: answer.rest, permit: Some(permit), end }
    }

    fn failed(&mut self, error: &ModelError) {
        self.rest = None;
        if let Some(permit) = self.permit.take() {
            permit.failed(error);
        }
    }

    /// After the last byte: an error if the answer was not complete.
    fn ended(&mut self) -> Option<ModelError> {
        self.rest = None;
        let end = self.end.take();
        if let Some(end) = end.filter(|end| !passthrough_answer::has_end(&end.tail, end.passage)) {
            let error = end.origin.broken("the stream ended before the answer did", Usage::default());
            self.failed(&error);
            return Some(error);
        }
        if let Some(permit) = self.permit.take() {
            permit.completed();
        }
        None
    }
}

impl Stream for Relay {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = if self.begin.is_empty() {
            let Some(rest) = &mut self.rest else {
                return Poll::Ready(self.ended().map(Err));
            };
            match futures::ready!(rest.poll_next_unpin(context)) {
                Some(Ok(piece)) => piece,
                Some(Err(error)) => {
                    self.end = None;
                    self.failed(&error);
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(self.ended().map(Err)),
            }
        } else {
            std::mem::take(&mut self.begin)
        };
        if let Some(end) = &mut self.end {
            end.take(&piece);
        }
        Poll::Ready(Some(Ok(piece)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, None)
    }
}
