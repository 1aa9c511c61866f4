use super::request::{self, ScoreRequest};
use super::{App, ReplyBody, chat};
use crate::local::infer::{Job, Refusal, ScoreJob};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::{Method, Request, Response};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::sync::Arc;
use subtle::ConstantTimeEq as _;
use tokio::sync::oneshot;

pub(super) async fn handle(app: Arc<App>, request: Request<Incoming>) -> Response<ReplyBody> {
    if !app.authorised(&request) {
        return chat::refused(&Refusal {
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
            let message = "the built-in model answers /v1/chat/completions only; send the request there, or choose another \
                           connection of GET /v1/models";
            return chat::refused(&Refusal::invalid("path", message).with(404, "not_found"));
        }
    };
    if *request.method() != allowed {
        let refusal = Refusal::invalid("method", format!("{path} takes {allowed}"));
        return chat::refused(&refusal.with(405, "method_not_allowed"));
    }
    match path.as_str() {
        "/health" => app.health(),
        "/v1/models" => app.models(),
        _ => app.post(&path, request.into_body()).await,
    }
}

impl App {
    async fn post(&self, path: &str, incoming: Incoming) -> Response<ReplyBody> {
        let result = match read(incoming).await {
            Err(refusal) => Err(refusal),
            Ok(bytes) if path == "/v1/score" => score(self, &bytes).await,
            Ok(bytes) => chat::chat(self, &bytes).await,
        };
        result.unwrap_or_else(|refusal| chat::refused(&refusal))
    }

    fn health(&self) -> Response<ReplyBody> {
        if self.shared.info().is_some() {
            self.activity.seen_ready();
            chat::json_response(200, &json!({"status": "ok"}))
        } else {
            let progress = f64::from(self.shared.progress()) / 1000.0;
            chat::json_response(503, &json!({"status": "loading", "progress": progress}))
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
            "created": self.born.as_secs(),
            "owned_by": "steward",
            "meta": meta,
        });
        chat::json_response(200, &json!({"object": "list", "data": [model]}))
    }

    fn authorised(&self, request: &Request<Incoming>) -> bool {
        request
            .headers()
            .get(AUTHORIZATION)
            .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "))
            .is_some_and(|given| given.ct_eq(self.token.expose_secret().as_bytes()).into())
    }
}

const MAX_REQUEST_BYTES: usize = 16 << 20;

/// Within the size limit.
pub(super) async fn read(body: Incoming) -> Result<Bytes, Refusal> {
    match Limited::new(body, MAX_REQUEST_BYTES).collect().await {
        Ok(all) => Ok(all.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal {
            status: 413,
            ..Refusal::invalid("body", format!("the request is larger than {MAX_REQUEST_BYTES} bytes"))
        }),
        Err(error) => Err(Refusal::invalid("body", format!("the request body broke off: {error}"))),
    }
}

/// `POST /v1/score`: how likely each candidate is as the continuation of the prompt.
pub(super) async fn score(app: &App, body: &[u8]) -> Result<Response<ReplyBody>, Refusal> {
    let request: ScoreRequest = request::parse(body)?;
    app.check_model(request.model.as_deref())?;
    request.check()?;
    let (sender, receiver) = oneshot::channel();
    let prompt = request.prompt()?;
    let job = ScoreJob { prompt, candidates: request.candidates, end_of_turn: request.end_of_turn, reply: sender };
    let _busy = app.activity.begin();
    app.submit(Job::Score(Box::new(job)))?;
    let result = receiver.await.map_err(|_| app.ended())??;
    let scores: Vec<Value> = result
        .scores
        .iter()
        .map(|s| {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred tokens at most")]
            let mean = s.logprob_sum / s.tokens.max(1) as f64;
            json!({
                "candidate": s.candidate,
                "logprob_sum": s.logprob_sum,
                "tokens": s.tokens,
                "logprob_mean": mean,
            })
        })
        .collect();
    Ok(chat::json_response(
        200,
        &json!({
            "object": "scores",
            "model": app.alias,
            "scores": scores,
            "usage": chat::usage_json(&result.usage),
            "timings": chat::timings(&result.usage),
        }),
    ))
}
