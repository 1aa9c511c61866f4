use super::Refused;
use crate::term::Term;
use anyhow::{Context, anyhow};
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use http::{Method, Request, Response, StatusCode, header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use steward_core::Timestamp;
use steward_core::ports::{Clock, Ids};

pub type ByteStream = BoxStream<'static, anyhow::Result<Bytes>>;

/// A way to the API: a socket, or the same router in this process. Addresses of requests are paths.
#[async_trait]
pub trait Transport: Send + Sync {
    /// An error means that there was no answer; the request may have been executed.
    async fn send(&self, request: Request<Bytes>) -> anyhow::Result<Response<ByteStream>>;

    /// URL for a browser of this machine; `None` if the work is done in this process.
    fn server_url(&self) -> Option<String> {
        None
    }

    /// What to do if the server refuses the key.
    fn key_hint(&self) -> Option<String> {
        None
    }

    /// Called before a request is repeated, since the server may have been restarted.
    async fn reconnect(&self) {}

    async fn close(&self) {}
}

/// Longest wait for an answer that isn't a stream.
const ANSWER: Duration = Duration::from_mins(5);
/// How long a vanished server may take to come back during a command.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);
const PAGE: usize = 100;
const MOST: usize = 10_000;
const JSON: &str = "application/json";

pub struct Client {
    pub(super) transport: Box<dyn Transport>,
    pub(super) term: Term,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

type Sent = Option<(&'static str, Bytes)>;

#[derive(Deserialize)]
struct Page<T> {
    items: Vec<T>,
    next_cursor: Option<String>,
}

impl Client {
    pub fn new(transport: Box<dyn Transport>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>, term: Term) -> Self {
        Self { transport, term, clock, ids }
    }

    pub fn server_url(&self) -> Option<String> {
        self.transport.server_url()
    }

    pub async fn close(&self) {
        self.transport.close().await;
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Minutes east of UTC of this machine at `at`.
    pub fn utc_offset_minutes(&self, at: Timestamp) -> i32 {
        self.clock.utc_offset_minutes(at)
    }

    /// IANA name of this machine's time zone; `None`: it isn't known.
    pub fn zone_name(&self) -> Option<String> {
        self.clock.zone_name()
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.request(Method::GET, path, None).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> anyhow::Result<T> {
        self.request(Method::POST, path, Some(body)).await
    }

    /// POST without a body.
    pub async fn act<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.request(Method::POST, path, None).await
    }

    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> anyhow::Result<T> {
        self.request(Method::PUT, path, Some(body)).await
    }

    pub async fn patch<T: DeserializeOwned>(&self, path: &str, body: &Value) -> anyhow::Result<T> {
        self.request(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> anyhow::Result<()> {
        self.request::<Value>(Method::DELETE, path, None).await?;
        Ok(())
    }

    pub async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<T> {
        let sent = body.map(|body| (JSON, Bytes::from(body.to_string())));
        self.exchange(method, path, sent).await
    }

    /// `None` sends no body.
    pub async fn upload<T: DeserializeOwned>(&self, path: &str, file: Option<Vec<u8>>) -> anyhow::Result<T> {
        let sent = file.map(|bytes| ("application/octet-stream", Bytes::from(bytes)));
        self.exchange(Method::POST, path, sent).await
    }

    pub async fn download(&self, path: &str) -> anyhow::Result<Bytes> {
        let (status, bytes) = self.answer(&Method::GET, path, None).await?;
        self.accepted(status, bytes)
    }

    /// A page for a browser, whatever its status.
    pub async fn page(&self, path: &str) -> anyhow::Result<(StatusCode, Bytes)> {
        self.answer(&Method::GET, path, None).await
    }

    pub async fn all<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<Vec<T>> {
        Ok(self.list(path, MOST).await?.0)
    }

    /// All rows as JSON, for lists of which only some fields are shown.
    pub async fn rows(&self, path: &str) -> anyhow::Result<Vec<Value>> {
        self.all(path).await
    }

    /// Up to `most` rows, and whether there are more.
    pub async fn list<T: DeserializeOwned>(&self, path: &str, most: usize) -> anyhow::Result<(Vec<T>, bool)> {
        let most = most.min(MOST);
        let joint = if path.contains('?') { '&' } else { '?' };
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let limit = (most - rows.len()).clamp(1, PAGE);
            let page: Page<T> = self.get(&format!("{path}{joint}limit={limit}{cursor}")).await?;
            rows.extend(page.items);
            match page.next_cursor {
                Some(next) if rows.len() < most => cursor = format!("&cursor={next}"),
                next => return Ok((rows, next.is_some())),
            }
        }
    }

    /// An answer that comes piece by piece; it is asked for once.
    pub async fn pieces(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<ByteStream> {
        let mut request = request(&method, path);
        let mut sent = Bytes::new();
        if let Some(body) = body {
            request = request.header(header::CONTENT_TYPE, JSON);
            sent = Bytes::from(body.to_string());
        }
        let answer = self.transport.send(request.body(sent)?).await?;
        let status = answer.status();
        if status.is_success() { Ok(answer.into_body()) } else { Err(self.refusal(status, answer.into_body()).await) }
    }

    /// Opens a stream of events; `after` is the last known one.
    pub(super) async fn stream(
        &self,
        method: Method,
        path: &str,
        after: Option<u64>,
    ) -> anyhow::Result<Response<ByteStream>> {
        let mut request = request(&method, path).header(header::ACCEPT, "text/event-stream");
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        self.transport.send(request.body(Bytes::new())?).await
    }

    /// What the server says by an answer that is no success.
    pub(super) async fn refusal(&self, status: StatusCode, body: ByteStream) -> anyhow::Error {
        match body.try_collect::<BytesMut>().await {
            Ok(bytes) => self.refused(status, &bytes),
            Err(error) => error,
        }
    }

    fn refused(&self, status: StatusCode, bytes: &[u8]) -> anyhow::Error {
        let refused = anyhow::Error::new(Refused::read(status.as_u16(), &String::from_utf8_lossy(bytes)));
        match self.transport.key_hint() {
            Some(hint) if status == StatusCode::UNAUTHORIZED => refused.context(hint),
            _ => refused,
        }
    }

    async fn exchange<T: DeserializeOwned>(&self, method: Method, path: &str, sent: Sent) -> anyhow::Result<T> {
        let (status, bytes) = self.answer(&method, path, sent).await?;
        let bytes = self.accepted(status, bytes)?;
        let json: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
        serde_json::from_slice(json).with_context(|| format!("the answer to {method} {path} is not understood"))
    }

    fn accepted(&self, status: StatusCode, bytes: Bytes) -> anyhow::Result<Bytes> {
        if status.is_success() { Ok(bytes) } else { Err(self.refused(status, &bytes)) }
    }

    /// If the answer of a request is lost it is sent again; its idempotency key keeps it from being executed twice.
    async fn answer(&self, method: &Method, path: &str, sent: Sent) -> anyhow::Result<(StatusCode, Bytes)> {
        let key = self.ids.next().to_string();
        let begun = Instant::now();
        loop {
            let mut request = request(method, path);
            if *method != Method::GET {
                request = request.header("idempotency-key", &key);
            }
            let mut body = Bytes::new();
            if let Some((kind, bytes)) = &sent {
                request = request.header(header::CONTENT_TYPE, *kind);
                body = bytes.clone();
            }
            let request = request.body(body).with_context(|| format!("{method} {path} is no request"))?;
            match tokio::time::timeout(ANSWER, self.whole(request)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(_)) if begun.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                    self.transport.reconnect().await;
                }
                Ok(Err(error)) => return Err(self.unanswered(error)),
                Err(_) => {
                    return Err(self.unanswered(anyhow!("there was no answer within {} s", ANSWER.as_secs())));
                }
            }
        }
    }

    async fn whole(&self, request: Request<Bytes>) -> anyhow::Result<(StatusCode, Bytes)> {
        let answer = self.transport.send(request).await?;
        let status = answer.status();
        let bytes: BytesMut = answer.into_body().try_collect().await?;
        Ok((status, bytes.freeze()))
    }

    fn unanswered(&self, error: anyhow::Error) -> anyhow::Error {
        let Some(url) = self.transport.server_url() else {
            return error;
        };
        error.context(format!(
            "the server at {url} does not answer any more; start it again with `steward serve`, or run the command again without it"
        ))
    }
}

/// Marks runs begun by the request as coming from the command line.
fn request(method: &Method, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path).header("x-steward-client", "cli")
}

pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A path with those parts of a query that have a value.
pub fn with_query<const N: usize>(path: &str, parts: [(&str, Option<String>); N]) -> String {
    let mut all = path.to_owned();
    for (name, value) in parts {
        if let Some(value) = value {
            let joint = if all.contains('?') { '&' } else { '?' };
            let _ = write!(all, "{joint}{name}={}", encoded(&value));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{encoded, with_query};

    #[test]
    fn a_query_has_what_is_given() {
        let path =
            |text: Option<&str>| with_query("/a", [("text", text.map(str::to_owned)), ("n", Some("1".to_owned()))]);
        assert_eq!(path(Some("x y")), "/a?text=x%20y&n=1");
        assert_eq!(path(None), "/a?n=1");
        assert_eq!(with_query("/a?b=c", [("n", None)]), "/a?b=c");
    }

    #[test]
    fn a_name_stays_within_its_part() {
        assert_eq!(encoded("server-care_1.2~x"), "server-care_1.2~x");
        assert_eq!(encoded("a/../b?c=d&e"), "a%2F..%2Fb%3Fc%3Dd%26e");
        assert_eq!(encoded("[fd00::1] ü"), "%5Bfd00%3A%3A1%5D%20%C3%BC");
    }
}
