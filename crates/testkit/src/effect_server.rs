//! The oracle of the crash tests: a tool server that counts what really happened.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::locks::lock;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

#[derive(Debug, Clone, Copy, Default)]
pub struct EffectOptions {
    /// Delay before the effect is counted.
    pub before: Duration,
    /// Delay between counting and the answer.
    pub after: Duration,
    /// Whether requests with the same key count as one effect, as on a server with idempotency keys.
    pub deduplicate: bool,
}

/// `POST /effect {key, …}` counts; `GET /counts` reports. It outlives its callers, so what it counted is what happened.
#[derive(Debug)]
pub struct EffectServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    options: EffectOptions,
    counts: Mutex<BTreeMap<String, Count>>,
    total: watch::Sender<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    /// Requests that arrived.
    pub calls: u64,
    pub effects: u64,
}

#[derive(Deserialize)]
struct Effect {
    key: String,
    #[serde(flatten)]
    _rest: serde_json::Map<String, Value>,
}

impl EffectServer {
    /// Starts on a free loopback port.
    pub async fn start(options: EffectOptions) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { options, counts: Mutex::default(), total: watch::Sender::new(0) });
        let app =
            Router::new().route("/effect", post(effect)).route("/counts", get(counts)).with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // It ends with the server; a failed accept shows in the test that calls it.
            let _ended = axum::serve(listener, app).await;
        });
        Ok(Self { address, shared, task })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// By key.
    pub fn counts(&self) -> BTreeMap<String, Count> {
        lock(&self.shared.counts).clone()
    }

    /// Keys with more than one effect; a test asserts that there are none.
    pub fn repeated(&self) -> Vec<String> {
        let counts = self.counts();
        counts.into_iter().filter(|(_, c)| c.effects > 1).map(|(key, _)| key).collect()
    }

    /// Waits until `effects` have been counted in all, or the time is over; returns whether they were.
    pub async fn wait(&self, effects: u64, limit: Duration) -> bool {
        let mut total = self.shared.total.subscribe();
        let reached = total.wait_for(|n| *n >= effects);
        matches!(tokio::time::timeout(limit, reached).await, Ok(Ok(_)))
    }
}

impl Drop for EffectServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn effect(State(shared): State<Arc<Shared>>, Json(effect): Json<Effect>) -> Json<Value> {
    // In its own task, since a request whose caller was killed is still an effect.
    let done = tokio::spawn(async move {
        tokio::time::sleep(shared.options.before).await;
        let count = shared.count(&effect.key);
        tokio::time::sleep(shared.options.after).await;
        json!({"key": effect.key, "calls": count.calls, "effects": count.effects})
    });
    Json(done.await.unwrap_or_else(|e| json!({"error": e.to_string()})))
}

async fn counts(State(shared): State<Arc<Shared>>) -> Json<BTreeMap<String, Count>> {
    Json(lock(&shared.counts).clone())
}

impl Shared {
    fn count(&self, key: &str) -> Count {
        let mut counts = lock(&self.counts);
        let count = counts.entry(key.to_owned()).or_default();
        count.calls += 1;
        if !self.options.deduplicate || count.effects == 0 {
            count.effects += 1;
            self.total.send_modify(|n| *n += 1);
        }
        count.clone()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::model_server::http::post_json;

    #[tokio::test]
    async fn effects_are_counted_by_key() {
        let server = EffectServer::start(EffectOptions::default()).await.unwrap();
        for key in ["a", "b", "a"] {
            let (status, _) = post_json(server.address, "/effect", &json!({"key": key, "x": 1})).await.unwrap();
            assert_eq!(status, 200);
        }
        assert!(server.wait(3, Duration::from_mins(5)).await);
        assert_eq!(server.repeated(), ["a"]);
        assert!(!server.wait(4, Duration::from_millis(20)).await);
        let (status, _) = post_json(server.address, "/effect", &json!({"x": 1})).await.unwrap();
        assert_eq!(status, 422);
    }

    #[tokio::test]
    async fn with_keys_a_repeat_has_no_effect() {
        let options = EffectOptions { deduplicate: true, ..EffectOptions::default() };
        let server = EffectServer::start(options).await.unwrap();
        for _ in 0..3 {
            post_json(server.address, "/effect", &json!({"key": "a"})).await.unwrap();
        }
        assert_eq!(server.counts()["a"], Count { calls: 3, effects: 1 });
        assert!(server.repeated().is_empty());
    }
}
