//! Security headers on every answer, and the answers to addresses and methods that aren't there.

use super::hosts_and_origins::without_port;
use crate::headers::{shown_path, text};
use crate::openai::{OpenAiError, misplaced};
use crate::problem::Problem;
use crate::tls::OverTls;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};

/// No inline script or style, nothing from elsewhere, no frame around us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const ALWAYS: [(HeaderName, &str); 8] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
];

/// Browsers that came by TLS come by it from then on.
const ONLY_TLS: &str = "max-age=31536000";

/// What says nothing of caching isn't cached.
pub(super) fn secure(response: &mut Response, only_tls: bool) {
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if only_tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(ONLY_TLS));
    }
}

/// Whether a browser that sends such a request is to come by TLS from then on.
pub(super) fn only_tls(request: &Request) -> bool {
    request.extensions().get::<OverTls>().is_some() && !is_local(request)
}

/// Other programs of this machine have the same name, and may have no certificate.
fn is_local(request: &Request) -> bool {
    let host = text(request.headers(), header::HOST).map(without_port);
    host.is_none_or(|host| host.eq_ignore_ascii_case("localhost"))
}

/// 404 under `/api` and `/docs`.
pub(crate) async fn nothing_here(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if let Some(error) = misplaced(&method, uri.path(), &headers) {
        return error.into_response();
    }
    let shown = shown_path(&uri);
    Problem::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {shown}"),
        "GET /docs lists what there is; /api/openapi.json has it for programs",
    )
    .into_response()
}

/// 404 under `/v1`, as clients of OpenAI's dialect read it.
pub(crate) async fn nothing_in_the_dialect(uri: Uri) -> OpenAiError {
    let shown = shown_path(&uri);
    OpenAiError {
        status: StatusCode::NOT_FOUND,
        code: "unknown_url",
        param: None,
        ..OpenAiError::invalid(
            format!(
                "there is nothing at {shown}; there are /v1/chat/completions, /v1/responses, /v1/completions, \
                 /v1/embeddings and /v1/models"
            ),
            "",
        )
    }
}

/// Whether an address is of OpenAI's dialect, so that errors have its shape.
pub(super) fn is_dialect(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

pub(crate) async fn no_such_method(method: Method, uri: Uri) -> Response {
    let shown = shown_path(&uri);
    if is_dialect(uri.path()) {
        let hint = match method {
            Method::OPTIONS => "pages of another origin may use /v1 once the setting V1_ORIGINS names their origin",
            _ => "the header `Allow` names the methods that it has",
        };
        let message = format!("{shown} does not know {method}; {hint}");
        let status = StatusCode::METHOD_NOT_ALLOWED;
        return OpenAiError::new(status, "invalid_request_error", "method_not_allowed", message).into_response();
    }
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{shown} does not know {method}"),
        "the header `Allow` names the methods that it has; GET /docs explains them",
    )
    .into_response()
}
