//! Answers as models and people read them.

use crate::error::ToolsError;
use crate::web::Answer;
use encoding_rs::{Encoding, UTF_8};
use serde_json::{Value, json};
use url::Url;

/// Longest part of a body in an error.
const EXCERPT: usize = 600;

/// Where an answer comes from: scheme, host and path; never the query, which may hold anything.
pub(in crate::skills) fn origin(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

pub(super) fn text(answer: &Answer) -> String {
    let encoding = answer.charset();
    let encoding = encoding.and_then(|label| Encoding::for_label(label.as_bytes()));
    let bytes = &answer.bytes;
    encoding.unwrap_or(UTF_8).decode(bytes).0.into_owned()
}

/// The body as JSON, where it is that.
pub(super) fn json(answer: &Answer) -> Option<Value> {
    let media = answer.media();
    let is_text = media.starts_with("text/") && media != "text/json" && media != "text/plain";
    if is_text || answer.cut {
        return None;
    }
    serde_json::from_slice(&answer.bytes).ok()
}

/// Whether the body is nothing that can be read.
fn is_binary(answer: &Answer) -> bool {
    answer.bytes.contains(&0)
        || answer.charset().is_none() && std::str::from_utf8(&answer.bytes).is_err() && !answer.cut
}

/// What is kept of an answer that worked: JSON, text, or a note of what it was.
pub(super) fn kept(answer: &Answer) -> Value {
    if let Some(value) = json(answer) {
        return value;
    }
    if is_binary(answer) {
        return json!({"media": answer.media(), "bytes": answer.bytes.len()});
    }
    Value::String(text(answer))
}

/// A kept value for a model.
pub(super) fn content(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim().is_empty() => "(the answer is empty)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.len() == 2 && fields.contains_key("media") && fields.contains_key("bytes") => {
            format!("({} bytes of {}, which is no text)", fields["bytes"], fields["media"])
        }
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}

/// An answer that is a failure, with what the server says about it.
pub(super) fn failure(answer: &Answer) -> ToolsError {
    let said =
        if is_binary(answer) { String::new() } else { text(answer).split_whitespace().collect::<Vec<_>>().join(" ") };
    let (said, _) = steward_core::tool::truncate(&said, EXCERPT);
    let hint = match answer.status.as_u16() {
        401 => "the credential is not accepted; an operator must look at it",
        403 => "the credential may not do this; ask an operator",
        404 | 410 => "there is nothing there; check the arguments",
        409 => "it conflicts with what is there; look before trying again",
        300..=399 => "it leads elsewhere, and that is not followed",
        429 => "too many requests; try again later",
        500..=599 => "the server has trouble; try again later",
        _ => "check the arguments",
    };
    let place = origin(&answer.url);
    let status = answer.status.as_u16();
    ToolsError::Refused(if said.is_empty() {
        format!("{place} answered {status}: {hint}")
    } else {
        format!("{place} answered {status} ({hint}): {said}")
    })
}
