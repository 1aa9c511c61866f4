//! The router as a gateway.

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Price, Provider, Wire};
use steward_core::passing::Asked;
use steward_core::ports::{Gateway, NoAnswer, Passage, Passed};
use steward_core::routing::Routing;

use super::answer::{Answer, Passing, Refused};
use super::relay::Relay;
use crate::registry::{Plan, Router, try_targets};

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
        let asked = Asked::of(&body).map_err(|error| nobody(wrong(&error.to_string())))?;
        let mut targets = self.targets(targets).map_err(nobody)?;
        targets.retain(speaks_the_dialect);
        if targets.is_empty() {
            return Err(nobody(no_dialect()));
        }
        let passing = Passing { client: self.client(), passage, body: &body, asked: &asked };
        let refusal: Mutex<Option<(Connection, Answer)>> = Mutex::new(None);
        let attempt = async |connection: Connection, left: Duration| match passing.ask(&connection, left).await {
            Ok(answer) => Ok(answer),
            Err(Refused { error, raw }) => {
                if let Some(raw) = raw.filter(|_| is_own_fault(error.class)) {
                    *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some((connection, *raw));
                }
                Err(error)
            }
        };
        let plan = Plan::new(routing, deadline_ms);
        match try_targets(self.board(), &targets, plan, attempt).await {
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

/// Whether another endpoint, or another try, would say the same.
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

/// Whether requests of the OpenAI dialect are understood there.
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

fn nobody(error: ModelError) -> NoAnswer {
    NoAnswer { error, attempts: Vec::new() }
}

fn wrong(message: &str) -> ModelError {
    ModelError {
        class: ModelErrorClass::BadRequest,
        message: message.to_owned(),
        hint: "send a JSON object with a field `model`".to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}

fn no_dialect() -> ModelError {
    ModelError {
        class: ModelErrorClass::BadRequest,
        message: "none of these connections speaks the OpenAI dialect".to_owned(),
        hint: "ask by /v1/chat/completions, which is translated for it, or choose another connection".to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}
