//! Requests to the running server of this data directory.

use super::refused::Refused;
use super::serve_file::ServeFile;
use crate::keys;
use crate::term::Term;
use anyhow::{Context, bail};
use reqwest::{Method, RequestBuilder, Response, StatusCode, header};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Longest wait for a connection: it is this machine.
const CONNECT: Duration = Duration::from_secs(5);
/// Longest wait for an answer that isn't a stream: a test of a slow model, a replay of many runs.
const ANSWER: Duration = Duration::from_mins(5);
/// How long a server that has gone may take to come back in mid-command.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(200);
/// Rows asked for at once.
const PAGE: usize = 100;
/// Most rows of a list.
const MOST: usize = 10_000;

/// The running server.
pub struct Client {
    http: reqwest::Client,
    data_dir: PathBuf,
    place: RwLock<Place>,
    /// Where a wait for the server is told.
    pub(super) term: Term,
}

#[derive(Clone)]
struct Place {
    url: String,
    key: SecretString,
}

/// A body.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sent<'a> {
    Nothing,
    Json(&'a Value),
    Bytes(&'a [u8]),
}

/// Content type of [`Sent::Bytes`].
pub(super) const BYTES: &str = "application/octet-stream";

/// An answer as JSON; an empty one is `null`.
pub(super) fn read<T: DeserializeOwned>(answer: &[u8], method: &Method, path: &str) -> anyhow::Result<T> {
    let answer: &[u8] = if answer.is_empty() { b"null" } else { answer };
    serde_json::from_slice(answer).with_context(|| format!("the answer to {method} {path} is not understood"))
}

/// Why there is no client.
pub(super) enum Absent {
    /// No server has announced itself, or it is not the one that holds the directory.
    NoServer,
    /// It has, but does not answer: it may just be ending.
    Silent(anyhow::Error),
}

#[derive(Deserialize)]
struct AuthStatus {
    version: String,
}

#[derive(Deserialize)]
struct Page<T> {
    items: Vec<T>,
    next_cursor: Option<String>,
}

impl Client {
    /// The server that holds `data_dir` with process `holder`. Another process's file is stale: its
    /// address may be somebody else's by now, who must not get the key.
    pub(super) async fn connect(data_dir: &Path, holder: u32, term: Term) -> anyhow::Result<Result<Self, Absent>> {
        let Some(file) = ServeFile::read(data_dir)?.filter(|file| file.pid == holder) else {
            return Ok(Err(Absent::NoServer));
        };
        same_version(&file.version, &file)?;
        let client = Self {
            http: http()?,
            data_dir: data_dir.to_owned(),
            place: RwLock::new(Place { url: file.url.clone(), key: key(data_dir)? }),
            term,
        };
        match client.version(&file.url).await {
            Ok(version) => same_version(&version, &file)?,
            Err(error) => {
                return Ok(Err(Absent::Silent(error.context(format!(
                    "a steward server (pid {holder}) uses {} but does not answer at {}; wait for it, or stop it",
                    data_dir.display(),
                    file.url
                )))));
            }
        }
        Ok(Ok(client))
    }

    async fn version(&self, url: &str) -> anyhow::Result<String> {
        let answer = self
            .http
            .get(format!("{url}/api/auth/status"))
            .header(header::HOST, "localhost")
            .timeout(CONNECT)
            .send()
            .await?
            .error_for_status()?;
        Ok(answer.json::<AuthStatus>().await?.version)
    }

    fn place(&self) -> Place {
        self.place.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A server that was started again may have another port and key.
    pub(super) async fn look_again(&self) {
        let Ok(Some(file)) = ServeFile::read(&self.data_dir) else {
            return;
        };
        let same = self.version(&file.url).await.is_ok_and(|it| it == VERSION);
        if same && let Ok(key) = key(&self.data_dir) {
            let place = Place { url: file.url, key };
            *self.place.write().unwrap_or_else(PoisonError::into_inner) = place;
        }
    }

    /// A request with the key. The name is one that every listener takes.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let place = self.place();
        self.http
            .request(method, format!("{}{path}", place.url))
            .header(header::HOST, "localhost")
            .bearer_auth(place.key.expose_secret())
    }

    /// Opens a stream of events after `after`.
    pub(super) async fn stream(&self, path: &str, after: u64) -> reqwest::Result<Response> {
        self.request(Method::GET, path)
            .header(header::ACCEPT, "text/event-stream")
            .header("last-event-id", after.to_string())
            .send()
            .await
    }

    /// Begins something whose course is told as a stream of events.
    pub(super) async fn post_stream(&self, path: &str) -> reqwest::Result<Response> {
        self.request(Method::POST, path).header(header::ACCEPT, "text/event-stream").send().await
    }

    /// Reads something.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.ask(Method::GET, path, None).await
    }

    /// Does something.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> anyhow::Result<T> {
        self.ask(Method::POST, path, Some(body)).await
    }

    /// Any request, as JSON.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<T> {
        let body = body.map_or(Sent::Nothing, Sent::Json);
        let answer = self.exchange(&method, path, body).await?;
        read(&answer, &method, path)
    }

    /// Any request. One whose answer is lost is sent again: the key of the request keeps it from
    /// being done twice.
    pub(super) async fn exchange(&self, method: &Method, path: &str, body: Sent<'_>) -> anyhow::Result<Vec<u8>> {
        let once = hex::encode(keys::random(16));
        let begun = Instant::now();
        loop {
            let mut request = self.request(method.clone(), path).timeout(ANSWER);
            if *method != Method::GET {
                request = request.header("idempotency-key", &once);
            }
            request = match body {
                Sent::Nothing => request,
                Sent::Json(body) => request.json(body),
                Sent::Bytes(bytes) => request.header(header::CONTENT_TYPE, BYTES).body(bytes.to_vec()),
            };
            match self.answer(request).await {
                Ok((status, bytes)) if status.is_success() => return Ok(bytes),
                Ok((status, bytes)) => {
                    return Err(self.refusal(status, &String::from_utf8_lossy(&bytes)));
                }
                Err(error) if !error.is_timeout() && begun.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                    self.look_again().await;
                }
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!(
                            "the server at {} does not answer any more; start it again with `steward serve`, or run the command again without it",
                            self.place().url
                        )
                    });
                }
            }
        }
    }

    async fn answer(&self, request: RequestBuilder) -> reqwest::Result<(StatusCode, Vec<u8>)> {
        let answer = request.send().await?;
        let status = answer.status();
        Ok((status, answer.bytes().await?.to_vec()))
    }

    /// Where the server is.
    pub(super) fn url(&self) -> String {
        self.place().url
    }

    /// Why the server said no.
    pub(super) fn refusal(&self, status: StatusCode, text: &str) -> anyhow::Error {
        let refused = anyhow::Error::new(Refused::read(status.as_u16(), text));
        if status == StatusCode::UNAUTHORIZED {
            let file = self.data_dir.join("api-key");
            return refused.context(format!(
                "the server does not take the key in {}; delete that file and restart `steward serve`, which makes a new one",
                file.display()
            ));
        }
        refused
    }

    /// All rows of a list, up to `most`.
    pub(super) async fn all<T: DeserializeOwned>(&self, path: &str, most: usize) -> anyhow::Result<(Vec<T>, bool)> {
        let most = most.min(MOST);
        let mut rows = Vec::new();
        let mut cursor = None;
        loop {
            let page: Page<T> = self.page(path, most - rows.len(), cursor.as_deref()).await?;
            rows.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() || rows.len() >= most {
                return Ok((rows, cursor.is_some()));
            }
        }
    }

    async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        wanted: usize,
        cursor: Option<&str>,
    ) -> anyhow::Result<Page<T>> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut path = format!("{path}{joint}limit={}", wanted.clamp(1, PAGE));
        if let Some(cursor) = cursor {
            path.push_str("&cursor=");
            path.push_str(cursor);
        }
        self.get(&path).await
    }
}

fn http() -> anyhow::Result<reqwest::Client> {
    // A second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .connect_timeout(CONNECT)
        .build()
        .context("cannot make requests")
}

fn key(data_dir: &Path) -> anyhow::Result<SecretString> {
    let path = data_dir.join("api-key");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(SecretString::from(text.trim().to_owned())),
        Err(error) => bail!(
            "cannot read the key of the running server, {}: {error}; restart `steward serve`, which makes a new one",
            path.display()
        ),
    }
}

fn same_version(version: &str, file: &ServeFile) -> anyhow::Result<()> {
    if version != VERSION {
        bail!(
            "the server at {} (pid {}) is steward {version}, this program is {VERSION}; restart the server with this program, or use that one's",
            file.url,
            file.pid
        );
    }
    Ok(())
}
