//! The `Host` check. Without it, a page of another site could make its own name resolve to this machine and
//! then read our answers as its own (DNS rebinding).

use crate::problem::Problem;
use crate::state::Hosts;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Refuses a `Host` that isn't ours. Probes may come by any name.
pub(crate) async fn check_host(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let probe = matches!(request.uri().path(), "/healthz" | "/readyz");
    if probe || taken(&hosts, host_of(&request)) {
        return next.run(request).await;
    }
    Problem::forbidden(
        "this name is not one that Steward serves",
        "use the address that the terminal shows, or start with --host NAME to add a name",
    )
    .code("host")
    .into_response()
}

/// `Host` of a request, with its port.
pub(super) fn host_of(request: &Request) -> Option<&str> {
    if let Some(authority) = request.uri().authority() {
        return Some(authority.as_str());
    }
    request.headers().get(header::HOST).and_then(|value| value.to_str().ok())
}

fn taken(hosts: &Hosts, host: Option<&str>) -> bool {
    if !hosts.loopback && hosts.names.is_empty() {
        return true;
    }
    let Some(name) = host.map(without_port) else {
        return false;
    };
    let local = ["localhost", "127.0.0.1", "[::1]"];
    let ours = |one: &str| one.eq_ignore_ascii_case(name);
    local.into_iter().any(ours) || hosts.names.iter().any(|one| ours(one))
}

/// Whether `origin` (scheme and host) is an address of ours, for who came by the name `own`.
pub(crate) fn serves(hosts: &Hosts, own: Option<&str>, origin: &str) -> bool {
    if hosts.origins.iter().any(|one| one.trim_end_matches('/').eq_ignore_ascii_case(origin)) {
        return true;
    }
    let Some((scheme, host)) = origin.split_once("://") else {
        return false;
    };
    let letters = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    if !matches!(scheme, "http" | "https") || host.is_empty() || !host.chars().all(letters) {
        return false;
    }
    // Where any name is taken, the one that was come by counts.
    let near = Hosts { loopback: true, names: hosts.names.clone(), origins: Vec::new() };
    taken(&near, Some(host)) || own.is_some_and(|own| without_port(own).eq_ignore_ascii_case(without_port(host)))
}

fn without_port(host: &str) -> &str {
    // `[::1]:8800`: the colons within the brackets are of the address.
    let end_of_address = host.rfind(']').map_or(0, |at| at + 1);
    let port = host[end_of_address..].find(':');
    port.map_or(host, |at| &host[..end_of_address + at])
}

#[cfg(test)]
mod tests {
    use super::{serves, taken};
    use crate::state::Hosts;

    #[test]
    fn addresses_to_come_back_to_are_ours() {
        let hosts = Hosts {
            names: vec!["studio.example.org".to_owned()],
            origins: vec!["https://proxy.example.org".to_owned()],
            ..Hosts::default()
        };
        let own = Some("10.0.0.7:8800");
        for (origin, expect) in [
            ("http://127.0.0.1:8800", true),
            ("http://[::1]:8800", true),
            ("https://studio.example.org", true),
            ("https://proxy.example.org", true),
            ("http://10.0.0.7:8800", true),
            ("https://evil.example.org", false),
            ("http://127.0.0.1:8800@evil.example.org", false),
            ("http://127.0.0.1/x", false),
            ("ftp://127.0.0.1", false),
            ("javascript:alert(1)", false),
            ("http://", false),
            ("", false),
        ] {
            assert_eq!(serves(&hosts, own, origin), expect, "{origin}");
        }
        assert!(!serves(&Hosts::default(), None, "https://a.example.org"));
    }

    #[test]
    fn takes_names_of_this_machine_and_named_ones() {
        let near = Hosts { loopback: true, ..Hosts::default() };
        let named = Hosts { names: vec!["studio.example.org".to_owned()], ..near.clone() };
        let open = Hosts::default();
        let only = Hosts { loopback: false, ..named.clone() };
        let cases = [
            (Some("localhost:8800"), [true, true, true, true]),
            (Some("LOCALHOST"), [true, true, true, true]),
            (Some("127.0.0.1:8800"), [true, true, true, true]),
            (Some("[::1]:8800"), [true, true, true, true]),
            (Some("[::1]"), [true, true, true, true]),
            (Some("studio.example.org"), [false, true, true, true]),
            (Some("studio.example.org:443"), [false, true, true, true]),
            (Some("evil.example.org"), [false, false, true, false]),
            (Some("localhost.evil.org"), [false, false, true, false]),
            (Some("127.0.0.1.evil.org:80"), [false, false, true, false]),
            (Some("[::2]"), [false, false, true, false]),
            (Some(""), [false, false, true, false]),
            (None, [false, false, true, false]),
        ];
        for (host, expected) in cases {
            let found = [&near, &named, &open, &only].map(|hosts| taken(hosts, host));
            assert_eq!(found, expected, "{host:?}");
        }
    }
}
