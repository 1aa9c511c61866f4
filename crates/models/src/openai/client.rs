use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use reqwest::Response;
use serde_json::Value;
use steward_core::model::{Connection, ModelError, ModelErrorClass, ModelRequest, Provider, Wire};
use steward_core::ports::{ChunkStream, Scored, TypedKey};
use tokio::time::timeout;

use super::decode::Decoder;
use super::describe::Origin;
use super::framing::Framing;
use super::limits::{Limits, Timeouts};
use super::quirks::Quirks;
use super::responses;
use super::retry_after::retry_after_ms;
use super::secrets::Secrets;
use super::send::{Outgoing, json_bytes};
use super::stream::Manner;
use super::transport::{LocalModels, Transports};
use super::{classify, listing, score, stream, wire};
use crate::native;

/// Talks to any number of connections.
#[derive(Clone)]
pub struct Client {
    pub(super) inner: Arc<Inner>,
    /// A key that goes before the one of the vault.
    pub(super) typed: Option<Arc<TypedKey>>,
}

pub(super) struct Inner {
    pub secrets: Secrets,
    pub local: Option<Arc<dyn LocalModels>>,
    pub timeouts: Timeouts,
    pub transports: Transports,
    pub quirks: Mutex<HashMap<(String, String), Quirks>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("timeouts", &self.inner.timeouts).finish_non_exhaustive()
    }
}

/// The interface that is spoken with `connection`: its own choice, or the provider's usual one.
pub(crate) fn wire_of(connection: &Connection) -> Wire {
    let only_native = native::is_native(connection.provider);
    match connection.wire {
        // A server without an interface of its own speaks the dialect.
        Some(Wire::Native) if !only_native && connection.provider != Provider::Ollama => Wire::Chat,
        Some(chosen) => chosen,
        None if only_native => Wire::Native,
        None => Wire::Chat,
    }
}

impl Client {
    /// `local` serves connections of [`Provider::Local`].
    pub fn new(secrets: Secrets, local: Option<Arc<dyn LocalModels>>, timeouts: Timeouts) -> Self {
        Self {
            inner: Arc::new(Inner {
                secrets,
                local,
                timeouts,
                transports: Transports::default(),
                quirks: Mutex::default(),
            }),
            typed: None,
        }
    }

    /// The same client with a key that was just typed and is not kept yet; empty: none was.
    #[must_use]
    pub fn with_key(&self, key: TypedKey) -> Self {
        Self { inner: Arc::clone(&self.inner), typed: (!key.is_empty()).then(|| Arc::new(key)) }
    }

    /// Asks; returns once the endpoint has accepted the request. Dropping the stream, or this
    /// call, closes the upstream request.
    pub async fn stream(&self, connection: &Connection, request: &ModelRequest) -> Result<ChunkStream, ModelError> {
        let limits = self.limits(request);
        let wire = wire_of(connection);
        let accepted = self.accepted(connection, request, wire, &limits).await;
        let (origin, response) = accepted?;
        let manner = match wire {
            Wire::Chat => Manner::new(Framing::Sse, Decoder::default()),
            Wire::Responses => Manner::new(Framing::Sse, responses::Decoder::default()),
            Wire::Native => native::manner(connection.provider),
        };
        if stream::is_whole(&response, manner.framing) {
            return stream::read_whole(response, manner, origin, limits).await;
        }
        Ok(stream::read(response, manner, origin, limits).boxed())
    }

    /// How likely each candidate is as the beginning of the reply.
    pub async fn score(
        &self,
        connection: &Connection,
        request: &ModelRequest,
        candidates: &[String],
    ) -> Result<Vec<Scored>, ModelError> {
        let limits = self.limits(request);
        let body = wire::score_body(connection, request, candidates);
        let outgoing = Outgoing::post("score", json_bytes(&body));
        let sent = self.send(connection, &outgoing, &limits).await?;
        let (origin, value) = self.json(sent, &limits).await?;
        score::read(&origin, &value)
    }

    /// Names of the models that the endpoint lists.
    pub async fn models(&self, connection: &Connection, limit: Duration) -> Result<Vec<String>, ModelError> {
        let limits = self.limits_of(limit, 0);
        let outgoing = match wire_of(connection) {
            Wire::Native => native::listing(connection),
            _ => Outgoing::get("models"),
        };
        let sent = self.send(connection, &outgoing, &limits).await?;
        let (_, value) = self.json(sent, &limits).await?;
        Ok(listing::names(&value))
    }

    /// JSON from any path of a server, for probing it. `None` for every other outcome.
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
        self.limits_of(Duration::from_millis(request.timeout_ms), request.max_tokens)
    }

    pub(crate) fn limits_of(&self, whole: Duration, max_tokens: u32) -> Limits {
        Limits::new(whole, max_tokens, self.inner.timeouts)
    }

    /// Sends a request until it is accepted: without the fields that the endpoint refuses.
    async fn accepted(
        &self,
        connection: &Connection,
        request: &ModelRequest,
        wire: Wire,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let place = (connection.base_url.clone(), connection.model.clone());
        loop {
            let quirks = self.quirks(&place);
            let (outgoing, body) = match wire {
                Wire::Chat => {
                    let body = wire::chat_body(connection, request, &quirks);
                    (Outgoing::post("chat/completions", json_bytes(&body)), body)
                }
                Wire::Responses => {
                    let body = responses::body(connection, request, &quirks);
                    (Outgoing::post("responses", json_bytes(&body)), body)
                }
                Wire::Native => {
                    let request = quirks.fitted(connection, request);
                    native::request(connection, &request, quirks.no_temperature)
                }
            };
            let (origin, response) = self.send(connection, &outgoing, limits).await?;
            let status = response.status().as_u16();
            if response.status().is_success() {
                if let Some(learned) = quirks.accepted(&body) {
                    self.remember(place, &learned);
                }
                return Ok((origin, response));
            }
            let wait = retry_after_ms(response.headers());
            let raw = stream::text(response, &origin, limits).await?;
            if let Some(learned) = quirks.learn(status, &raw, &body) {
                self.remember(place.clone(), &learned);
                continue;
            }
            return Err(self.refusal(&origin, status, &raw, wait).await);
        }
    }

    fn quirks(&self, place: &(String, String)) -> Quirks {
        let known = &self.inner.quirks;
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(place).copied().unwrap_or_default()
    }

    fn remember(&self, place: (String, String), learned: &Quirks) {
        let known = &self.inner.quirks;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(place, *learned);
    }

    async fn refusal(&self, origin: &Origin, status: u16, raw: &str, retry_after_ms: Option<u64>) -> ModelError {
        let refusal = classify::http(status, raw);
        let models = match refusal.class {
            ModelErrorClass::UnknownModel => {
                let listed = Box::pin(self.models(&origin.connection, Duration::from_secs(2))).await;
                // The names are an extra; the error that is told is the refusal.
                listed.unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let error = origin.refused(&refusal, Some(status), &models);
        ModelError { retry_after_ms: retry_after_ms.or(refusal.retry_after_ms), ..origin.with_detail(error, raw) }
    }
}
