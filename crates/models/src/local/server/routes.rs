use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::{Method, Request, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use tokio::sync::mpsc;

use super::activity::Activity;
use super::body::{self, ReplyBody};
use super::{chat, reply, score};
use crate::local::infer::{Job, Refusal, Shared};

/// What every request needs.
pub(super) struct App {
    pub token: SecretString,
    pub alias: String,
    pub started_at_unix: u64,
    pub started: Instant,
    pub counter: AtomicU64,
    pub jobs: mpsc::Sender<Job>,
    pub shared: Arc<Shared>,
    pub activity: Activity,
}

/// Answers one request.
pub(super) async fn handle(app: Arc<App>, request: Request<Incoming>) -> Response<ReplyBody> {
    if !app.authorised(&request) {
        return reply::refused(&Refusal {
            status: 401,
            kind: "authentication_error",
            code: "invalid_api_key",
            param: None,
            message: "wrong or missing bearer token for the local model server".to_owned(),
        });
    }
    let path = request.uri().path().to_owned();
    let allowed = match path.as_str() {
        "/health" | "/v1/models" => Method::GET,
        "/v1/chat/completions" | "/v1/score" => Method::POST,
        _ => {
            return reply::refused(&Refusal {
                status: 404,
                code: "not_found",
                ..Refusal::invalid(
                    "path",
                    format!(
                        "no {path} here; there are GET /health, GET /v1/models, POST /v1/chat/completions and POST /v1/score"
                    ),
                )
            });
        }
    };
    if *request.method() != allowed {
        return reply::refused(&Refusal {
            status: 405,
            code: "method_not_allowed",
            ..Refusal::invalid("method", format!("{path} takes {allowed}"))
        });
    }
    match path.as_str() {
        "/health" => app.health(),
        "/v1/models" => app.models(),
        _ => app.post(&path, request.into_body()).await,
    }
}

impl App {
    async fn post(&self, path: &str, incoming: Incoming) -> Response<ReplyBody> {
        let result = match body::read(incoming).await {
            Err(refusal) => Err(refusal),
            Ok(bytes) if path == "/v1/score" => score::score(self, &bytes).await,
            Ok(bytes) => chat::chat(self, &bytes).await,
        };
        result.unwrap_or_else(|refusal| reply::refused(&refusal))
    }

    fn health(&self) -> Response<ReplyBody> {
        if self.shared.info().is_some() {
            reply::json(200, &json!({"status": "ok"}))
        } else {
            let progress = f64::from(self.shared.progress()) / 1000.0;
            reply::json(503, &json!({"status": "loading", "progress": progress}))
        }
    }

    fn models(&self) -> Response<ReplyBody> {
        let meta = self.shared.info().map(|info| {
            json!({
                "n_ctx": info.window,
                "n_ctx_train": info.window_trained,
                "n_params": info.parameters,
                "n_vocab": info.vocabulary,
                "size": info.bytes,
                "load_ms": info.load_ms,
            })
        });
        let model = json!({
            "id": self.alias,
            "object": "model",
            "created": self.started_at_unix,
            "owned_by": "steward",
            "meta": meta,
        });
        reply::json(200, &json!({"object": "list", "data": [model]}))
    }

    /// Refuses any model but this one; no name means this one.
    pub fn check_model(&self, asked: Option<&str>) -> Result<(), Refusal> {
        match asked {
            None | Some("") => Ok(()),
            Some(name) if name == self.alias => Ok(()),
            Some(name) => Err(Refusal {
                status: 404,
                code: "model_not_found",
                ..Refusal::invalid("model", format!("no model `{name}` here; this server has `{}`", self.alias))
            }),
        }
    }

    /// Puts a job into the queue.
    pub fn submit(&self, job: Job) -> Result<(), Refusal> {
        self.jobs.try_send(job).map_err(|e| match e {
            mpsc::error::TrySendError::Full(_) => Refusal {
                status: 503,
                code: "queue_full",
                ..Refusal::internal("too many requests wait for the local model; try again later")
            },
            mpsc::error::TrySendError::Closed(_) => self.ended(),
        })
    }

    /// The inference thread is gone.
    #[expect(clippy::unused_self, reason = "belongs to the server's words")]
    pub fn ended(&self) -> Refusal {
        Refusal { status: 503, code: "ending", ..Refusal::internal("the model server is ending; ask again") }
    }

    pub fn next_number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    pub fn now_unix(&self) -> u64 {
        self.started_at_unix + self.started.elapsed().as_secs()
    }

    fn authorised(&self, request: &Request<Incoming>) -> bool {
        request
            .headers()
            .get(AUTHORIZATION)
            .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "))
            .is_some_and(|given| same(given, self.token.expose_secret().as_bytes()))
    }
}

/// Compares in a time that does not depend on where the difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y));
    a.len() == b.len() && std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn tokens_are_the_same_only_if_equal() {
        assert!(same(b"abc", b"abc"));
        for other in [&b"abd"[..], b"ab", b"abcd", b""] {
            assert!(!same(b"abc", other));
        }
    }
}
