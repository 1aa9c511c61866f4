//! One attempt at passing a request through: reads the answer up to its first content, or a whole document. Bytes go
//! on unchanged, so markers in them are searched for and nothing is parsed.

use super::document_as_stream::events_of;
use crate::openai::{Client, Limits, Origin, bytes, content_type, is_failure, retry_after_ms};
use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};
use memchr::memmem;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::model::{Connection, ModelError, Provider};
use steward_core::passthrough_request::PassthroughRequest;
use steward_core::ports::{ByteStream, Passage};
use tokio::time::timeout;

/// Longest document that is read before it goes on, bytes. Up to there, one that breaks off is asked for elsewhere.
const WHOLE: usize = 8 << 20;
/// Most bytes kept back before the first content.
const HELD: usize = 64 << 10;

pub(crate) struct Answer {
    pub origin: Origin,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: ByteStream,
    /// An event stream, which marks its own end.
    pub events: bool,
}

/// The beginning of an answer's body, and what follows, if anything does.
type Begun = (Bytes, Option<ByteStream>);

pub(crate) struct Refused {
    pub error: ModelError,
    /// `None` if there was no answer at all.
    pub raw: Option<Box<Answer>>,
}

impl From<ModelError> for Refused {
    fn from(error: ModelError) -> Self {
        Self { error, raw: None }
    }
}

/// Empty for the local model, whose name is a file's path.
fn wire_model(connection: &Connection) -> &str {
    match connection.provider {
        Provider::Local => "",
        _ => &connection.model,
    }
}

pub(crate) struct PassthroughCall<'a> {
    pub client: &'a Client,
    pub passage: Passage,
    pub body: &'a Bytes,
    pub asked: &'a PassthroughRequest,
}

impl PassthroughCall<'_> {
    pub async fn ask(&self, connection: &Connection, left: Duration) -> Result<Answer, Refused> {
        let limits = self.client.limits_of(left, 0);
        let body = Bytes::from(self.asked.with_model(self.body, wire_model(connection)));
        let sent = (body, request_headers(self.asked));
        let (origin, response) = self.client.pass(connection, self.passage, sent, &limits).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let events = is_events(&headers);
        let rest = bytes(origin.clone(), response, limits);
        let (mut begin, rest) = match (status.is_success(), events) {
            (true, true) => self.first_content(&origin, rest, limits).await?,
            (true, false) => document(&origin, rest, self.passage).await?,
            (false, _) => read(rest, 1 << 20).await?,
        };
        let mut error = None;
        if !status.is_success() {
            let (words, wait) = (String::from_utf8_lossy(&begin), retry_after_ms(&headers));
            error = Some(origin.http_error(status.as_u16(), &words, wait, &[]));
            begin = origin.scrubbed(begin);
        }
        let mut headers = passed(&headers);
        let mut events = events;
        if self.asked.stream && !events && error.is_none() {
            // Some servers give one document whatever is asked.
            let told = rest.is_none().then(|| events_of(&begin, self.passage, self.asked.include_usage)).flatten();
            let what = "one document where a stream was asked for";
            begin = told.ok_or_else(|| origin.not_an_answer(what))?;
            headers.retain(|(name, _)| name != "content-type");
            headers.push(("content-type".to_owned(), "text/event-stream".to_owned()));
            events = true;
        }
        if rest.is_none() {
            headers.push(("content-length".to_owned(), begin.len().to_string()));
        }
        let begin = stream::iter(Some(begin).filter(|begin| !begin.is_empty()).map(Ok));
        let body = begin.chain(stream::iter(rest).flatten()).boxed();
        let answer = Answer { origin, status: status.as_u16(), headers, body, events };
        match error {
            Some(error) => Err(Refused { error, raw: Some(Box::new(answer)) }),
            None => Ok(answer),
        }
    }

    /// Keeps back what comes before the first content, so that another connection can still be asked.
    async fn first_content(&self, origin: &Origin, mut rest: ByteStream, limits: Limits) -> Result<Begun, ModelError> {
        let stage = limits.timeouts.first_content;
        let first = async {
            let mut held = Bytes::new();
            while let Some(piece) = rest.next().await {
                let piece = piece?;
                // The first piece mostly has content, and then goes on without a copy.
                held = if held.is_empty() { piece } else { [held, piece].concat().into() };
                // What an event says is known at its end.
                let whole = memchr::memrchr(b'\n', &held).map_or(0, |at| at + 1);
                if let Some(error) = error_event(&held[..whole]) {
                    return Err(origin.in_band_error(&error));
                }
                if held.len() > HELD || has_content(&held[..whole], self.passage) {
                    return Ok(held);
                }
            }
            match error_event(&held) {
                Some(error) => return Err(origin.in_band_error(&error)),
                None if has_content(&held, self.passage) => return Ok(held),
                None => {}
            }
            Err(origin.not_an_answer("a stream that ended before it had content"))
        };
        let Ok(begin) = timeout(limits.left(stage), first).await else {
            let setting = "models.first_content_timeout_ms";
            return Err(limits.error(origin, "no content came", stage, setting));
        };
        Ok((begin?, Some(rest)))
    }
}

async fn document(origin: &Origin, rest: ByteStream, passage: Passage) -> Result<Begun, ModelError> {
    let (begin, rest) = read(rest, WHOLE).await?;
    if let Some(error) = may_fail(&begin).then(|| failure(&begin)).flatten() {
        return Err(origin.in_band_error(&error));
    }
    if rest.is_none() && !looks_whole(&begin) {
        let error = origin.not_an_answer("something that is no JSON");
        let raw = String::from_utf8_lossy(&begin[..begin.len().min(2048)]);
        return Err(origin.with_detail(error, &raw));
    }
    if let Some(missing) = missing_part(&begin, passage).filter(|_| rest.is_none()) {
        let error = origin.not_an_answer(&format!("a document without {missing}"));
        let raw = String::from_utf8_lossy(&begin[..begin.len().min(2048)]);
        return Err(origin.with_detail(error, &raw));
    }
    Ok((begin, rest))
}

/// What clients read first of every answer, and this document doesn't have.
fn missing_part(body: &[u8], passage: Passage) -> Option<&'static str> {
    let (list, part) = match passage {
        Passage::ChatCompletions => ("choices", "message"),
        Passage::Completions => ("choices", "text"),
        Passage::Embeddings => ("data", "embedding"),
        Passage::Responses => return None,
    };
    // Mostly it is there, which is cheaper to know than the document.
    let begins = |at: usize| {
        let value = body[at + part.len() + 2..].trim_ascii_start().strip_prefix(b":").unwrap_or_default();
        matches!(value.trim_ascii_start().first(), Some(b'{' | b'[' | b'"'))
    };
    if memmem::find_iter(body, format!("\"{part}\"").as_bytes()).any(begins) {
        return None;
    }
    let document: Value = serde_json::from_slice(body).ok()?;
    let first = &document[list][0];
    match passage {
        _ if first.is_null() && list == "data" => Some("an item of `data`"),
        _ if first.is_null() => Some("an item of `choices`"),
        Passage::ChatCompletions if !first["message"].is_object() => Some("the `message` of its first choice"),
        Passage::Completions if !first["text"].is_string() => Some("the `text` of its first choice"),
        Passage::Embeddings if first["embedding"].is_null() => Some("the `embedding` of its first item"),
        _ => None,
    }
}

fn request_headers(asked: &PassthroughRequest) -> HeaderMap {
    let pairs = asked.headers.iter().map(|(name, value)| (HeaderName::try_from(name), HeaderValue::try_from(value)));
    pairs.filter_map(|(name, value)| Some((name.ok()?, value.ok()?))).collect()
}

const PASSED: [&str; 9] = [
    "content-type",
    "content-encoding",
    "content-language",
    "retry-after",
    "retry-after-ms",
    "request-id",
    "x-request-id",
    "x-should-retry",
    "apim-request-id",
];
const PREFIXES: [&str; 3] = ["x-ratelimit-", "openai-", "anthropic-ratelimit-"];

/// Names in lower case. Cookies, server names and hop-by-hop headers are dropped; so is the length, which may change.
pub(super) fn passed(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .filter(|(name, _)| {
            let name = name.as_str();
            PASSED.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        })
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect()
}

fn is_events(headers: &HeaderMap) -> bool {
    content_type(headers).is_some_and(|kind| kind.starts_with("text/event-stream"))
}

async fn read(mut rest: ByteStream, most: usize) -> Result<Begun, ModelError> {
    let Some(first) = rest.next().await.transpose()? else {
        return Ok((Bytes::new(), None));
    };
    let mut all = BytesMut::from(first);
    while all.len() < most {
        match rest.next().await.transpose()? {
            Some(piece) => all.extend_from_slice(&piece),
            None => return Ok((all.freeze(), None)),
        }
    }
    Ok((all.freeze(), Some(rest)))
}

const CONTENT: [&[u8]; 9] = [
    b"\"content\"",
    b"\"text\"",
    b"\"delta\"",
    b"\"arguments\"",
    b"\"reasoning_content\"",
    b"\"reasoning\"",
    b"\"refusal\"",
    b"\"finish_reason\"",
    b"\"name\"",
];
const DONE: &[u8] = b"[DONE]";
const ENDS: [&[u8]; 3] = [b"\"response.completed\"", b"\"response.incomplete\"", b"\"response.failed\""];

/// Whether these events have content, or say how the answer ended. That the stream is over is neither.
pub(crate) fn has_content(events: &[u8], passage: Passage) -> bool {
    let ends = passage == Passage::Responses && ENDS.iter().any(|sign| memmem::find(events, sign).is_some());
    ends || CONTENT.iter().any(|field| has_text(events, field))
}

pub(crate) fn has_end(events: &[u8], passage: Passage) -> bool {
    let holds = |sign: &[u8]| memmem::find(events, sign).is_some();
    match passage {
        Passage::Responses => ENDS.iter().any(|sign| holds(sign)) || holds(DONE),
        _ => holds(DONE) || has_text(events, b"\"finish_reason\""),
    }
}

/// Whether `field` (with its quotes) has a non-empty text somewhere.
fn has_text(events: &[u8], field: &[u8]) -> bool {
    memmem::find_iter(events, field).any(|at| {
        let rest = &events[at + field.len()..];
        let mut rest = rest.iter().filter(|byte| **byte != b' ');
        rest.next() == Some(&b':') && rest.next() == Some(&b'"') && rest.next().is_some_and(|byte| *byte != b'"')
    })
}

/// An event that says that there will be no answer.
pub(crate) fn error_event(events: &[u8]) -> Option<Value> {
    if !may_fail(events) {
        return None;
    }
    let text = String::from_utf8_lossy(events);
    text.lines().filter_map(|line| line.strip_prefix("data:")).find_map(|data| failure(data.as_bytes()))
}

/// An error that clients would not take for one, as what is not of this dialect, in the last whole events from the one on that
/// goes over `new`; and how many bytes follow it.
pub(crate) fn unraised_error(events: &[u8], new: usize, passage: Passage) -> Option<(Value, usize)> {
    let begin = memmem::rfind(&events[..new], b"\n\n").map_or(0, |at| at + 2);
    memmem::find(&events[begin..], b"error")?;
    let (mut at, mut named) = (begin, false);
    for line in events[begin..].split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        let text = line.trim_ascii();
        if text.is_empty() {
            named = false;
        } else if text.strip_prefix(b"event:").is_some_and(|kind| kind.trim_ascii() == b"error") {
            named = true;
        } else if let Some(data) = text.strip_prefix(b"data:").filter(|_| line.ends_with(b"\n")) {
            let Ok(value) = serde_json::from_slice::<Value>(data) else { continue };
            if is_unraised(&value, named, passage) {
                // The blank line belongs to it.
                let rest = &events[at..];
                let blank = [&b"\r\n"[..], b"\n"].into_iter().find(|end| rest.starts_with(end)).map_or(0, <[u8]>::len);
                return Some((value, rest.len() - blank));
            }
        }
    }
    None
}

fn is_unraised(value: &Value, named: bool, passage: Passage) -> bool {
    let raised = passage == Passage::Responses && value["type"].is_string();
    if raised || !value.is_object() || !value["error"].is_null() {
        return false;
    }
    let kind = value["object"] == "error" || value["type"] == "error";
    kind || named || !value["choices"][0]["error"].is_null()
}

/// Whether there may be an error in these bytes, which is cheaper to know than whether there is one.
fn may_fail(bytes: &[u8]) -> bool {
    if memmem::find_iter(bytes, b"\"finish_reason\"").any(|at| {
        let value = bytes[at + 15..].trim_ascii_start().strip_prefix(b":").unwrap_or_default().trim_ascii_start();
        let word = value.strip_prefix(b"\"").and_then(|word| word.split(|byte| *byte == b'"').next());
        word.and_then(|word| std::str::from_utf8(word).ok()).is_some_and(is_failure)
    }) {
        return true;
    }
    memmem::find_iter(bytes, b"\"error\"").any(|at| {
        let rest = bytes[at + 7..].trim_ascii_start();
        !rest.strip_prefix(b":").is_some_and(|value| value.trim_ascii_start().starts_with(b"null"))
    })
}

/// The error of an event or a document that is no answer, whatever else is in it: one with choices of an answer may say
/// only in their place, or by its reason to end, that it failed. With the text of an answer it is one.
fn failure(body: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let choice = &value["choices"][0];
    let response = &value["response"];
    let places = [value.get("error"), choice.get("error"), response.get("error")];
    let told = places.into_iter().flatten().find(|error| !error.is_null());
    let ended = choice["finish_reason"].as_str().is_some_and(is_failure) || choice["native_finish_reason"] == "error";
    let kind = value["type"] == "error" || value["object"] == "error" || response["status"] == "failed";
    if told.is_none() && !ended && !kind {
        return None;
    }
    let said = ["message", "delta"].iter().any(|part| {
        ["content", "reasoning_content", "tool_calls"].iter().any(|field| {
            let said = &choice[*part][*field];
            said.as_str().is_some_and(|text| !text.trim().is_empty())
                || said.as_array().is_some_and(|all| !all.is_empty())
        })
    });
    let text = choice["text"].as_str().is_some_and(|text| !text.trim().is_empty());
    (!said && !text).then(|| told.map_or_else(|| value.clone(), |error| json!({"error": error})))
}

fn looks_whole(body: &[u8]) -> bool {
    let body = body.trim_ascii();
    matches!((body.first(), body.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
}

#[cfg(test)]
mod tests {
    use super::{error_event, has_content, has_end, looks_whole, missing_part, unraised_error};
    use steward_core::ports::Passage::{ChatCompletions, Responses};

    #[test]
    fn content_is_told_from_what_comes_before_it() {
        let cases: [(&str, bool); 11] = [
            (r#"data: {"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#, false),
            (": keep-alive\n\n", false),
            (r#"data: {"choices":[{"delta":{"content":"Hi"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"content": "Hi"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"content":"\n"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"reasoning_content":"Hm"}}]}"#, true),
            (r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":""}}]}}]}"#, true),
            (r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#, true),
            (r#"data: {"choices":[],"usage":null}"#, false),
            (r#"data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}"#, false),
            ("data: [DONE]", false),
        ];
        for (events, expected) in cases {
            assert_eq!(has_content(events.as_bytes(), ChatCompletions), expected, "{events}");
        }
        let created = br#"data: {"type":"response.created","response":{"status":"in_progress","error":null}}"#;
        assert!(!has_content(created, Responses));
        assert!(has_content(br#"data: {"type":"response.output_text.delta","delta":"Hi"}"#, Responses));
        assert!(has_end(br#"data: {"type":"response.completed"}"#, Responses));
        assert!(!has_end(br#"data: {"choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#, ChatCompletions));
    }

    #[test]
    fn errors_in_the_place_of_content() {
        let failures = [
            r#"{"error":{"message":"overloaded"}}"#,
            r#"{"type":"error","error":"x"}"#,
            r#"{"choices":[],"error":{"a":1}}"#,
            r#"{"id":"x","error":{"code":502},"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":"error"}]}"#,
            r#"{"choices":[{"delta":{"content":""},"finish_reason": "error"}]}"#,
            r#"{"choices":[{"error":{"code":429},"delta":{},"finish_reason":null}]}"#,
            r#"{"choices":[{"text":"","finish_reason":"error"}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}"#,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error"},"output":[]}}"#,
        ];
        for failure in failures {
            assert!(error_event(format!("data: {failure}\n\n").as_bytes()).is_some(), "{failure}");
            assert!(super::failure(failure.as_bytes()).is_some(), "{failure}");
        }
        let answers = [
            r#"{"error":null}"#,
            r#"{"error":{"#,
            r#"{"choices":[{"delta":{"content":"an \"error\" in words"},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{"content":"as far as it came"},"finish_reason":"error"}]}"#,
            r#"{"choices":[{"message":{"content":"as far as it came"},"error":{"code":1}}]}"#,
            r#"{"type":"response.created","response":{"status":"in_progress","error":null}}"#,
        ];
        for answer in answers {
            assert!(error_event(format!("data: {answer}\n\n").as_bytes()).is_none(), "{answer}");
        }
    }

    #[test]
    fn an_error_that_no_client_raises_is_found_with_what_follows_it() {
        let begin = "data: {\"choices\":[{\"delta\":{\"content\":\"Half an\"}}]}\n\n";
        for (event, passage, found) in [
            (r#"data: {"object":"error","message":"boom","code":500}"#, ChatCompletions, true),
            (r#"data: {"type": "error", "message": "boom"}"#, ChatCompletions, true),
            ("event: error\ndata: {\"message\":\"boom\"}", ChatCompletions, true),
            (r#"data: {"choices":[{"delta":{},"error":{"code":500}}]}"#, ChatCompletions, true),
            (r#"data: {"error":{"message":"boom"}}"#, ChatCompletions, false),
            (r#"data: {"choices":[{"delta":{"content":"an \"error\" in words"}}]}"#, ChatCompletions, false),
            (r#"data: {"type":"error","message":"boom"}"#, Responses, false),
            (r#"data: {"object":"error","message":"boom"}"#, Responses, true),
        ] {
            let whole = format!("{begin}{event}\n\ndata: [DONE]\n\n");
            let told = unraised_error(whole.as_bytes(), 0, passage).map(|(_, rest)| rest);
            assert_eq!(told, found.then_some("data: [DONE]\n\n".len()), "{event}");
        }
    }

    #[test]
    fn a_document_without_an_answer_is_told() {
        use steward_core::ports::Passage::{Completions, Embeddings};
        for (document, passage, missing) in [
            (r#"{"choices":[]}"#, ChatCompletions, true),
            (r#"{"id":"x"}"#, ChatCompletions, true),
            (r#"{"choices":[{"message":null,"finish_reason":"stop"}]}"#, ChatCompletions, true),
            (r#"{"choices":[{"message":{"content":null}}]}"#, ChatCompletions, false),
            (r#"{"choices":[{"finish_reason":"stop", "message" : {"content":"a"}}]}"#, ChatCompletions, false),
            (r#"{"choices":[{"text":null}]}"#, Completions, true),
            (r#"{"choices":[{"text":"a"}]}"#, Completions, false),
            (r#"{"data":[]}"#, Embeddings, true),
            (r#"{"data":[{"embedding":[0.1]}]}"#, Embeddings, false),
            (r#"{"output":[]}"#, Responses, false),
        ] {
            assert_eq!(missing_part(document.as_bytes(), passage).is_some(), missing, "{document}");
        }
    }

    #[test]
    fn halves_are_not_whole() {
        assert!(looks_whole(b" {\"a\":1}\n"));
        assert!(looks_whole(b"[]"));
        for half in ["", "{\"a\":1", "<html></html>", "{\"a\":[1]", "oops }"] {
            assert!(!looks_whole(half.as_bytes()), "{half}");
        }
    }
}
