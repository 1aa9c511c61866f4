//! Which of an endpoint's headers go on to the client.

use reqwest::header::HeaderMap;

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

/// Names in lower case. Cookies, servers' names and what belongs to one hop stay here; so does the length, which is
/// that of what is sent on.
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

/// Whether the body is a stream of events.
pub(super) fn is_events(headers: &HeaderMap) -> bool {
    headers
        .get(reqwest::header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}
