//! A reader of server-sent events.

use crate::common::{Bench, Server};
use futures::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

type Bytes = Pin<Box<dyn futures::Stream<Item = reqwest::Result<Vec<u8>>> + Send>>;

/// One open stream.
pub struct Reader {
    bytes: Bytes,
    rest: Vec<u8>,
    ready: VecDeque<Value>,
}

/// A client without proxy and without a limit on the whole answer.
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .tcp_nodelay(true)
        .read_timeout(Duration::from_mins(5))
        .build()
        .unwrap()
}

/// Starts a run through the API; its id.
pub fn chat(bench: &Bench, server: &Server, text: &str) -> String {
    let page = server.request(bench, Method::GET, "/api/agents", Some(&server.key), None);
    let agent = page.1["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/chat/{agent}");
    let body = json!({"message": text});
    let (status, started) = server.request(bench, Method::POST, &path, Some(&server.key), Some(&body));
    assert_eq!(status, StatusCode::ACCEPTED, "{started}");
    started["run_id"].as_str().unwrap().to_owned()
}

impl Reader {
    /// Opens the stream of `run` after sequence number `after`; an error where nobody listens.
    pub async fn open(client: &reqwest::Client, url: &str, key: &str, run: &str, after: u64) -> reqwest::Result<Self> {
        let mut request = client.get(format!("{url}/api/runs/{run}/events")).bearer_auth(key);
        if after > 0 {
            request = request.header("last-event-id", after);
        }
        let answer = request.send().await?.error_for_status()?;
        let bytes = answer.bytes_stream().map(|piece| piece.map(|one| one.to_vec()));
        Ok(Self { bytes: Box::pin(bytes), rest: Vec::new(), ready: VecDeque::new() })
    }

    /// The next event; `None` at the end or when the connection broke.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let piece = self.bytes.next().await?.ok()?;
            self.rest.extend_from_slice(&piece);
            while let Some(end) = self.rest.windows(2).position(|two| two == b"\n\n") {
                let frame: Vec<u8> = self.rest.drain(..end + 2).collect();
                self.ready.extend(event_of(&String::from_utf8(frame).unwrap()));
            }
        }
    }
}

/// The event of a frame; `None` for a comment. Its `id` and `event` lines must agree with its data.
fn event_of(frame: &str) -> Option<Value> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let data: Value = serde_json::from_str(field("data:")?).unwrap();
    assert_eq!(field("id:").unwrap(), data["seq"].to_string(), "{frame}");
    assert_eq!(field("event:").unwrap(), data["type"], "{frame}");
    Some(data)
}

/// Whether this is a run's last event.
pub fn is_last(event: &Value) -> bool {
    event["type"] == "run.finished"
}
