//! Sends requests: address, key, and the errors of failed connections.

use super::auth::{NoCredential, credential};
use super::classify::retry_after_ms;
use super::error_messages::Origin;
use super::transport::{Target, causes, causes_without_url};
use super::{Client, Limits, address, stream};
use bytes::Bytes;
use futures::StreamExt as _;
use http_body_util::BodyExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Provider, Usage};
use steward_core::ports::{ByteStream, Passage};
use tokio::time::timeout;
use url::Url;

const JSON: &str = "application/json";
const RESPONSES: &str = "responses";

/// A request without the connection's address and key.
pub(crate) struct Outgoing {
    pub method: Method,
    pub place: Place,
    /// In addition to those of the base URL.
    pub query: &'static [(&'static str, &'static str)],
    pub headers: HeaderMap,
    /// JSON; empty for none.
    pub body: Bytes,
}

pub(crate) enum Place {
    /// Of the OpenAI dialect.
    Dialect(&'static str),
    /// What is below an answer that the endpoint keeps: path segments from its id on, and the query.
    Kept(KeptPath),
    /// Below the server's root.
    Native(String),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct KeptPath {
    pub segments: Vec<String>,
    pub query: Vec<(String, String)>,
}

impl KeptPath {
    fn below(&self, mut url: Url) -> Result<Url, String> {
        url.path_segments_mut().map_err(|()| "it can't have a path".to_owned())?.extend(&self.segments);
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        Ok(url)
    }
}

impl Outgoing {
    pub fn get(path: &'static str) -> Self {
        Self::empty(Method::GET, Place::Dialect(path))
    }

    pub fn post(path: &'static str, body: &Value) -> Self {
        Self::post_bytes(path, body.to_string().into())
    }

    pub fn post_bytes(path: &'static str, body: Bytes) -> Self {
        Self { body, ..Self::empty(Method::POST, Place::Dialect(path)) }
    }

    pub fn get_native(path: String) -> Self {
        Self::empty(Method::GET, Place::Native(path))
    }

    pub fn post_native(path: String, body: &Value) -> Self {
        Self { body: body.to_string().into(), ..Self::empty(Method::POST, Place::Native(path)) }
    }

    pub fn empty(method: Method, place: Place) -> Self {
        Self { method, place, query: &[], headers: HeaderMap::new(), body: Bytes::new() }
    }
}

impl Client {
    /// For an answer that is one JSON document.
    pub(crate) async fn send_for_json(
        &self,
        connection: &Connection,
        outgoing: &Outgoing,
        limits: &Limits,
    ) -> Result<(Origin, Value), ModelError> {
        let (origin, response) = self.send(connection, outgoing, limits).await?;
        let status = response.status();
        let wait = retry_after_ms(response.headers());
        let raw = stream::text(response, &origin, limits).await?;
        if !status.is_success() {
            return Err(origin.http_error(status.as_u16(), &raw, wait, &[]));
        }
        match serde_json::from_str(&raw) {
            Ok(value) => Ok((origin, value)),
            Err(_) => Err(origin.with_detail(origin.not_an_answer("something that is no JSON"), &raw)),
        }
    }

    /// Returns the answer's headers, whatever the status.
    pub(crate) async fn send(
        &self,
        connection: &Connection,
        outgoing: &Outgoing,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let first = self.send_once(connection, outgoing, limits).await;
        match first {
            // A child that was just stopped for idleness starts again with the next request.
            Err(error) if error.class == ModelErrorClass::Connect && connection.provider == Provider::Local => {
                self.send_once(connection, outgoing, limits).await
            }
            other => other,
        }
    }

    /// Returns the answer, whatever its status, once its headers have come. Dropping it closes the request.
    pub(crate) async fn pass(
        &self,
        connection: &Connection,
        passage: Passage,
        (body, headers): (Bytes, HeaderMap),
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let path = match passage {
            Passage::ChatCompletions => "chat/completions",
            Passage::Completions => "completions",
            Passage::Embeddings => "embeddings",
            Passage::Responses => RESPONSES,
        };
        self.send(connection, &Outgoing { headers, ..Outgoing::post_bytes(path, body) }, limits).await
    }

    async fn send_once(
        &self,
        connection: &Connection,
        outgoing: &Outgoing,
        limits: &Limits,
    ) -> Result<(Origin, Response), ModelError> {
        let (origin, target) = self.target(connection, &outgoing.place, limits).await?;
        let mut url = target.url;
        if !outgoing.query.is_empty() {
            url.query_pairs_mut().extend_pairs(outgoing.query);
        }
        let signed = match &target.access_key {
            Some(key) => {
                let kind = [(CONTENT_TYPE.as_str(), JSON)];
                let kind = if outgoing.body.is_empty() { &kind[..0] } else { &kind };
                let now = self.inner.secrets.now();
                let made = key.sign("bedrock", outgoing.method.as_str(), &url, kind, &outgoing.body, now);
                Some(made.map_err(|why| origin.not_signed(&why))?)
            }
            None => None,
        };
        let mut request = target.http.request(outgoing.method.clone(), url);
        if let Some((name, value)) = target.header {
            request = request.header(name, value);
        }
        if !outgoing.headers.is_empty() {
            request = request.headers(outgoing.headers.clone());
        }
        if !outgoing.body.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static(JSON)).body(outgoing.body.clone());
        }
        if let Some(headers) = signed {
            request = request.headers(headers);
        }
        let stage = limits.timeouts.headers;
        match timeout(limits.left(stage), request.send()).await {
            Ok(Ok(response)) => Ok((origin, response)),
            Ok(Err(error)) => Err(sending_failed(&origin, &error)),
            Err(_) => Err(limits.error(&origin, "no answer came", stage, "models.headers_timeout_ms")),
        }
    }

    async fn target(
        &self,
        connection: &Connection,
        place: &Place,
        limits: &Limits,
    ) -> Result<(Origin, Target), ModelError> {
        let mut origin = Origin::of(connection);
        if connection.provider == Provider::Local {
            return self.local_target(origin, place, limits).await;
        }
        let url = match place {
            Place::Dialect(path) => self.inner.urls.dialect(connection, path),
            Place::Kept(path) => self.inner.urls.dialect(connection, RESPONSES).and_then(|url| path.below(url)),
            Place::Native(path) => address::native(connection, path),
        };
        let url = url.map_err(|why| origin.bad_url(&why))?;
        origin.secrets = secrets_of(&url);
        let fields = self.inner.secrets.fields(connection, self.typed.as_deref());
        let credential = fields.await.and_then(|fields| credential(connection, &fields));
        let credential = credential.map_err(|why| origin.no_credential(why))?;
        origin.secrets.extend(credential.secrets);
        let http = self.inner.transports.for_url(&url).map_err(|e| origin.no_client(&e))?;
        let target = Target { http, url, header: credential.header, access_key: credential.access_key };
        Ok((origin, target))
    }

    async fn local_target(
        &self,
        mut origin: Origin,
        place: &Place,
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
        let http = self.inner.transports.for_socket(&endpoint.socket_path).map_err(|e| origin.local(&e))?;
        let path = match place {
            Place::Dialect(path) => *path,
            Place::Kept(_) => RESPONSES,
            Place::Native(path) => path,
        };
        let url = Url::parse(&format!("http://localhost/v1/{path}")).map_err(|e| origin.local(&e.to_string()))?;
        let bearer = format!("Bearer {}", endpoint.token.expose_secret().trim());
        let mut value = HeaderValue::try_from(bearer).map_err(|_| origin.no_credential(NoCredential::Unusable))?;
        value.set_sensitive(true);
        origin.secrets = vec![endpoint.token];
        let target = Target { http, url, header: Some((reqwest::header::AUTHORIZATION, value)), access_key: None };
        Ok((origin, target))
    }
}

/// The answer's body; `models.idle_timeout_ms` applies between two pieces.
pub(crate) fn bytes(origin: Origin, response: Response, limits: Limits) -> ByteStream {
    async_stream::try_stream! {
        let mut body = reqwest::Body::from(response);
        loop {
            match timeout(limits.left(limits.timeouts.idle), body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    // Trailers are dropped.
                    if let Ok(piece) = frame.into_data() {
                        yield piece;
                    }
                }
                Ok(Some(Err(error))) => Err(origin.broken(&causes_without_url(&error), Usage::default()))?,
                Ok(None) => return,
                Err(_) => Err(limits.idle(&origin))?,
            }
        }
    }
    .boxed()
}

/// Secrets that people write into a URL: passwords, and keys in parameters.
fn secrets_of(url: &Url) -> Vec<SecretString> {
    let mut found: Vec<SecretString> = url.password().map(Into::into).into_iter().collect();
    if url.query().is_some() {
        let values = url.query_pairs();
        let secret = values.filter(|(name, value)| name != "api-version" && value.len() >= 8);
        found.extend(secret.map(|(_, value)| value.into_owned().into()));
    }
    found
}

fn sending_failed(origin: &Origin, error: &reqwest::Error) -> ModelError {
    let why = causes_without_url(error);
    if error.is_builder() {
        return if origin.secrets.is_empty() {
            origin.bad_url(&why)
        } else {
            origin.no_credential(NoCredential::Unusable)
        };
    }
    // The client's only own timeout is that of connecting.
    if error.is_connect() || error.is_timeout() {
        return origin.unreachable(&why);
    }
    origin.broken(&why, Usage::default())
}
