//! What goes wrong below the protocol, in words for a person: the library's own errors hold names of its types.

use crate::text::tail;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::auth::WWWAuthenticateParams;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error;
use std::time::Duration;
use steward_sandbox::process::Session;
use url::Url;

type HttpError = StreamableHttpError<reqwest::Error>;

/// Characters of a server's own words.
const SHOWN_CHARS: usize = 300;
const ENDPOINT: &str = "is this the address of its MCP endpoint? It often ends in /mcp";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It wants a login, and said so with this `WWW-Authenticate`, if any.
    Login(Option<String>),
    /// What it was sent is valid but lacks rights; its `WWW-Authenticate` names them.
    Scope(String),
    /// It has not received the request.
    NotReached(String),
    /// It answered, and this is no answer of an MCP server.
    Refused(String),
    Other(String),
}

impl Failure {
    pub fn into_words(self) -> String {
        match self {
            Self::Login(_) => "it wants a login".to_owned(),
            Self::Scope(_) => "the login lacks rights".to_owned(),
            Self::NotReached(words) | Self::Refused(words) | Self::Other(words) => words,
        }
    }
}

pub(super) fn read_start_failure(error: &ClientInitializeError) -> Failure {
    match error {
        ClientInitializeError::TransportError { error, .. } => read_transport_failure(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => read_start_failure(fallback),
        ClientInitializeError::JsonRpcError(said) => {
            Failure::Other(format!("it refused to begin: {}", shorten(&said.message)))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<&str> = server_supported.iter().map(rmcp::model::ProtocolVersion::as_str).collect();
            let theirs = if theirs.is_empty() { "none that it names".to_owned() } else { theirs.join(", ") };
            Failure::Other(format!(
                "it speaks no version of the protocol that Steward speaks, up to 2026-07-28 (it speaks {theirs}); update one of them"
            ))
        }
        ClientInitializeError::ConnectionClosed(_) => {
            Failure::Other("it ended the connection before it answered".to_owned())
        }
        _ => Failure::Other("what it answered first is not what an MCP server answers".to_owned()),
    }
}

pub(super) fn read_request_failure(error: &ServiceError) -> Failure {
    match error {
        ServiceError::TransportSend(error) => read_transport_failure(error.error.as_ref()),
        ServiceError::TransportClosed => Failure::Other("the connection was closed".to_owned()),
        ServiceError::UnexpectedResponse => Failure::Other("its answer is of another kind than the request".to_owned()),
        other => Failure::Other(shorten(&error_chain(other))),
    }
}

fn read_transport_failure(error: &(dyn Error + 'static)) -> Failure {
    let mut current = Some(error);
    while let Some(one) = current {
        if let Some(found) = one.downcast_ref::<HttpError>() {
            return read_http_failure(found);
        }
        current = one.source();
    }
    Failure::Other(shorten(&error_chain(error)))
}

fn read_http_failure(error: &HttpError) -> Failure {
    match error {
        HttpError::AuthRequired(wanted) => Failure::Login(Some(wanted.www_authenticate_header.clone())),
        HttpError::InsufficientScope(wanted) => {
            let header = &wanted.www_authenticate_header;
            if challenge_params(header).is_some_and(|params| params.is_insufficient_scope()) {
                Failure::Scope(header.clone())
            } else {
                Failure::Refused("it refused what it was sent (HTTP 403 Forbidden)".to_owned())
            }
        }
        HttpError::Client(inner) if inner.is_connect() => Failure::NotReached(error_chain(inner)),
        HttpError::Client(inner) => Failure::Other(error_chain(inner)),
        HttpError::SessionExpired => Failure::NotReached("its session ended".to_owned()),
        HttpError::HttpStatus(found) => {
            let later = found.retry_after.as_ref().map(|wait| format!("; it says to wait {wait}")).unwrap_or_default();
            Failure::Refused(format!("it answered with HTTP {}{later}", found.status))
        }
        HttpError::UnexpectedServerResponse(text) => read_answer(text),
        HttpError::UnexpectedContentType(found) => {
            let kind = found.as_deref().map_or_else(|| "no content type".to_owned(), shorten);
            Failure::Refused(format!("it answered with {kind}, which is no message of the protocol; {ENDPOINT}"))
        }
        HttpError::ResponseBodyTooLarge { max_size } => {
            Failure::Other(format!("its answer is larger than {} MiB", max_size >> 20))
        }
        HttpError::Deserialize(why) => Failure::Other(format!("its answer is no message of the protocol ({why})")),
        HttpError::UnexpectedEndOfStream | HttpError::TransportChannelClosed => {
            Failure::Other("the connection ended before the answer".to_owned())
        }
        other => Failure::Other(shorten(&error_chain(other))),
    }
}

/// The library's text is `HTTP 404 Not Found: ` and the body, or a sentence.
fn read_answer(text: &str) -> Failure {
    let Some((status, body)) = text.strip_prefix("HTTP ").and_then(|rest| rest.split_once(": ")) else {
        return Failure::Other(shorten(text));
    };
    if status.starts_with("401") {
        return Failure::Login(None);
    }
    let body = body.trim();
    // A page for people says nothing about the protocol.
    let said = if body.is_empty() || body.starts_with('<') { String::new() } else { format!(": {}", shorten(body)) };
    let hint =
        if status.starts_with("404") || status.starts_with("405") { format!("; {ENDPOINT}") } else { String::new() };
    Failure::Refused(format!("it answered with HTTP {status}{said}{hint}"))
}

/// Addresses in it don't matter here.
pub(super) fn challenge_params(header: &str) -> Option<WWWAuthenticateParams> {
    let base = Url::parse("https://localhost/").ok()?;
    Some(WWWAuthenticateParams::parse(header, &base))
}

pub(super) fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut inner = error.source();
    while let Some(cause) = inner {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        inner = cause.source();
    }
    text.chars().take(600).collect()
}

/// How a program ended, with the end of its stderr; empty while it runs.
pub(super) async fn stderr_text(program: &mut Session) -> String {
    const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
    const TAIL_CHARS: usize = 400;
    match tokio::time::timeout(EXIT_TIMEOUT, program.ending()).await {
        Err(_) => String::new(),
        Ok(Err(error)) => format!("; {error}; name the folders that it is installed in under `read`"),
        Ok(Ok((exit, stderr))) => {
            let tail = tail(stderr.text().trim(), TAIL_CHARS);
            if tail.is_empty() {
                format!("; it ended with {exit:?}")
            } else {
                format!("; it ended with {exit:?} and wrote: {tail}{}", advice(&tail))
            }
        }
    }
}

/// What to do about what a local program said.
pub(super) fn advice(said: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["EAI_AGAIN", "ENOTFOUND", "EPERM: operation not permitted, socket", "ENETUNREACH"]) {
        " (it wants the network, as npx and uvx do to fetch a server: switch `network` on)"
    } else if says(&["EACCES", "EROFS", "Permission denied", "ENOENT", "No such file"]) {
        " (name what it may read under `read`, and what it may change under `write`)"
    } else {
        ""
    }
}

fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{Failure, read_answer, read_http_failure, read_start_failure};
    use rmcp::model::ErrorData;
    use rmcp::service::ClientInitializeError;
    use rmcp::transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
    };

    #[test]
    fn an_answer_of_another_program_is_told_without_its_page() {
        let page = read_answer("HTTP 404 Not Found: <!DOCTYPE html><html><body>gone</body></html>").into_words();
        assert_eq!(
            page,
            "it answered with HTTP 404 Not Found; is this the address of its MCP endpoint? It often ends in /mcp"
        );
        let said = read_answer("HTTP 400 Bad Request: {\"error\":\n \"no such\ttenant\"}").into_words();
        assert_eq!(said, "it answered with HTTP 400 Bad Request: {\"error\": \"no such tenant\"}");
        assert_eq!(read_answer("HTTP 401 Unauthorized: nope"), Failure::Login(None));
        assert_eq!(read_answer("empty sse stream"), Failure::Other("empty sse stream".to_owned()));
    }

    #[test]
    fn a_login_that_lacks_rights_is_told_from_a_missing_one() {
        let login = StreamableHttpError::AuthRequired(AuthRequiredError::new("Bearer scope=\"a\"".to_owned()));
        assert_eq!(read_http_failure(&login), Failure::Login(Some("Bearer scope=\"a\"".to_owned())));
        let header = "Bearer error=\"insufficient_scope\", scope=\"mcp:write\"";
        let scope = |header: &str| {
            read_http_failure(&StreamableHttpError::InsufficientScope(InsufficientScopeError::new(
                header.to_owned(),
                None,
            )))
        };
        assert_eq!(scope(header), Failure::Scope(header.to_owned()));
        assert!(matches!(scope("Bearer realm=\"x\""), Failure::Refused(words) if words.contains("403")));
    }

    #[test]
    fn no_error_holds_names_of_types() {
        let errors = [
            ClientInitializeError::JsonRpcError(ErrorData::invalid_request("no\nsuch thing", None)),
            ClientInitializeError::ConnectionClosed("x".to_owned()),
            ClientInitializeError::NoCompatibleProtocolVersion {
                client_supported: Vec::new(),
                server_supported: Vec::new(),
            },
            ClientInitializeError::ExpectedInitResult(None),
        ];
        for error in errors {
            let words = read_start_failure(&error).into_words();
            assert!(words.starts_with("it ") || words.starts_with("what "), "{words}");
            assert!(!words.contains("::") && !words.contains("Error"), "{words}");
        }
        let status = StreamableHttpError::HttpStatus(HttpStatusError::new(503, Some("30".to_owned())));
        assert_eq!(read_http_failure(&status).into_words(), "it answered with HTTP 503; it says to wait 30");
    }
}
