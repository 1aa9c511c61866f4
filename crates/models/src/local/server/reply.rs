//! Response bodies of the OpenAI dialect.

use bytes::Bytes;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::body::ReplyBody;
use super::chat::ChatStream;
use crate::local::infer::{Finish, Refusal, Usage};

/// A JSON response.
pub(super) fn json(status: u16, value: &Value) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::Whole(Some(Bytes::from(value.to_string()))));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A stream of events.
pub(super) fn events(stream: ChatStream) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::Events(Box::new(stream)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// A refusal as a response.
pub(super) fn refused(refusal: &Refusal) -> Response<ReplyBody> {
    json(refusal.status, &error(refusal))
}

/// A refusal as a body.
pub(super) fn error(refusal: &Refusal) -> Value {
    json!({"error": {
        "message": refusal.message,
        "type": refusal.kind,
        "code": refusal.code,
        "param": refusal.param,
    }})
}

pub(super) fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
    }
}

pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    })
}

/// Measured times under llama.cpp's own names.
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
