use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use reqwest::{Method, Response};
use secrecy::ExposeSecret;
use serde_json::Value;
use steward_core::model::{Auth, Connection, ModelError, ModelErrorClass, ModelRequest, Provider};
use steward_core::ports::{ChunkStream, Scored};
use tokio::time::timeout;

use super::describe::Origin;
use super::quirks::Quirks;
use super::retry_after::retry_after_ms;
use super::secrets::Secrets;
use super::transport::{LocalModels, Target, Transports, causes};
use super::{classify, listing, score, stream, wire};
use crate::telemetry;

/// Limits of one call. The request's own limit goes over all of them.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From the request to the response's head.
    pub headers: Duration,
    /// From there to the first text, reasoning or call.
    pub first_content: Duration,
    /// Between two pieces.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            // Some servers send the head only with the first token.
            headers: Duration::from_mins(3),
            first_content: Duration::from_mins(3),
            idle: Duration::from_mins(1),
        }
    }
}

/// Talks to any number of connections.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    secrets: Secrets,
    local: Option<Arc<dyn LocalModels>>,
    timeouts: Timeouts,
    transports: Transports,
    quirks: Mutex<HashMap<(String, String), Quirks>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("timeouts", &self.inner.timeouts)
            .finish_non_exhaustive()
    }
}

/// One call's limits, from its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub deadline: Instant,
    pub timeout_ms: u64,
    pub max_tokens: u32,
    pub timeouts: Timeouts,
}

impl Limits {
    /// What is left of `stage`, and of the whole.
    pub fn left(&self, stage: Duration) -> Duration {
        stage.min(self.deadline.saturating_duration_since(Instant::now()))
    }

    /// The error after `stage` has passed.
    pub fn error(&self, origin: &Origin, what: &str, stage: Duration, setting: &str) -> ModelError {
        if self.deadline <= Instant::now() {
            return origin.timeout(what, u128::from(self.timeout_ms), "timeout_ms");
        }
        origin.timeout(what, stage.as_millis(), setting)
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
        }
    }

    /// Asks; returns once the endpoint has accepted the request. Dropping the stream, or this
    /// call, closes the upstream request.
    pub async fn stream(
        &self,
        connection: &Connection,
        request: &ModelRequest,
    ) -> Result<ChunkStream, ModelError> {
        let span = telemetry::chat_span(connection, request);
        let limits = self.limits(request);
        let (origin, response) = match self.accepted(connection, request, &limits).await {
            Ok(pair) => pair,
            Err(error) => {
                telemetry::record_error(&span, &error);
                return Err(error);
            }
        };
        if stream::is_whole(&response) {
            return stream::read_whole(response, origin, limits, span).await;
        }
        Ok(stream::read(response, origin, limits, span).boxed())
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
        let sent = self
            .send(connection, Method::POST, "score", Some(&body), &limits)
            .await?;
        let (origin, value) = self.json(sent, &limits).await?;
        score::read(&origin, &value)
    }

    /// Names of the models that the endpoint lists.
    pub async fn models(
        &self,
        connection: &Connection,
        limit: Duration,
    ) -> Result<Vec<String>, ModelError> {
        let limits = self.limits_of(limit, 0);
        let sent = self
            .send(connection, Method::GET, "models", None, &limits)
            .await?;
        let (_, value) = self.json(sent, &limits).await?;
        Ok(listing::names(&value))
    }

    /// JSON from any path of a server, for probing it. `None` for every other outcome.
    pub(crate) async fn probe(
        &self,
        url: &url::Url,
        body: Option<&Value>,
        limit: Duration,
    ) -> Option<Value> {
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

    fn limits(&self, request: &ModelRequest) -> Limits {
        self.limits_of(
            Duration::from_millis(request.timeout_ms),
            request.max_tokens,
        )
    }

    fn limits_of(&self, whole: Duration, max_tokens: u32) -> Limits {
        let now = Instant::now();
        Limits {
            deadline: now
                .checked_add(whole)
                .unwrap_or(now + Duration::from_hours(24)),
            timeout_ms: u64::try_from(whole.as_millis()).unwrap_or(u64::MAX),
            max_tokens,
            timeouts: self.inner.timeouts,
        }
    }

    /// Sends a chat request until it is accepted: without the fields that the endpoint refuses.
    async fn accepted(
        &self,
        connection: &Connection,
        request: &ModelRequest,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let place = (connection.base_url.clone(), connection.model.clone());
        loop {
            let quirks = self.quirks(&place);
            let body = wire::chat_body(connection, request, quirks);
            let (origin, response) = self
                .send(
                    connection,
                    Method::POST,
                    "chat/completions",
                    Some(&body),
                    limits,
                )
                .await?;
            let status = response.status().as_u16();
            if response.status().is_success() {
                return Ok((origin, response));
            }
            let wait = retry_after_ms(response.headers());
            let raw = stream::text(response, &origin, limits).await?;
            if let Some(learned) = quirks.learn(status, &raw, &body) {
                let mut known = self
                    .inner
                    .quirks
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                known.insert(place.clone(), learned);
                continue;
            }
            return Err(self.refusal(&origin, status, &raw, wait).await);
        }
    }

    fn quirks(&self, place: &(String, String)) -> Quirks {
        let known = self
            .inner
            .quirks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.get(place).copied().unwrap_or_default()
    }

    async fn refusal(
        &self,
        origin: &Origin,
        status: u16,
        raw: &str,
        retry_after_ms: Option<u64>,
    ) -> ModelError {
        let refusal = classify::http(status, raw);
        let models = match refusal.class {
            ModelErrorClass::UnknownModel => {
                let listed =
                    Box::pin(self.models(&origin.connection, Duration::from_secs(2))).await;
                // The names are an extra; the error that is told is the refusal.
                listed.unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let error = origin.refused(&refusal, Some(status), &models);
        ModelError {
            retry_after_ms,
            ..origin.with_detail(error, raw)
        }
    }

    async fn json(
        &self,
        (origin, response): (Origin, Response),
        limits: &Limits,
    ) -> Result<(Origin, Value), ModelError> {
        let status = response.status();
        let wait = retry_after_ms(response.headers());
        let raw = stream::text(response, &origin, limits).await?;
        if !status.is_success() {
            let refusal = classify::http(status.as_u16(), &raw);
            let error = origin.refused(&refusal, Some(status.as_u16()), &[]);
            return Err(ModelError {
                retry_after_ms: wait,
                ..origin.with_detail(error, &raw)
            });
        }
        match serde_json::from_str(&raw) {
            Ok(value) => Ok((origin, value)),
            Err(_) => {
                Err(origin.with_detail(origin.not_an_answer("something that is no JSON"), &raw))
            }
        }
    }

    async fn send(
        &self,
        connection: &Connection,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let first = self
            .send_once(connection, method.clone(), path, body, limits)
            .await;
        match first {
            // A child that went idle just now is started again by asking once more.
            Err(error)
                if error.class == ModelErrorClass::Connect
                    && connection.provider == Provider::Local =>
            {
                self.send_once(connection, method, path, body, limits).await
            }
            other => other,
        }
    }

    async fn send_once(
        &self,
        connection: &Connection,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let (origin, target) = self.target(connection, limits).await?;
        let mut request = target
            .http
            .request(method, format!("{}/{path}", target.base));
        if let Some(key) = &target.key {
            request = request.bearer_auth(key.expose_secret().trim());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let stage = limits.timeouts.headers;
        match timeout(limits.left(stage), request.send()).await {
            Ok(Ok(response)) => Ok((origin, response)),
            Ok(Err(error)) => Err(sending_failed(&origin, &error)),
            Err(_) => Err(limits.error(
                &origin,
                "no answer came",
                stage,
                "models.headers_timeout_ms",
            )),
        }
    }

    async fn target(
        &self,
        connection: &Connection,
        limits: &Limits,
    ) -> Result<(Origin, Target), ModelError> {
        let mut origin = Origin {
            connection: connection.clone(),
            key: None,
        };
        if connection.provider == Provider::Local {
            return self.local_target(origin, limits).await;
        }
        let url = url::Url::parse(connection.base_url.trim())
            .map_err(|e| origin.bad_url(&e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(origin.bad_url(&format!("`{}` is not http or https", url.scheme())));
        }
        if let Auth::BearerEnv { variable } = &connection.auth {
            origin.key = self.inner.secrets.get(variable);
            if origin.key.is_none() {
                return Err(origin.key_missing(variable));
            }
        }
        let http = self
            .inner
            .transports
            .for_url(&url)
            .map_err(|e| origin.no_client(&e))?;
        let target = Target {
            http,
            base: connection.base_url.trim().trim_end_matches('/').to_owned(),
            key: origin.key.clone(),
        };
        Ok((origin, target))
    }

    async fn local_target(
        &self,
        mut origin: Origin,
        limits: &Limits,
    ) -> Result<(Origin, Target), ModelError> {
        let Some(local) = &self.inner.local else {
            return Err(origin.local("this program was started without a local model"));
        };
        let started = local.endpoint(&origin.connection.model);
        let endpoint = match timeout(limits.left(Duration::MAX), started).await {
            Ok(Ok(endpoint)) => endpoint,
            Ok(Err(error)) => return Err(origin.local(&causes(&error))),
            Err(_) => {
                let what = "the local model was not loaded";
                return Err(limits.error(&origin, what, Duration::MAX, "timeout_ms"));
            }
        };
        let http = self
            .inner
            .transports
            .for_socket(&endpoint.socket_path)
            .map_err(|e| origin.local(&e))?;
        origin.key = Some(endpoint.token.clone());
        let target = Target {
            http,
            base: "http://localhost/v1".to_owned(),
            key: Some(endpoint.token),
        };
        Ok((origin, target))
    }
}

fn sending_failed(origin: &Origin, error: &reqwest::Error) -> ModelError {
    let why = causes_without_url(error);
    if error.is_builder() {
        return match origin.key {
            Some(_) => origin.key_unusable(),
            None => origin.bad_url(&why),
        };
    }
    // The only timeout that the client itself has is that of connecting.
    if error.is_connect() || error.is_timeout() {
        return origin.unreachable(&why);
    }
    origin.broken(&why, steward_core::model::Usage::default())
}

/// What went wrong below reqwest, whose own words are only that something did, and the URL.
pub(super) fn causes_without_url(error: &reqwest::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => causes(source),
        None => "the request could not be sent".to_owned(),
    }
}
