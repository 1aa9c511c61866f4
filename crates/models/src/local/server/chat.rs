use super::request::{self, ChatRequest};
use super::{App, Busy, ReplyBody};
use crate::local::infer::{ChatJob, Finish, Job, Progress, Refusal, Usage};
use bytes::Bytes;
use futures::StreamExt as _;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use tokio::sync::mpsc;

/// `POST /v1/chat/completions`.
pub(super) async fn chat(app: &App, body: &[u8]) -> Result<Response<ReplyBody>, Refusal> {
    let request: ChatRequest = request::parse(body)?;
    app.check_model(request.model.as_deref())?;
    request.check()?;
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let job = ChatJob {
        prompt: request.prompt()?,
        sampling: request.sampling.sampling(!matches!(request.constraint()?, crate::local::infer::Constraint::Free))?,
        constraint: request.constraint()?,
        stop: request.stops()?,
        max_tokens: request.limit(),
        reply: sender,
    };
    let busy = app.activity.begin();
    app.submit(Job::Chat(Box::new(job)))?;
    // Errors before the first token get their own status, also for streams.
    match receiver.recv().await {
        Some(Progress::Started) => {}
        Some(Progress::Failed(refusal)) => return Err(refusal),
        _ => return Err(app.ended()),
    }
    let head = Head {
        id: format!("chatcmpl-{:x}-{}", app.born.as_nanos(), app.counter.fetch_add(1, Ordering::Relaxed)),
        created: (app.born + app.started.elapsed()).as_secs(),
        model: app.alias.clone(),
    };
    if request.stream {
        let include_usage = request.stream_options.is_some_and(|o| o.include_usage);
        return Ok(events(head, receiver, include_usage, busy));
    }
    whole(app, &head, receiver).await
}

async fn whole(
    app: &App,
    head: &Head,
    mut receiver: mpsc::UnboundedReceiver<Progress>,
) -> Result<Response<ReplyBody>, Refusal> {
    let mut text = String::new();
    loop {
        match receiver.recv().await {
            Some(Progress::Started) => {}
            Some(Progress::Text(piece)) => text.push_str(&piece),
            Some(Progress::Failed(refusal)) => return Err(refusal),
            None => return Err(app.ended()),
            Some(Progress::Done(finish, usage)) => {
                let choice = json!({
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": finish_word(finish),
                });
                let mut value = head.object("chat.completion", &json!([choice]));
                value["usage"] = usage_json(&usage);
                value["timings"] = timings(&usage);
                return Ok(json_response(200, &value));
            }
        }
    }
}

struct Head {
    id: String,
    created: u64,
    model: String,
}

impl Head {
    fn object(&self, kind: &str, choices: &Value) -> Value {
        json!({
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        self.object("chat.completion.chunk", &json!([choice]))
    }
}

/// As server-sent events. Dropping them cancels the job.
fn events(
    head: Head,
    mut receiver: mpsc::UnboundedReceiver<Progress>,
    include_usage: bool,
    busy: Busy,
) -> Response<ReplyBody> {
    let events = async_stream::stream! {
        let _busy = busy;
        yield event(&head.chunk(&json!({"role": "assistant", "content": ""}), None));
        loop {
            match receiver.recv().await {
                Some(Progress::Started) => {}
                Some(Progress::Text(text)) => yield event(&head.chunk(&json!({"content": text}), None)),
                Some(Progress::Done(finish, usage)) => {
                    let mut last = head.chunk(&json!({}), Some(finish_word(finish)));
                    last["timings"] = timings(&usage);
                    yield event(&last);
                    if include_usage {
                        let mut value = head.object("chat.completion.chunk", &json!([]));
                        value["usage"] = usage_json(&usage);
                        yield event(&value);
                    }
                    yield Bytes::from_static(b"data: [DONE]\n\n");
                    break;
                }
                Some(Progress::Failed(refusal)) => {
                    yield event(&error(&refusal));
                    break;
                }
                None => {
                    yield event(&error(&Refusal::internal("the model server is ending; ask again")));
                    break;
                }
            }
        }
    };
    let body = StreamBody::new(events.map(|bytes| Ok(Frame::data(bytes)))).boxed_unsync();
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn event(value: &Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}

pub(super) fn json_response(status: u16, value: &Value) -> Response<ReplyBody> {
    let mut response = Response::new(Full::from(value.to_string()).boxed_unsync());
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn refused(refusal: &Refusal) -> Response<ReplyBody> {
    json_response(refusal.status, &error(refusal))
}

pub(super) fn error(refusal: &Refusal) -> Value {
    json!({"error": {
        "message": refusal.message,
        "type": refusal.kind,
        "code": refusal.code,
        "param": refusal.param,
    }})
}

pub(super) fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
    }
}

pub(super) fn usage_json(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    })
}

/// Under llama.cpp's own names.
pub(super) fn timings(usage: &Usage) -> Value {
    let prompt_n = usage.prompt_tokens - usage.cached_tokens;
    json!({
        "cache_n": usage.cached_tokens,
        "prompt_n": prompt_n,
        "prompt_ms": milliseconds(usage.prompt_time),
        "predicted_n": usage.completion_tokens,
        "predicted_ms": milliseconds(usage.completion_time),
    })
}

fn milliseconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}
