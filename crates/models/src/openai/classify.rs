//! Classifies the errors of endpoints and reads how long they ask to wait. Pure; the phrases are data.

use reqwest::header::HeaderMap;
use serde_json::Value;
use steward_core::model::ModelErrorClass;

const CONTEXT_LENGTH: &str = include_str!("../../data/context_length_phrases.txt");
const UNKNOWN_MODEL: &str = include_str!("../../data/unknown_model_phrases.txt");
const BAD_KEY: &str = include_str!("../../data/bad_key_phrases.txt");
const NO_CREDIT: &str = include_str!("../../data/no_credit_phrases.txt");

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub class: ModelErrorClass,
    /// Its message, or the beginning of its body.
    pub words: String,
    /// Waiting does not help.
    pub no_credit: bool,
    /// The wait that the body asks for, milliseconds.
    pub retry_after_ms: Option<u64>,
}

pub(super) fn http(status: u16, body: &str) -> Refusal {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let words = value.as_ref().and_then(message).unwrap_or_else(|| body.trim().to_owned());
    judge(status, body, words)
}

/// An error object in the place of an answer.
pub(super) fn in_band(error: &Value) -> Refusal {
    let text = error.to_string();
    let words = message(error).unwrap_or_else(|| text.clone());
    let inner = error.get("error").unwrap_or(error);
    let status = ["code", "status", "status_code"].iter().find_map(|field| {
        let value = inner.get(field)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|n| (400..600).contains(n))
    });
    judge(status.unwrap_or_else(|| status_of_words(inner)), &text, words)
}

/// The HTTP status that an error's type stands for.
fn status_of_words(error: &Value) -> u16 {
    let field = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let words = format!("{} {}", field("type"), field("code")).to_lowercase();
    let statuses: [(u16, &[&str]); 6] = [
        (401, &["auth", "api_key", "permission", "accessdenied"]),
        (429, &["rate_limit", "too_many", "throttl", "exhausted"]),
        (413, &["too_large"]),
        (404, &["not_found"]),
        (400, &["invalid", "bad_request", "unsupported", "validation"]),
        (504, &["timeout"]),
    ];
    let said = statuses.into_iter().find(|(_, parts)| parts.iter().any(|part| words.contains(part)));
    said.map_or(500, |(status, _)| status)
}

fn judge(status: u16, body: &str, words: String) -> Refusal {
    use ModelErrorClass as Class;
    let lower = body.to_lowercase();
    let no_credit = status == 402 || matches_any(NO_CREDIT, &lower);
    let class = match status {
        _ if no_credit => Class::Auth,
        401 | 403 => Class::Auth,
        400 if matches_any(BAD_KEY, &lower) => Class::Auth,
        429 => Class::RateLimit,
        413 => Class::ContextLength,
        _ if matches_any(CONTEXT_LENGTH, &lower) => Class::ContextLength,
        400 | 404 | 422 if matches_any(UNKNOWN_MODEL, &lower) => Class::UnknownModel,
        408 | 504 => Class::Timeout,
        // Bedrock's status for a model that failed inside.
        424 | 500.. => Class::Server,
        _ => Class::BadRequest,
    };
    Refusal { class, words, no_credit, retry_after_ms: retry_delay(body) }
}

/// The wait in Gemini's details: `"retryDelay": "34.1s"`.
fn retry_delay(body: &str) -> Option<u64> {
    let rest = body.split_once("\"retryDelay\"")?.1;
    let text = rest.split('"').nth(1)?.strip_suffix('s')?;
    let wait = std::time::Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
    u64::try_from(wait.as_millis()).ok()
}

/// Whether a line of `phrases` is in `text`; parts joined by `&` must all be.
fn matches_any(phrases: &str, text: &str) -> bool {
    phrases
        .lines()
        .filter(|line| !line.trim().is_empty())
        .any(|line| line.split('&').all(|part| text.contains(part.trim())))
}

fn message(value: &Value) -> Option<String> {
    let inner = value.get("error").filter(|inner| !inner.is_null()).unwrap_or(value);
    let text = match inner {
        Value::String(text) => Some(text.as_str()),
        _ => ["message", "Message", "detail", "error", "msg"]
            .iter()
            .find_map(|field| inner.get(field).and_then(Value::as_str)),
    };
    // Gemini and some proxies wrap the object in a list.
    if text.is_none()
        && let Some(first) = value.get(0)
    {
        return message(first);
    }
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Longest wait that is believed, milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// Milliseconds. A date is compared with the endpoint's own `Date`, so no clock is needed.
pub(crate) fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|text| millis(text, 1.0)) {
        return Some(ms);
    }
    let text = header("retry-after")?;
    millis(text, 1000.0).or_else(|| {
        let then = httpdate::parse_http_date(text).ok()?;
        let now = httpdate::parse_http_date(header("date")?).ok()?;
        let wait = then.duration_since(now).unwrap_or_default();
        Some(wait.as_secs().saturating_mul(1000).min(LONGEST))
    })
}

fn millis(text: &str, unit: f64) -> Option<u64> {
    let value = text.parse::<f64>().ok()? * unit;
    if !value.is_finite() || value < 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "between 0 and a day"
    )]
    Some(value.min(LONGEST as f64).ceil() as u64)
}

/// Whether a refusal says that the server does not know something in the request.
pub(super) fn unsupported(body: &str) -> bool {
    let body = body.to_lowercase();
    ["unsupported", "not support", "unrecognized", "unknown", "extra", "not permitted"]
        .iter()
        .any(|word| body.contains(word))
}

#[cfg(test)]
mod classify_tests {
    use super::{http, in_band};
    use serde_json::{Value, json};
    use steward_core::model::ModelErrorClass::{self, *};

    fn check_http(status: u16, body: &str, class: ModelErrorClass, words: &str) {
        let refusal = http(status, body);
        assert_eq!((refusal.class, refusal.words.as_str()), (class, words), "{status} {body}");
    }

    fn check_in_band(error: &Value, class: ModelErrorClass) {
        assert_eq!(in_band(error).class, class, "{error}");
    }

    #[test]
    fn statuses() {
        check_http(401, r#"{"error":{"message":"Incorrect API key"}}"#, Auth, "Incorrect API key");
        check_http(403, r#"{"detail":"Forbidden"}"#, Auth, "Forbidden");
        check_http(402, "", Auth, "");
        check_http(429, r#"{"error":{"message":"slow down"}}"#, RateLimit, "slow down");
        check_http(429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#, Auth, "x");
        check_http(500, "boom", Server, "boom");
        check_http(529, "", Server, "");
        check_http(504, "", Timeout, "");
        check_http(404, "Not Found", BadRequest, "Not Found");
        check_http(
            404,
            r#"{"error":"model 'q' not found, try pulling it first"}"#,
            UnknownModel,
            "model 'q' not found, try pulling it first",
        );
        check_http(400, r#"{"message":"The model `q` does not exist"}"#, UnknownModel, "The model `q` does not exist");
        check_http(
            400,
            r#"{"error":{"message":"maximum context length is 4096"}}"#,
            ContextLength,
            "maximum context length is 4096",
        );
        check_http(413, "too large", ContextLength, "too large");
        check_http(400, r#"{"error":{"message":"messages is wrong"}}"#, BadRequest, "messages is wrong");
        check_http(302, "", BadRequest, "");
    }

    #[test]
    fn errors_in_the_place_of_an_answer() {
        check_in_band(&json!({"error": {"message": "x", "code": 429}}), RateLimit);
        check_in_band(&json!({"error": {"message": "x", "code": "503"}}), Server);
        check_in_band(&json!({"error": {"message": "x", "type": "rate_limit_error"}}), RateLimit);
        check_in_band(&json!({"error": {"message": "x", "type": "invalid_request_error"}}), BadRequest);
        check_in_band(&json!({"error": {"message": "x", "code": "context_length_exceeded"}}), ContextLength);
        check_in_band(&json!({"error": "overloaded"}), Server);
        check_in_band(&json!({"object": "error", "message": "no", "code": 401}), Auth);
    }
}

#[cfg(test)]
mod retry_after_tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::retry_after_ms;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    fn check(headers: &[(&'static str, &'static str)], expect: Option<u64>) {
        let map: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        assert_eq!(retry_after_ms(&map), expect, "{headers:?}");
    }

    #[test]
    fn every_form_of_the_header() {
        check(&[], None);
        check(&[("retry-after", "7")], Some(7000));
        check(&[("retry-after", "0.25")], Some(250));
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "999999999999")], Some(86_400_000));
        check(&[("retry-after-ms", "12"), ("retry-after", "7")], Some(12));
        let date = ("date", "Wed, 28 Feb 2024 23:59:50 GMT");
        check(&[date, ("retry-after", "Thu, 29 Feb 2024 00:00:20 GMT")], Some(30_000));
        check(&[date, ("retry-after", "Wed, 28 Feb 2024 23:00:00 GMT")], Some(0));
        check(&[("retry-after", "Thu, 29 Feb 2024 00:00:20 GMT")], None);
    }
}
