use serde_json::Value;
use steward_core::hash::sha256;

use crate::headers::Headers;
use crate::place::Place;
use crate::signing::Signing;
use crate::standard::choose_names;

/// Characters of an id.
pub const MAX_EVENT_ID: usize = 256;

/// The sender's own id of an event, the same at each try; `None`: it has none, so a retry looks like a new event.
///
/// `custom` comes first, where the hook names a place that has a text or a whole number. An id that is too long, or has
/// characters that can't be seen, is its SHA-256 in hexadecimal. Take it from verified requests only; but what isn't signed
/// ([`Signing::Github`]'s header, anything of [`Signing::Token`]) can be changed by who repeats a request.
pub fn find_event_id(signing: &Signing, custom: Option<&Place>, headers: &Headers, payload: &Value) -> Option<String> {
    let custom = custom.and_then(|place| match place {
        Place::Header(name) => read_header(headers, name.as_str()),
        Place::Pointer(pointer) => pointer.find(payload).and_then(read_value),
    });
    custom.or_else(|| find_own_id(signing, headers, payload))
}

fn find_own_id(signing: &Signing, headers: &Headers, payload: &Value) -> Option<String> {
    let first = |names: &[&str]| names.iter().find_map(|name| read_header(headers, name));
    let at = |key: &str| payload.get(key).and_then(read_value);
    match signing {
        Signing::Standard => first(&[choose_names(headers).id]),
        // Kept when a delivery is sent again, although its name is that of the delivery (github/docs#32822).
        Signing::Github => first(&["x-github-delivery"]),
        Signing::Stripe => at("id"),
        // Events have the first; commands and buttons, which are never retried, the second.
        Signing::Slack => at("event_id").or_else(|| at("trigger_id")),
        // `webhook-id` is the `Idempotency-Key`, which retries keep (GitLab's merge requests 230944 and 160952). Not
        // `X-Gitlab-Webhook-UUID`, which is new at each try (`build_headers` in its app/services/web_hook_service.rb), nor
        // `X-Gitlab-Event-UUID`, which all events share that one request, or a chain of hooks, brings about for a hook
        // (its lib/gitlab/web_hooks/recursion_detection/uuid.rb).
        Signing::Gitlab => first(&["webhook-id", "idempotency-key"]),
        Signing::Token { .. } => first(&["webhook-id", "idempotency-key", "x-request-id"]),
    }
}

fn read_header(headers: &Headers, name: &str) -> Option<String> {
    headers.list(name).next().and_then(bound)
}

fn read_value(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => bound(text),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

fn bound(id: &str) -> Option<String> {
    let id = id.trim();
    let is_plain = id.chars().count() <= MAX_EVENT_ID && !id.chars().any(char::is_control);
    (!id.is_empty()).then(|| if is_plain { id.to_owned() } else { sha256(id.as_bytes()) })
}
