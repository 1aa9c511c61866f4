//! Pages of other origins may use `/v1` with a key, if their origin is named in the settings. Cookies are never taken there.

use super::fallbacks::is_dialect;
use crate::Hosts;
use crate::headers::text;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;

/// Seconds for which a browser need not ask again.
const REMEMBERED: &str = "600";
/// Headers of answers that a page may read.
const SHOWN: &str = "retry-after, x-should-retry, x-steward-connection, x-steward-attempts, x-request-id";

/// The origin of a page that may use `/v1`.
pub(super) struct AllowedOrigin(HeaderValue);

impl AllowedOrigin {
    /// `None`: the request comes from no page, or from one whose origin isn't named.
    pub fn of(hosts: &Hosts, request: &Request) -> Option<Self> {
        if hosts.dialect_origins.is_empty() || !is_dialect(request.uri().path()) {
            return None;
        }
        let origin = request.headers().get(header::ORIGIN)?;
        let named = origin.to_str().ok()?;
        let same = |one: &String| one.trim_end_matches('/').eq_ignore_ascii_case(named);
        hosts.dialect_origins.iter().any(same).then(|| Self(origin.clone()))
    }

    /// The answer to the question of a browser before its request; `None`: it asks nothing.
    pub fn answer_question(&self, request: &Request) -> Option<Response> {
        let asks = request.method() == Method::OPTIONS
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !asks {
            return None;
        }
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::NO_CONTENT;
        let wanted = text(request.headers(), header::ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
        let headers = answer.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(REMEMBERED));
        if let Ok(wanted) = HeaderValue::from_str(wanted) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted);
        }
        self.mark(&mut answer);
        Some(answer)
    }

    pub fn mark(&self, answer: &mut Response) {
        let headers = answer.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.0.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SHOWN));
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        let policy = HeaderName::from_static("cross-origin-resource-policy");
        headers.insert(policy, HeaderValue::from_static("cross-origin"));
    }
}
