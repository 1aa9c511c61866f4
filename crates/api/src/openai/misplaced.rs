//! Requests of OpenAI's clients at an address beside `/v1`: their base URL lacks it, or is another provider's.

use crate::headers::text;
use crate::openai::OpenAiError;
use axum::http::{HeaderMap, Method, StatusCode, header};

/// How addresses end that OpenAI's clients ask at.
const ENDS: [&str; 6] = ["/chat/completions", "/completions", "/embeddings", "/responses", "/models", "/messages"];
/// How those of Gemini's clients end, after the name of the model.
const ENDS_OF_GEMINI: [&str; 6] =
    [":generateContent", ":streamGenerateContent", ":embedContent", ":batchEmbedContents", ":countTokens", ":predict"];
/// Where other programs have the dialect.
const PLACES: [&str; 6] = ["/openai/", "/v1beta/", "/v1alpha/", "/v1beta1/", "/api/v1/", "/api/openai/"];

/// `None`: it is none.
pub(crate) fn misplaced(method: &Method, path: &str, headers: &HeaderMap) -> Option<OpenAiError> {
    let placed = PLACES.iter().any(|place| path.starts_with(place));
    let ends = |all: &[&str]| all.iter().any(|end| path.ends_with(end));
    // Steward's own interface has models and responses, too.
    // Steward's own interface has models and responses, too.
    let dialect = if path.starts_with("/api/") { &ENDS[..2] } else { &ENDS[..] };
    let of_dialect = placed || ends(dialect) || ends(&ENDS_OF_GEMINI);
    // A person who types it gets the studio.
    let program = method == Method::POST || !text(headers, header::ACCEPT).unwrap_or_default().contains("text/html");
    if !of_dialect || !program {
        return None;
    }
    let shown: String = path.chars().take(120).collect();
    let host = text(headers, header::HOST).unwrap_or("this server");
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || ".:-[] ".contains(*c)).take(200).collect();
    let message = format!("there is nothing at {shown}; the base URL of your client must end with /v1: {host}/v1");
    Some(OpenAiError {
        status: StatusCode::NOT_FOUND,
        code: "unknown_url",
        param: None,
        ..OpenAiError::invalid(message, "")
    })
}

#[cfg(test)]
mod tests {
    use super::misplaced;
    use axum::http::{HeaderMap, HeaderValue, Method, header};

    #[test]
    fn a_base_url_without_its_end_is_told_so() {
        let host = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost:8800"))]);
        let person = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("text/html,*/*"))]);
        for path in [
            "/chat/completions",
            "/responses",
            "/openai/deployments/x/chat/completions",
            "/embeddings",
            "/v1beta/models/oai:generateContent",
            "/v1beta/openai/chat/completions",
            "/models/oai:streamGenerateContent",
            "/api/v1/chat/completions",
            "/api/v1/models",
            "/api/chat/completions",
        ] {
            let error = misplaced(&Method::POST, path, &host);
            let message = error.map(|error| error.message).unwrap_or_default();
            assert!(message.contains("must end with /v1: localhost:8800/v1"), "{path}: {message}");
        }
        assert!(misplaced(&Method::GET, "/models", &host).is_some());
        assert!(misplaced(&Method::GET, "/models", &person).is_none());
        for path in ["/", "/runs", "/api/x/responses", "/api/models", "/api/runs", "/assets/a.js"] {
            assert!(misplaced(&Method::POST, path, &host).is_none(), "{path}");
        }
    }
}
