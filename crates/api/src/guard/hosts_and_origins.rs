//! The `Host` check (against DNS rebinding), and where writes may come from: our own pages and programs.

use crate::Hosts;
use crate::headers::text;
use crate::problem::Problem;
use axum::extract::Request;
use axum::http::header;

/// Refuses a `Host` that isn't ours. Probes may come by any name.
pub(super) fn check_host(hosts: &Hosts, request: &Request) -> Result<(), Problem> {
    let probe = matches!(request.uri().path(), "/healthz" | "/readyz");
    if probe || taken(hosts, host_of(request)) {
        return Ok(());
    }
    Err(Problem::forbidden(
        "this name is not one that Steward serves",
        "use the address that the terminal shows, or start with --host NAME to add a name",
    )
    .code("host"))
}

fn host_of(request: &Request) -> Option<&str> {
    if let Some(authority) = request.uri().authority() {
        return Some(authority.as_str());
    }
    text(request.headers(), header::HOST)
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
    let near = Hosts { loopback: true, names: hosts.names.clone(), ..Hosts::default() };
    taken(&near, Some(host)) || own.is_some_and(|own| without_port(own).eq_ignore_ascii_case(without_port(host)))
}

pub(crate) fn without_port(host: &str) -> &str {
    // `[::1]:8800`: the colons within the brackets are of the address.
    let end_of_address = host.rfind(']').map_or(0, |at| at + 1);
    let port = host[end_of_address..].find(':');
    port.map_or(host, |at| &host[..end_of_address + at])
}

pub(super) fn check_origin(hosts: &Hosts, request: &Request) -> Result<(), Problem> {
    let path = request.uri().path();
    // The protocol of `/mcp` wants it looked at for every request.
    let guarded = path == "/mcp" || !request.method().is_safe() && path.starts_with("/api/");
    if guarded { own(hosts, request) } else { Ok(()) }
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
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{own, serves, taken};
    use crate::Hosts;
    use axum::body::Body;
    use axum::extract::Request;

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
