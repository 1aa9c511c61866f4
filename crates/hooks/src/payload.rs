use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::clip::clip;
use crate::error::HookError;

/// What the body of a request says, whatever its type.
///
/// JSON is read as it is, also where it comes as text (Amazon SNS) or as a form (curl); a form becomes an object, in which a
/// key that is there again has a list, and whose field `payload` is all of it if that is JSON (GitHub, Slack). Other text
/// becomes `{"text": …}`, an empty body `{}`. Only what isn't text is refused, and broken JSON that says that it is JSON.
pub fn read_payload(content_type: Option<&str>, body: &[u8]) -> Result<Value, HookError> {
    let media = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let text = std::str::from_utf8(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body));
    let text = text.ok().filter(|text| !text.chars().any(is_binary)).ok_or_else(|| {
        HookError::new(
            format!("The body isn't text in UTF-8 ({}).", describe_media(&media)),
            "Send JSON, a form, or text, as UTF-8 and not compressed.",
        )
    })?;
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    if media.ends_with("/json") || media.ends_with("+json") {
        return serde_json::from_str(text).map_err(|error| {
            HookError::new(
                format!("The body isn't valid JSON: {}.", clip(error, 200)),
                "Send what the content type says; text is welcome, too, as `text/plain`.",
            )
        });
    }
    if media.starts_with("multipart/") {
        return Err(HookError::new(
            format!("The body is a form with parts ({}), which isn't read.", describe_media(&media)),
            "Send it as `application/json` or `application/x-www-form-urlencoded`.",
        ));
    }
    if let Some(value) = read_json(text) {
        return Ok(value);
    }
    if media == "application/x-www-form-urlencoded" {
        return Ok(read_form(text));
    }
    Ok(Value::Object(Map::from_iter([("text".to_owned(), Value::String(text.to_owned()))])))
}

fn is_binary(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b')
}

fn describe_media(media: &str) -> String {
    if media.is_empty() { "no content type".to_owned() } else { format!("`{}`", clip(media, 60)) }
}

/// An object or a list.
fn read_json(text: &str) -> Option<Value> {
    let is_likely = text.trim_start().starts_with(['{', '[']);
    is_likely.then(|| serde_json::from_str(text).ok())?
}

fn read_form(text: &str) -> Value {
    let mut form = Map::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = Value::String(decode(value));
        match form.entry(decode(key)) {
            serde_json::map::Entry::Vacant(free) => {
                free.insert(value);
            }
            serde_json::map::Entry::Occupied(mut held) => match held.get_mut() {
                Value::Array(values) => values.push(value),
                first => *first = Value::Array(vec![first.take(), value]),
            },
        }
    }
    match form.get("payload").and_then(Value::as_str).and_then(read_json) {
        Some(payload) => payload,
        None => Value::Object(form),
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}
