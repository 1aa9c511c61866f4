//! Passes other programs' requests of the OpenAI dialect through the router, byte for byte.

use super::passthrough_answer::{self, Answer, PassthroughCall, Refused};
use super::{Answered, Permit, Plan, Router, errors, not_asked, try_targets};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Price, Usage};
use steward_core::passthrough_request::PassthroughRequest;
use steward_core::ports::{ByteStream, Gateway, KeptResponse, NoAnswer, Passage, Passed};
use steward_core::routing::Routing;

#[async_trait]
impl Gateway for Router {
    async fn pass(
        &self,
        targets: &[Connection],
        routing: &Routing,
        passage: Passage,
        (body, asked): (Bytes, &PassthroughRequest),
        deadline_ms: u64,
    ) -> Result<Passed, NoAnswer> {
        if targets.is_empty() {
            return Err(not_asked(errors::no_connection()));
        }
        let targets: Cow<'_, [Connection]> = if targets.iter().all(Connection::speaks_openai_dialect) {
            Cow::Borrowed(targets)
        } else {
            targets.iter().filter(|one| one.speaks_openai_dialect()).cloned().collect::<Vec<_>>().into()
        };
        if targets.is_empty() {
            return Err(not_asked(no_dialect(passage)));
        }
        let call = PassthroughCall { client: self.client(), passage, body: &body, asked };
        let refusal: Mutex<Option<(Connection, Answer)>> = Mutex::new(None);
        let attempt = async |connection: Connection, left: Duration| match call.ask(&connection, left).await {
            Ok(answer) => Ok(answer),
            Err(Refused { error, raw }) => {
                if let Some(raw) = raw.filter(|_| is_own_fault(error.class)) {
                    *lock(&refusal) = Some((connection, *raw));
                }
                Err(error)
            }
        };
        let plan = Plan::new(routing, deadline_ms);
        match try_targets(&self.health, &targets, plan, attempt).await {
            Ok(answered) => {
                let Answered { connection, attempts, value: mut answer, permit } = answered;
                let (status, headers) = (answer.status, std::mem::take(&mut answer.headers));
                Ok(Passed { connection, attempts, status, headers, body: relay(answer, passage, permit) })
            }
            Err(no_answer) => {
                let refusal = refusal.into_inner().unwrap_or_else(PoisonError::into_inner);
                // The refusal goes on as it came.
                match refusal.filter(|_| is_own_fault(no_answer.error.class)) {
                    Some((connection, Answer { status, headers, body, .. })) => {
                        let attempts = no_answer.attempts;
                        Ok(Passed { connection, attempts, status, headers, body })
                    }
                    None => Err(no_answer),
                }
            }
        }
    }

    async fn kept_response(
        &self,
        connection: &Connection,
        asked: &KeptResponse,
        deadline_ms: u64,
    ) -> Result<Passed, ModelError> {
        self.ask_for_kept(connection, asked, deadline_ms).await
    }

    async fn embed(
        &self,
        connection: &Connection,
        texts: &[String],
        deadline_ms: u64,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        self.client().embed(connection, texts, Duration::from_millis(deadline_ms)).await
    }

    fn price(&self, connection: &Connection) -> Option<Price> {
        Router::price(self, connection)
    }
}

/// Whether another endpoint, or another try, would refuse it too.
fn is_own_fault(class: ModelErrorClass) -> bool {
    matches!(class, ModelErrorClass::BadRequest | ModelErrorClass::ContextLength)
}

fn no_dialect(passage: Passage) -> ModelError {
    let way = match passage {
        Passage::Embeddings => "choose one whose interface is `chat`, such as the provider's OpenAI-compatible address",
        _ => "ask by /v1/chat/completions, which is translated for it, or choose another connection",
    };
    ModelError::new(ModelErrorClass::BadRequest, "none of these connections speaks the OpenAI dialect", way)
}

/// Bytes at the end that are searched for the end of the answer.
const TAIL: usize = 2048;

fn take(tail: &mut Vec<u8>, piece: &[u8]) {
    tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL)..]);
    if tail.len() > 4 * TAIL {
        tail.drain(..tail.len() - TAIL);
    }
}

/// The answer's bytes; tells the permit how it went.
fn relay(answer: Answer, passage: Passage, permit: Permit) -> ByteStream {
    // The last bytes of an event stream.
    let mut tail = answer.events.then(|| Vec::with_capacity(4 * TAIL));
    let mut pieces = answer.body;
    async_stream::stream! {
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(mut piece) => {
                    let failure = tail.as_mut().and_then(|tail| {
                        take(tail, &piece);
                        passthrough_answer::unraised_error(tail, tail.len().saturating_sub(piece.len()), passage)
                    });
                    let Some((told, rest)) = failure else {
                        yield Ok(piece);
                        continue;
                    };
                    // Clients would take what follows for the end of an answer.
                    piece.truncate(piece.len().saturating_sub(rest));
                    yield Ok(piece);
                    let error = answer.origin.in_band_error(&told);
                    permit.failed(&error);
                    yield Err(error);
                    return;
                }
                Err(error) => {
                    permit.failed(&error);
                    yield Err(error);
                    return;
                }
            }
        }
        let tail = tail.as_deref();
        if let Some(told) = tail.and_then(passthrough_answer::error_event) {
            let error = answer.origin.in_band_error(&told);
            permit.failed(&error);
            yield Err(error);
        } else if tail.is_some_and(|tail| !passthrough_answer::has_end(tail, passage)) {
            let error = answer.origin.broken("the stream ended before the answer did", Usage::default());
            permit.failed(&error);
            yield Err(error);
        } else {
            permit.completed();
        }
    }
    .boxed()
}
