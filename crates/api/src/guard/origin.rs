//! Where writes may come from: our own pages and programs, not pages of other sites.

use super::hosts::host_of;
use crate::problem::Problem;
use crate::state::Hosts;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Refuses a write that a page of another site makes.
pub(crate) async fn check_origin(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    // The protocol of `/mcp` wants it looked at for every request.
    let guarded = path == "/mcp" || !request.method().is_safe() && path.starts_with("/api/");
    if guarded && let Err(problem) = own(&hosts, &request) {
        return problem.into_response();
    }
    next.run(request).await
}

fn own(hosts: &Hosts, request: &Request) -> Result<(), Problem> {
    let foreign = |title: String| {
        Problem::forbidden(
            title,
            "open the studio at its own address; another origin must be named with --host, such as --host https://studio.example.org",
        )
        .code("origin")
    };
    let text = |value: Option<&axum::http::HeaderValue>| value.map(|value| value.to_str().unwrap_or("?").to_owned());
    if let Some(origin) = text(request.headers().get(header::ORIGIN)) {
        let named = hosts.origins.iter().any(|one| one.trim_end_matches('/').eq_ignore_ascii_case(&origin));
        if named {
            return Ok(());
        }
        // Behind a proxy that ends TLS we don't know our scheme, so only the host counts.
        let same = origin
            .split_once("://")
            .zip(host_of(request))
            .is_some_and(|((scheme, of), host)| matches!(scheme, "http" | "https") && of.eq_ignore_ascii_case(host));
        if !same {
            let shown: String = origin.chars().take(80).collect();
            return Err(foreign(format!("the request comes from the origin {shown}")));
        }
    }
    match text(request.headers().get("sec-fetch-site")).as_deref() {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(foreign("the request comes from a page of another site".to_owned())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::own;
    use crate::state::Hosts;
    use axum::body::Body;
    use axum::extract::Request;

    #[test]
    fn takes_own_pages_and_programs_only() {
        let hosts = Hosts { origins: vec!["https://studio.example.org".to_owned()], ..Hosts::default() };
        let cases = [
            (None, None, true),
            (Some("http://localhost:8800"), None, true),
            (Some("https://localhost:8800"), Some("same-origin"), true),
            (None, Some("none"), true),
            (None, Some("cross-site"), false),
            (None, Some("same-site"), false),
            (Some("http://localhost:8801"), None, false),
            (Some("http://localhost"), None, false),
            (Some("https://evil.example.org"), None, false),
            (Some("https://localhost:8800.evil.org"), None, false),
            (Some("http://localhost:8800"), Some("cross-site"), false),
            (Some("null"), None, false),
            (Some("file://localhost:8800"), None, false),
            (Some("https://studio.example.org"), Some("cross-site"), true),
            (Some("http://studio.example.org"), None, false),
        ];
        for (origin, site, expected) in cases {
            let mut request = Request::post("/api/x").header("host", "localhost:8800");
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            if let Some(site) = site {
                request = request.header("sec-fetch-site", site);
            }
            let request = request.body(Body::empty()).unwrap();
            assert_eq!(own(&hosts, &request).is_ok(), expected, "{origin:?} {site:?}");
        }
    }
}
