//! Client for model servers, over TCP, TLS or a Unix socket: the OpenAI dialect here, the providers' own interfaces
//! in [`crate::native`], behind the same calls.
//!
//! Errors keep the endpoint's own words but never keys. Dropping a stream closes the request.

mod address;
mod auth;
mod classify;
mod constrain;
mod decode;
mod embeddings;
mod error_messages;
mod finish_reason;
mod requests;
mod responses;
mod send;
mod sse;
mod stream;
mod transport;

pub(crate) use address::{default_base, segment, version, without_version};
pub use auth::Secrets;
pub(crate) use classify::retry_after_ms;
pub(crate) use constrain::{all_methods, constraint, field};
pub(crate) use decode::{Decode, Fault, ReplyState, text};
pub(crate) use error_messages::Origin;
pub(crate) use finish_reason::is_failure;
pub(crate) use requests::{any, call_json, message_json, model_names, tool_json, with};
pub(crate) use send::{KeptPath, Outgoing, Place, bytes};
pub(crate) use sse::{BadFrame, EventParser, LARGEST_EVENT};
pub(crate) use stream::{StreamFormat, content_type};
pub use transport::LocalModels;
pub(crate) use transport::is_loopback;

use super::native;
use super::turns::in_turn;
use decode::ChatDecoder;
use futures::StreamExt;
use requests::Quirks;
use reqwest::Response;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::model::{Connection, ModelError, ModelErrorClass, ModelRequest, Provider, Wire};
use steward_core::ports::{ChunkStream, Scored, TypedKey};
use tokio::time::timeout;
use transport::Transports;

/// Serves any number of connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
    /// Used before the vault's key.
    pub(crate) typed: Option<Arc<TypedKey>>,
}

pub(crate) struct Inner {
    pub secrets: Secrets,
    pub local: Option<Arc<dyn LocalModels>>,
    pub timeouts: Timeouts,
    transports: Transports,
    urls: address::KnownUrls,
    quirks: Mutex<HashMap<(String, String), Quirks>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("timeouts", &self.inner.timeouts).finish_non_exhaustive()
    }
}

/// The connection's own choice, or the provider's usual interface.
fn wire_of(connection: &Connection) -> Wire {
    let only_native = connection.provider.has_native_wire();
    match connection.wire {
        // A server without an interface of its own speaks the OpenAI dialect.
        Some(Wire::Native) if !only_native && connection.provider != Provider::Ollama => Wire::Chat,
        Some(chosen) => chosen,
        None if only_native => Wire::Native,
        None => Wire::Chat,
    }
}

impl Client {
    pub fn new(secrets: Secrets, local: Option<Arc<dyn LocalModels>>, timeouts: Timeouts) -> Self {
        Self {
            inner: Arc::new(Inner {
                secrets,
                local,
                timeouts,
                transports: Transports::default(),
                urls: address::KnownUrls::default(),
                quirks: Mutex::default(),
            }),
            typed: None,
        }
    }

    /// The same client with a key that was just typed and is not stored yet; an empty key is ignored.
    #[must_use]
    pub fn with_key(&self, key: TypedKey) -> Self {
        Self { inner: Arc::clone(&self.inner), typed: (!key.is_empty()).then(|| Arc::new(key)) }
    }

    /// Returns once the endpoint has accepted the request. Dropping the stream, or this call, closes it.
    pub async fn stream(&self, connection: &Connection, request: &ModelRequest) -> Result<ChunkStream, ModelError> {
        let limits = self.limits(request);
        let wire = wire_of(connection);
        let (origin, response) = self.accepted(connection, &in_turn(request), wire, &limits).await?;
        let format = match wire {
            Wire::Chat => StreamFormat::sse(ChatDecoder::default()),
            Wire::Responses => StreamFormat::sse(responses::Decoder::default()),
            Wire::Native => native::stream_format(connection.provider),
        };
        if stream::is_whole(&response, &*format.parser) {
            return stream::read_whole(response, format, origin, limits).await;
        }
        Ok(stream::read(response, format, origin, limits).boxed())
    }

    pub async fn score(
        &self,
        connection: &Connection,
        request: &ModelRequest,
        candidates: &[String],
    ) -> Result<Vec<Scored>, ModelError> {
        let limits = self.limits(request);
        let body = requests::score_body(connection, &in_turn(request), candidates);
        let outgoing = Outgoing::post("score", &body);
        let (origin, value) = self.send_for_json(connection, &outgoing, &limits).await?;
        requests::read_scores(&origin, &value)
    }

    pub async fn models(&self, connection: &Connection, limit: Duration) -> Result<Vec<String>, ModelError> {
        let limits = self.limits_of(limit, 0);
        let outgoing = match wire_of(connection) {
            Wire::Native => native::listing(connection),
            _ => Outgoing::get("models"),
        };
        let (_, value) = self.send_for_json(connection, &outgoing, &limits).await?;
        Ok(requests::model_names(&value))
    }

    /// JSON from any URL of a server; `None` for every other outcome.
    pub(crate) async fn probe(&self, url: &url::Url, body: Option<&Value>, limit: Duration) -> Option<Value> {
        let http = self.inner.transports.for_url(url).ok()?;
        let request = match body {
            Some(body) => http.post(url.clone()).json(body),
            None => http.get(url.clone()),
        };
        let answer = async {
            let response = request.send().await.ok()?.error_for_status().ok()?;
            response.json().await.ok()
        };
        timeout(limit, answer).await.ok().flatten()
    }

    pub(crate) fn limits(&self, request: &ModelRequest) -> Limits {
        self.limits_of(Duration::from_millis(request.timeout_ms), request.max_tokens.unwrap_or_default())
    }

    pub(crate) fn limits_of(&self, whole: Duration, max_tokens: u32) -> Limits {
        let now = Instant::now();
        Limits {
            deadline: now.checked_add(whole).unwrap_or(now + Duration::from_hours(24)),
            timeout_ms: u64::try_from(whole.as_millis()).unwrap_or(u64::MAX),
            max_tokens,
            timeouts: self.inner.timeouts,
        }
    }

    /// Repeats the request without fields that the endpoint refuses.
    async fn accepted(
        &self,
        connection: &Connection,
        request: &ModelRequest,
        wire: Wire,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let place = (connection.base_url.clone(), connection.model.clone());
        // What this prompt leaves for the answer, tokens.
        let mut room = None;
        // The request without its schema, and why it was refused with it, if it was.
        let (mut bare, mut refused) = (None, None);
        loop {
            let quirks = self.quirks(&place);
            let schema = request.schema.as_ref().filter(|_| !request.options.exact);
            if bare.is_none() && schema.is_some_and(|schema| quirks.unexplained.refuses(schema)) {
                bare = Some(without_schema(request));
            }
            let asked = bare.as_ref().unwrap_or(request);
            let (outgoing, body) = written(connection, asked, wire, &quirks, room)?;
            let (origin, response) = self.send(connection, &outgoing, limits).await?;
            let status = response.status().as_u16();
            if response.status().is_success() {
                let learned = match (&refused, &request.schema) {
                    (Some(_), Some(schema)) => {
                        let unexplained = quirks.unexplained.clone().refused(schema);
                        Some(Quirks { unexplained, ..quirks.clone() })
                    }
                    _ => quirks.accepted(&body, asked.schema.is_some()),
                };
                if let Some(learned) = learned {
                    self.remember(connection, place, learned);
                }
                return Ok((origin, response));
            }
            let wait = retry_after_ms(response.headers());
            let raw = stream::text(response, &origin, limits).await?;
            if let Some(left) = requests::left_in_window(&raw, &body).filter(|_| room.is_none()) {
                room = Some(left);
                continue;
            }
            if let Some(learned) = quirks.learn(status, &raw, &body) {
                self.remember(connection, place.clone(), learned);
                continue;
            }
            // Also without its schema: that wasn't the reason.
            if let Some(before) = refused {
                return Err(before);
            }
            let error = self.refusal(&origin, status, &raw, wait).await;
            if schema.is_some() && bare.is_none() && error.class == ModelErrorClass::BadRequest {
                let other = without_schema(request);
                // Not every schema is sent.
                if written(connection, &other, wire, &quirks, room)?.0.body != outgoing.body {
                    (bare, refused) = (Some(other), Some(error));
                    continue;
                }
            }
            return Err(error);
        }
    }

    fn quirks(&self, place: &(String, String)) -> Quirks {
        let known = lock(&self.inner.quirks);
        known.get(place).cloned().unwrap_or_default()
    }

    /// Says once for each endpoint and model that replies come in another form than was asked for.
    fn remember(&self, connection: &Connection, place: (String, String), learned: Quirks) {
        let refuses = learned.refuses_forms();
        let before = lock(&self.inner.quirks).insert(place, learned);
        if refuses && !before.is_some_and(|before| before.refuses_forms()) {
            tracing::warn!(
                connection = connection.name,
                model = connection.model,
                "the server refuses a form that replies are asked for in; they are asked for without it"
            );
        }
    }

    async fn refusal(&self, origin: &Origin, status: u16, raw: &str, wait: Option<u64>) -> ModelError {
        let models = match classify::http(status, raw).class {
            // The names are an extra; if they can't be listed, the refusal is still the error.
            ModelErrorClass::UnknownModel => {
                Box::pin(self.models(&origin.connection, Duration::from_secs(2))).await.unwrap_or_default()
            }
            _ => Vec::new(),
        };
        origin.http_error(status, raw, wait, &models)
    }
}

fn without_schema(request: &ModelRequest) -> ModelRequest {
    ModelRequest { schema: None, ..request.clone() }
}

/// The request for an endpoint, and those of its fields that it may refuse.
fn written(
    connection: &Connection,
    request: &ModelRequest,
    wire: Wire,
    quirks: &Quirks,
    room: Option<u32>,
) -> Result<(Outgoing, Value), ModelError> {
    match wire {
        Wire::Chat => {
            let body = requests::chat_body(connection, request, quirks);
            Ok((Outgoing::post("chat/completions", &body), body))
        }
        Wire::Responses => {
            let body = responses::body(connection, request, quirks);
            Ok((Outgoing::post("responses", &body), body))
        }
        Wire::Native => {
            let request = constrain::fitted(connection, request, &quirks.constraints);
            let longest = room.or(quirks.longest);
            let known = native::Known { no_temperature: quirks.no_temperature, longest };
            let made = native::request(connection, &request, known);
            made.map_err(|native::Untranslatable(what)| Origin::of(connection).untranslatable(&what))
        }
    }
}

/// Limits of one call's stages. The request's own limit covers them all.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From the request to the response's headers.
    pub headers: Duration,
    /// From there to the first text, reasoning or call.
    pub first_content: Duration,
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            // Some servers send the headers only with the first token.
            headers: Duration::from_mins(3),
            first_content: Duration::from_mins(3),
            idle: Duration::from_mins(1),
        }
    }
}

/// Limits of one call, from its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub deadline: Instant,
    pub timeout_ms: u64,
    pub max_tokens: u32,
    pub timeouts: Timeouts,
}

impl Limits {
    /// What is left of `stage` and of the whole call.
    pub fn left(&self, stage: Duration) -> Duration {
        stage.min(self.deadline.saturating_duration_since(Instant::now()))
    }

    pub fn error(&self, origin: &Origin, what: &str, stage: Duration, setting: &str) -> ModelError {
        if self.deadline <= Instant::now() {
            return origin.timeout(what, u128::from(self.timeout_ms), "timeout_ms");
        }
        origin.timeout(what, stage.as_millis(), setting)
    }

    pub fn idle(&self, origin: &Origin) -> ModelError {
        let what = "the answer stopped: nothing more came";
        self.error(origin, what, self.timeouts.idle, "models.idle_timeout_ms")
    }
}

#[cfg(test)]
mod tests;
